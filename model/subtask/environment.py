"""The closed models of a subtask's snapshot steps, in each generation with different behaviour.

spec/subtask/SubtaskModel.tla specifies the same environment.
"""

from collections.abc import Iterator, Sequence

from model.checker.closed_model import ClosedModel, Environment
from model.events import ASYNC_EXCEPTION, NONE, Close, Event, Status
from model.steps import step_of
from model.subtask import subtask
from model.subtask.events import (
    AbortNotification,
    AbortOnBarrier,
    AsyncDone,
    AsyncFailed,
    Checkpoint,
    CompleteNotification,
    SubsumedNotification,
)
from model.subtask.profiles import DISTINCT, NEWEST_TASK, TASK_PROFILES, TaskProfile
from model.subtask.subtask import CheckpointOnBarrier, Subtask

CAUSE = "IO_EXCEPTION"
"""The reason of failed asynchronous parts in these closed models."""


def closed_subtask(
    ids: int,
    remembered_at_most: int,
    profile: TaskProfile = NEWEST_TASK,
    *,
    breaks: bool = True,
    completable: Sequence[int] | None = None,
    barriers: bool = False,
    restored: int = NONE,
) -> ClosedModel:
    """A subtask that receives every event at any time, for every id from 1 to `ids`, until it has failed.

    In generations without ordered triggers, no id is triggered while its asynchronous part runs. `breaks`:
    the synchronous part of a snapshot may also throw, after which no event arrives. `completable`: the ids
    that notifications may report as complete. None: all ids. `barriers`: the gate triggers, too. `restored`:
    the checkpoint from which the task was restored, -1 for none.
    """
    start = subtask.new_subtask(remembered_at_most, profile, restored)
    behind = ", behind a gate" if barriers else ""
    behind += f", restored from {restored}" if restored != NONE else ""
    completed_ids = range(1, ids + 1) if completable is None else completable

    def offers(state: Subtask) -> Iterator[tuple[str, Event]]:
        if state.failed:
            return
        yield "Status", Status(not state.task_runs)
        yield "Close", Close()
        for checkpoint in range(1, ids + 1):
            if profile.orders_triggers or checkpoint not in state.running:
                yield "Checkpoint", Checkpoint(checkpoint)
                if breaks:
                    yield "Checkpoint", Checkpoint(checkpoint, fails=True)
                for fails in (False, True)[: barriers + (barriers and breaks)]:
                    yield "CheckpointOnBarrier", CheckpointOnBarrier(checkpoint, fails)
            yield "AbortOnBarrier", AbortOnBarrier(checkpoint, "SUBSUMED")
            if checkpoint in completed_ids:
                yield "CompleteNotification", CompleteNotification(checkpoint)
            yield "SubsumedNotification", SubsumedNotification(checkpoint)
            yield "AsyncDone", AsyncDone(checkpoint)
            for reason in (ASYNC_EXCEPTION, CAUSE):
                yield "AsyncFailed", AsyncFailed(checkpoint, reason)
            for completed in (NONE, *completed_ids):
                yield "AbortNotification", AbortNotification(checkpoint, completed)

    return ClosedModel(
        f"subtask of {profile!r}, ids to {ids}, remembering {remembered_at_most}{behind}",
        "subtask",
        start._replace(remembered_at_most=remembered_at_most),
        (),
        offers,
        _anything,
        step_of("subtask"),
        toured=start.remembered_at_most == remembered_at_most and not barriers,
    )


_RESTORED = (NEWEST_TASK, TASK_PROFILES["1.14"], TASK_PROFILES["1.11"])
"""The newest generation, the first one that uses its restored checkpoint, and the generation before that."""


def _anything(environment: Environment, event: Event) -> Environment:
    return environment


def closed_subtask_models() -> tuple[ClosedModel, ...]:
    """The closed models of subtasks that the suite explores."""
    older = [profile for profile in DISTINCT if profile is not NEWEST_TASK]
    return (
        closed_subtask(3, 2, breaks=False),
        closed_subtask(3, 1, breaks=False),
        closed_subtask(2, 1),
        *(closed_subtask(2, profile.remembers or 1, profile, barriers=True) for profile in DISTINCT),
        *(closed_subtask(2, profile.remembers or 1, profile) for profile in older),
        closed_subtask(3, 2, TASK_PROFILES["1.11"], breaks=False),
        *(closed_subtask(2, profile.remembers or 1, profile, restored=1) for profile in _RESTORED),
    )
