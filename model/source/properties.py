"""TASK-21 to TASK-24, stated over a source's task."""

import itertools

from model.events import Effects, Event, Fail, Status
from model.gate.events import Trigger
from model.registry import Registry
from model.source.events import Answer, Ended, GoOnReading, Induce, StopReading, TriggerArrives
from model.source.source_task import PLAIN, READER, TASK_FAILURE, UNKNOWN_TASK, Source
from model.subtask.events import Decline

SOURCE = Registry("source")


@SOURCE.step("TASK-21")
def task_21(before: Source, event: Event, effects: Effects, after: Source) -> bool:
    """A trigger begins the checkpoint of a plain source; an externally induced one only answers."""
    if after.running != (event.running if type(event) is Status else before.running):
        return False
    if type(event) is not TriggerArrives or not event.here:
        return not any(type(effect) is Answer for effect in effects)
    if before.external == PLAIN:
        return effects == (Trigger(event.checkpoint),) and after == before
    if any(known == event.checkpoint for known in before.ahead):
        return True  # TASK-22
    expected: Effects = (Answer(event.checkpoint, before.running),)
    if not before.running and before.profile.declines_refused:
        expected = (*expected, Decline(event.checkpoint, TASK_FAILURE))
    triggered = before.triggered
    if needs_both(before):
        triggered = tuple(sorted({*before.triggered, event.checkpoint}))
    return effects == expected and after == before._replace(triggered=triggered)


@SOURCE.step("TASK-22")
def task_22(before: Source, event: Event, effects: Effects, after: Source) -> bool:
    """An externally induced source begins exactly when its hook and, if needed, the trigger have arrived."""
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
        if type(event) is Induce and after != before._replace(
            ahead=tuple(sorted({*before.ahead, event.checkpoint}))
        ):
            return False  # the hook is called once
        return not begun
    return begun == (Trigger(event.checkpoint),) and effects[0] == begun[0]


@SOURCE.step("TASK-23")
def task_23(before: Source, event: Event, effects: Effects, after: Source) -> bool:
    """Reading stops at the first hook without a trigger, and continues when none is left."""
    stops = any(type(effect) is StopReading for effect in effects)
    resumes = any(type(effect) is GoOnReading for effect in effects)
    if stops != (not before.ahead and bool(after.ahead)):
        return False
    return resumes == (bool(before.ahead) and not after.ahead)


@SOURCE.step("TASK-23")
def task_23_forgets(before: Source, event: Event, effects: Effects, after: Source) -> bool:
    """A begun checkpoint drops all older ids, an ended one its own; no other id is dropped."""
    kept = (*after.triggered, *after.ahead)
    gone = tuple(known for known in (*before.triggered, *before.ahead) if known not in kept)
    for effect in effects:
        if type(effect) is Trigger:
            newest = effect.checkpoint
            return all(known > newest for known in kept) and all(known <= newest for known in gone)
    if type(event) is Ended:
        return event.checkpoint not in kept and all(known == event.checkpoint for known in gone)
    return not gone


@SOURCE.state("TASK-23")
def task_23_apart(source: Source) -> bool:
    """No id is both triggered and ahead; only a reader that needs both stores either; ids ascend."""
    for ids in (source.triggered, source.ahead):
        if any(left >= right for left, right in itertools.pairwise(ids)):
            return False
    if not needs_both(source):
        return not source.triggered and not source.ahead
    return not any(known in source.ahead for known in source.triggered)


@SOURCE.step("TASK-24")
def task_24(before: Source, event: Event, effects: Effects, after: Source) -> bool:
    """A trigger for a task at another place is refused and changes nothing; nothing else is refused."""
    if type(event) is TriggerArrives and not event.here:
        return effects == (Fail(UNKNOWN_TASK),) and after == before
    return not any(type(effect) is Fail for effect in effects)


def needs_both(source: Source) -> bool:
    """A reader of a generation that needs both hook and trigger."""
    return source.external == READER and source.profile.readers_await_triggers
