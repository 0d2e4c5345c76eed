"""Makes the diagram of one component's case: its steps as marks, arrows, intervals and fronts."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from conformance.adapters.protocol import FAILURES, Failure, Wire, canonical
from conformance.diagram.conditions import Condition, closed_lanes, conditions
from conformance.diagram.elements import BOTH, IMPLEMENTATION, MODEL, Arrow, Band, Diagram, Front, Mark
from conformance.diagram.lanes import GATE, first_lanes, is_quiet, place_of
from conformance.divergence import Answer
from conformance.page.case import Step
from conformance.report.divergence import phrases


class Word(NamedTuple):
    """An event or effect of a step, and its side: model, implementation or both."""

    word: Wire
    text: str
    side: str
    is_event: bool = False


def of_component(component: str, config: Wire, steps: Sequence[Step], *, is_wrong: bool) -> Diagram:
    """The diagram of a case. `is_wrong`: whether the two sides differ at the last step."""
    marks: list[Mark] = []
    arrows: list[Arrow] = []
    for number, step in enumerate(steps, start=1):
        for item in placed(number, component, words_of(step)):
            if isinstance(item, Mark):
                marks.append(item)
            else:
                arrows.append(item)
    bands = list(_bands(component, steps))
    fronts = list(_fronts(marks)) if component == "gate" else []
    if component == "gate":
        marks = _late(marks, fronts)
    lanes = _lanes(first_lanes(component, config), marks, arrows, bands)
    return Diagram(
        steps=len(steps),
        lanes=tuple(lanes),
        marks=tuple(marks),
        arrows=tuple(arrows),
        bands=tuple(bands),
        fronts=tuple(fronts),
        closed=_closed(component, steps),
        wrong=len(steps) if is_wrong else None,
        hues=hues(step.event for step in steps),
    )


def words_of(step: Step) -> Iterator[Word]:
    """The event, and the effects of both sides in order."""
    yield Word(step.event, phrases.of_event(step.event), BOTH, is_event=True)
    expected = list(step.expected.effects)
    if step.got is None:
        yield from (Word(effect, phrases.of_effect(effect), BOTH) for effect in expected)
        return
    if isinstance(step.got, FAILURES):
        yield from (Word(effect, phrases.of_effect(effect), MODEL) for effect in expected)
        yield Word({"kind": "fail"}, step.got.describe(), IMPLEMENTATION)
        return
    came = [canonical(effect) for effect in step.got.effects]
    for effect in expected:
        spelled = canonical(effect)
        side = BOTH if spelled in came else MODEL
        if side == BOTH:
            came.remove(spelled)
        yield Word(effect, phrases.of_effect(effect), side)
    for effect in step.got.effects:
        if canonical(effect) in came:
            came.remove(canonical(effect))
            yield Word(effect, phrases.of_effect(effect), IMPLEMENTATION)


def placed(number: int, component: str, items: Iterable[Word]) -> Iterator[Mark | Arrow]:
    """Marks and arrows of one step, in slots from left to right so that none covers another."""
    slot, taken = 0, set[str]()
    fan = ("", "")
    for one in items:
        if not one.is_event and one.side == BOTH and is_quiet(component, one.word):
            continue
        lane, look, source = place_of(component, one.word)
        is_fan = bool(source) and fan == (look, source)  # several arrows from one lane
        if lane in taken or (source in taken and not is_fan):
            slot, taken = slot + 1, set()
        taken |= {lane, source} - {""}
        fan = (look, source)
        about = checkpoint_of(one.word)
        if source:
            yield Arrow((number, source), (number, lane), one.text, one.side, slot, about)
        yield Mark(number, lane, look, label_of(one.word), one.text, one.side, slot, about)


def label_of(word: Wire) -> str:
    """The label of a mark: the number of a checkpoint, the value of a record, a status, or nothing."""
    kind = str(word.get("kind"))
    if kind == "advance":
        return f"+{word.get('ms')}"
    if kind == "status":
        return "runs" if word.get("running") else "stops"
    named = {"task_status": "status", "job_status": "status", "trigger_task": "checkpoint"}
    fields = (named[kind],) if kind in named else ("checkpoint", "value", "type", "transaction")
    found = next((str(word[name]) for name in fields if word.get(name) is not None), "")
    found = "" if found == "checkpoint" else found
    return found.lower() if found.isupper() else found


def checkpoint_of(word: Wire) -> int | None:
    """The checkpoint that a word names."""
    checkpoint = word.get("checkpoint")
    return checkpoint if type(checkpoint) is int else None


def hues(words: Iterable[Wire]) -> dict[int, int]:
    """The number of a colour for each checkpoint, in the order of their first words."""
    found: dict[int, int] = {}
    for word in words:
        checkpoint = checkpoint_of(word)
        if checkpoint is not None and checkpoint not in found:
            found[checkpoint] = len(found)
    return found


def _bands(component: str, steps: Sequence[Step]) -> Iterator[Band]:
    """Yield the intervals in which a condition holds. After the last step, each side has its own."""
    begun: dict[Condition, int] = {}
    for number, step in enumerate(steps, start=1):
        held = conditions(component, step.expected.state)
        for one in [one for one in begun if one not in held]:
            yield Band(one.lane, one.look, begun.pop(one), number, one.text)
        for one in sorted(held):
            begun.setdefault(one, number)
    if not steps:
        return
    last, edge = len(steps), len(steps) + 1
    came = _after(component, steps[-1].got)
    for one, number in begun.items():
        if came is None or one in came:
            yield Band(one.lane, one.look, number, edge, one.text)
            continue
        if number < last:
            yield Band(one.lane, one.look, number, last, one.text)
        yield Band(one.lane, one.look, last, edge, one.text, MODEL)
    for one in sorted((came or set()) - set(begun)):
        yield Band(one.lane, one.look, last, edge, one.text, IMPLEMENTATION)


def _after(component: str, got: Answer | Failure | None) -> set[Condition] | None:
    """The conditions in the implementation's state; None if its answer has no state to compare."""
    if not isinstance(got, Answer) or not got.state:
        return None
    return conditions(component, got.state)


def _fronts(marks: Sequence[Mark]) -> Iterator[Front]:
    """Yield a front for each checkpoint: the first barrier of each channel, and at the end the outcome."""
    outcomes = {
        mark.checkpoint: mark
        for mark in reversed(marks)
        if mark.lane == GATE and mark.look in {"trigger", "abort"} and mark.side != IMPLEMENTATION
    }
    newest = -1
    first: dict[int, dict[str, Mark]] = {}
    for mark in marks:
        if mark.look != "barrier" or mark.checkpoint is None or mark.checkpoint < newest:
            continue
        outcome = outcomes.get(mark.checkpoint)
        if outcome is not None and mark.step > outcome.step:
            continue
        newest = mark.checkpoint
        first.setdefault(newest, {}).setdefault(mark.lane, mark)
    for checkpoint, at in first.items():
        points = [(mark.step, lane) for lane, mark in sorted(at.items(), key=lambda one: _natural(one[0]))]
        outcome = outcomes.get(checkpoint)
        if outcome is not None:
            points.append((outcome.step, GATE))
        yield Front(checkpoint, tuple(points), outcome is not None and outcome.look == "trigger")


def _late(marks: Sequence[Mark], fronts: Sequence[Front]) -> list[Mark]:
    """The marks, in which the barriers that are in no front get the look of late ones."""
    counted = {(front.checkpoint, *point) for front in fronts for point in front.points}
    return [
        mark._replace(look="late")
        if mark.look == "barrier" and (mark.checkpoint, mark.step, mark.lane) not in counted
        else mark
        for mark in marks
    ]


def _closed(component: str, steps: Sequence[Step]) -> dict[str, int]:
    found: dict[str, int] = {}
    for number, step in enumerate(steps, start=1):
        for lane in closed_lanes(component, step.expected.state):
            found.setdefault(lane, number)
    return found


def _lanes(
    first: Sequence[str], marks: Sequence[Mark], arrows: Sequence[Arrow], bands: Sequence[Band]
) -> list[str]:
    named = {mark.lane for mark in marks} | {band.lane for band in bands}
    named |= {lane for arrow in arrows for _, lane in (arrow.start, arrow.end)}
    return [*first, *sorted(named - set(first), key=_natural)]


def _natural(name: str) -> list[tuple[int, int | str]]:
    """A key for sorting by which `channel 10` comes after `channel 9`."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", name)]
