"""Makes the diagram of a piece of a recorded run: tasks as lines, and the messages between them.

Only messages order the events of different tasks. A logical clock gives their order in the diagram: an event
comes after the previous event of its task, and an event that receives a message after the sending event.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from conformance.adapters.protocol import Wire
from conformance.diagram.component import checkpoint_of, hues, label_of, words_of
from conformance.diagram.conditions import conditions
from conformance.diagram.elements import BOTH, Arrow, Band, Diagram, Mark
from conformance.diagram.lanes import is_quiet, place_of
from conformance.divergence import Answer
from conformance.observe.eventlog import COORDINATOR
from conformance.observe.record import Record, Seen
from conformance.page.case import Step
from conformance.report.divergence import phrases

Message = tuple[str, int, str, int]
"""A message: kind, attempt, task (the sender of a barrier, the receiver of a notification), checkpoint."""

_SENT = {
    "broadcast_barrier": "barrier",
    "broadcast_cancel": "cancel",
    "acknowledge": "acknowledge",
    "decline": "decline",
    "trigger_task": "trigger",
    "notify_complete": "complete",
    "notify_abort": "abort",
    "notify_subsumed": "subsumed",
}
_RECEIVED = {
    "complete_notification": "complete",
    "abort_notification": "abort",
    "subsumed_notification": "subsumed",
}
_SHOWN = frozenset({"blocked", "persisting", "pending", "writing"})
"""The number of conditions that the line of a task can show at the same time."""


class Moment(NamedTuple):
    """One event of a run as a step of the page, with the messages that it sends and receives."""

    step: Step
    attempt: int
    sends: frozenset[Message]
    receives: Message | None


def moment_of(seen: Seen, record: Record) -> Moment:
    """The moment of an accepted event."""
    return Moment(
        step_of(seen),
        seen.line.attempt,
        frozenset(sent(seen.task, seen.line.attempt, seen.effects)),
        received(seen.component, seen.task, seen.line.attempt, seen.event, record.channels),
    )


def step_of(seen: Seen) -> Step:
    """An accepted event with its model's state; a log has effects and no state."""
    expected = Answer(tuple(seen.effects), seen.observe())
    got = Answer(tuple(seen.effects), {})
    return Step(seen.component, seen.event, expected, got, seen.rules, seen.place, seen.task)


def sent(task: str, attempt: int, effects: Sequence[Wire]) -> Iterator[Message]:
    """The messages that the effects send."""
    for effect in effects:
        kind, checkpoint = _SENT.get(str(effect.get("kind"))), effect.get("checkpoint")
        if kind is not None and type(checkpoint) is int:
            yield kind, attempt, str(effect.get("task", task)), checkpoint


def received(
    component: str, task: str, attempt: int, event: Wire, channels: Mapping[tuple[int, str], tuple[str, ...]]
) -> Message | None:
    """The message that an event receives; None if it receives none."""
    kind, checkpoint = str(event.get("kind")), event.get("checkpoint")
    if type(checkpoint) is not int:
        return None
    above = channels.get((attempt, task), ())
    if component == "gate" and kind in {"barrier", "cancel"}:
        channel = event.get("channel")
        if not isinstance(channel, int) or not 0 <= channel < len(above):
            return None
        return kind, attempt, above[channel], checkpoint
    if component == "coordinator" and kind in {"acknowledge", "decline"}:
        return kind, attempt, str(event.get("task")), checkpoint
    if component == "subtask" and kind == "checkpoint" and not above:
        return "trigger", attempt, task, checkpoint
    if component == "subtask" and kind in _RECEIVED:
        return _RECEIVED[kind], attempt, task, checkpoint
    return None


def in_causal_order(moments: Sequence[Moment], lanes: Sequence[str]) -> list[Moment]:
    """The events by a logical clock; those with equal times by the order of the lanes, then of the replay."""
    clock: dict[str, int] = {}
    sent_at: dict[Message, int] = {}
    timed = []
    place = {lane: at for at, lane in enumerate(lanes)}
    for number, moment in enumerate(moments):
        task = moment.step.task
        time = clock.get(task, 0)
        if moment.receives is not None:
            time = max(time, sent_at.get(moment.receives, 0))
        clock[task] = time = time + 1
        for message in moment.sends:
            sent_at.setdefault(message, time)
        timed.append((time, place.get(task, len(place)), number, moment))
    return [moment for *_, moment in sorted(timed, key=lambda one: one[:3])]


def of_run(moments: Sequence[Moment], lanes: Sequence[str], *, is_wrong: bool) -> Diagram:
    """The diagram. `is_wrong`: whether the last event was rejected."""
    marks: list[Mark] = []
    arrows: list[Arrow] = []
    sent_at: dict[Message, int] = {}
    for number, moment in enumerate(moments, start=1):
        is_rejected = is_wrong and number == len(moments)
        come = sent_at.get(moment.receives) if moment.receives is not None else None
        marks += _marks(number, moment.step, is_rejected)
        if come is not None and moment.receives is not None:
            arrows.append(_arrow(come, number, moments[come - 1].step.task, moment.step))
        for message in moment.sends:
            sent_at.setdefault(message, number)
    named = {moment.step.task for moment in moments}
    return Diagram(
        steps=len(moments),
        lanes=tuple(lane for lane in lanes if lane in named),
        marks=tuple(marks),
        arrows=tuple(arrows),
        bands=tuple(_bands(moments)),
        wrong=len(moments) if is_wrong else None,
        hues=hues(_words(moments)),
    )


def _arrow(start: int, end: int, source: str, step: Step) -> Arrow:
    text = f"{source} to {step.task}: {phrases.of_event(step.event)}"
    return Arrow((start, source), (end, step.task), text, checkpoint=checkpoint_of(step.event))


def _marks(number: int, step: Step, is_rejected: bool) -> Iterator[Mark]:
    """The event, and its effects that are not messages to another task."""
    slot = 0
    for one in words_of(step):
        quiet = one.word.get("kind") in _SENT or is_quiet(step.component, one.word)
        if quiet and not one.is_event and one.side == BOTH:
            continue
        look = place_of(step.component, one.word).look
        text, about = f"{step.task}: {one.text}", checkpoint_of(one.word)
        yield Mark(number, step.task, look, label_of(one.word), text, one.side, slot, about)
        slot += 1
    if is_rejected:
        yield Mark(number, step.task, "fail", "rejected", f"{step.task}: rejected", slot=slot)


def _words(moments: Sequence[Moment]) -> Iterator[Wire]:
    for moment in moments:
        yield moment.step.event
        yield from moment.step.expected.effects


def _bands(moments: Sequence[Moment]) -> Iterator[Band]:
    """The bands of the tasks' conditions, each from the event after which the condition holds."""
    begun: dict[tuple[str, str, str], tuple[int, str]] = {}
    for number, moment in enumerate(moments, start=1):
        step = moment.step
        held: dict[str, list[str]] = {}
        for one in sorted(conditions(step.component, step.expected.state)):
            if one.look in _SHOWN and (one.look != "pending" or step.task == COORDINATOR):
                held.setdefault(one.look, []).append(one.text)
        for look in _SHOWN:
            key, text = (step.task, step.component, look), "; ".join(held.get(look, ()))
            if key in begun and begun[key][1] != text:
                start, before = begun.pop(key)
                yield Band(step.task, look, start, number, before)
            if text and key not in begun:
                begun[key] = number, text
    for (task, _, look), (start, text) in begun.items():
        yield Band(task, look, start, len(moments) + 1, text)
