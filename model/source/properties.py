"""TASK-21 to TASK-24, stated over a source's task."""

import itertools

from model.event_frames import Frame
from model.events import Effects, Event, Fail, Status
from model.gate.events import Trigger
from model.registry import Registry
from model.source.events import Answer, Ended, GoOnReading, Induce, StopReading, TriggerArrives
from model.source.source_task import TASK_FAILURE, UNKNOWN_TASK, Source
from model.subtask.events import Decline

PLAIN, FUNCTION, READER = 0, 1, 2
"""The kinds of sources with the numbers of the vocabulary, so that properties check the model's numbers.

The hook of a FUNCTION begins the checkpoint, in every generation.
"""

SOURCE = Registry("source")
SOURCE.frames({
    TriggerArrives: Frame(
        "TASK-21", "triggered ahead", "trigger decline? go_on_reading? | answer decline? | fail"
    ),
    Induce: Frame("TASK-22", "triggered ahead", "trigger go_on_reading? | stop_reading?"),
    Ended: Frame("TASK-23", "triggered ahead", "go_on_reading?"),
    Status: Frame("TASK-21", "running"),
})  # fmt: skip


@SOURCE.initial("TASK-23")
def task_23_at_first(source: Source) -> bool:
    """A new source runs and awaits nothing."""
    return source.running and not source.triggered and not source.ahead


@SOURCE.step("TASK-21")
def task_21(before: Source, event: Event, effects: Effects, after: Source) -> bool:
    """A trigger begins the checkpoint of a plain source. An externally induced source only answers it.

    A trigger at a task that does not run is declined, too.
    """
    if type(event) is Status:
        return after.running == event.running
    if type(event) is not TriggerArrives or not event.here:
        return not any(type(effect) in (Answer, Decline) for effect in effects)
    declined: Effects = ()
    if not before.running and before.profile.declines_refused:
        declined = (Decline(event.checkpoint, TASK_FAILURE),)
    if before.external == PLAIN:
        return effects == (Trigger(event.checkpoint), *declined) and after == before
    if any(known == event.checkpoint for known in before.ahead):  # TASK-22
        return tuple(effect for effect in effects if type(effect) is Decline) == declined
    return effects == (Answer(event.checkpoint, before.running), *declined)


@SOURCE.step("TASK-22")
def task_22(before: Source, event: Event, effects: Effects, after: Source) -> bool:
    """An externally induced source begins when its hook was called and, if needed, its trigger arrived."""
    if before.external == PLAIN:
        return True
    begun = tuple(effect for effect in effects if type(effect) is Trigger)
    awaited: tuple[int, ...] = ()
    if type(event) is Induce:
        awaited = before.triggered if needs_both(before) else (event.checkpoint,)
    elif type(event) is TriggerArrives and event.here:
        awaited = before.ahead
    else:
        return not begun
    if not any(known == event.checkpoint for known in awaited):
        return not begun
    return begun == (Trigger(event.checkpoint),)


@SOURCE.step("TASK-23")
def task_23(before: Source, event: Event, effects: Effects, after: Source) -> bool:
    """The source reads nothing while a hook was called whose trigger has not arrived."""
    stops = any(type(effect) is StopReading for effect in effects)
    resumes = any(type(effect) is GoOnReading for effect in effects)
    if stops != (not before.ahead and bool(after.ahead)):
        return False
    return resumes == (bool(before.ahead) and not after.ahead)


@SOURCE.step("TASK-23")
def task_23_awaits(before: Source, event: Event, effects: Effects, after: Source) -> bool:
    """If a checkpoint begins, the source drops its id and all older ids. If it ends, the source drops its id.

    If only the hook or only the trigger has come, the source stores the id and awaits the other one.
    """
    begun = tuple(effect.checkpoint for effect in effects if type(effect) is Trigger)
    triggered, ahead = before.triggered, before.ahead
    if begun:
        triggered, ahead = _newer(triggered, begun[0]), _newer(ahead, begun[0])
    elif type(event) is Ended:
        triggered, ahead = _others(triggered, event.checkpoint), _others(ahead, event.checkpoint)
    elif type(event) is TriggerArrives and event.here and needs_both(before):
        triggered = (*_others(triggered, event.checkpoint), event.checkpoint)
    elif type(event) is Induce:
        ahead = (*_others(ahead, event.checkpoint), event.checkpoint)
    return _are_equal(after.triggered, triggered) and _are_equal(after.ahead, ahead)


@SOURCE.state("TASK-23")
def task_23_apart(source: Source) -> bool:
    """No id is in both `triggered` and `ahead`. Ids ascend. Only a reader that needs both stores ids."""
    for ids in (source.triggered, source.ahead):
        if any(left >= right for left, right in itertools.pairwise(ids)):
            return False
    if not needs_both(source):
        return not source.triggered and not source.ahead
    return not any(known in source.ahead for known in source.triggered)


@SOURCE.step("TASK-24")
def task_24(before: Source, event: Event, effects: Effects, after: Source) -> bool:
    """A trigger fails if and only if it reaches a task manager without the task. It changes nothing."""
    if type(event) is TriggerArrives and not event.here:
        return effects == (Fail(UNKNOWN_TASK),) and after == before
    return not any(type(effect) is Fail for effect in effects)


def needs_both(source: Source) -> bool:
    """Whether the source is a reader in a generation in which readers need both hook and trigger."""
    return source.external == READER and source.profile.readers_await_triggers


def _newer(ids: tuple[int, ...], than: int) -> tuple[int, ...]:
    return tuple(known for known in ids if known > than)


def _others(ids: tuple[int, ...], ended: int) -> tuple[int, ...]:
    return tuple(known for known in ids if known != ended)


def _are_equal(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """Whether both sides have the same ids, in any order. No id occurs twice."""
    return len(left) == len(right) and all(known in right for known in left)
