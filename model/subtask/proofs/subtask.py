"""The cases of a subtask's snapshot steps, with any ids, for every generation with different behaviour."""

from collections.abc import Iterator
from itertools import product

import z3

from model.checker.prove import Case
from model.checker.symbolic import int_term, symbolic_like
from model.events import Close, Event, Status
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
from model.subtask.profiles import NEWEST_TASK, TASK_PROFILES, TaskProfile
from model.subtask.subtask import CheckpointOnBarrier, Subtask


def subtask_cases(
    aborted: int, running: int, bound: int, profile: TaskProfile = NEWEST_TASK
) -> Iterator[Case]:
    """Yields every event at a subtask that remembers `aborted` aborts while `running` snapshots run."""
    shape = subtask.new_subtask(bound, profile)._replace(aborted=(0,) * aborted, running=(0,) * running)
    state: Subtask = symbolic_like(shape, "subtask")._replace(remembered_at_most=bound, failed=False)
    if not profile.orders_triggers:
        state = state._replace(last=shape.last)
    if not profile.completes_in_order:
        state = state._replace(completed=shape.completed)
    if not profile.infers_aborts:
        state = state._replace(highest_aborted=shape.highest_aborted)
    for event in (
        Checkpoint(0),
        CheckpointOnBarrier(0, False),
        AbortOnBarrier(0, "SUBSUMED"),
        AbortNotification(0, 0),
        CompleteNotification(0),
        SubsumedNotification(0),
        AsyncDone(0),
        AsyncFailed(0),
        AsyncFailed(0, "IO_EXCEPTION"),
        Status(True),
        Close(),
    ):
        symbolic: Event = symbolic_like(event, "event")
        yield Case(
            "subtask",
            f"{profile!r}, {aborted} aborts remembered, {running} snapshots running, {event.kind}",
            state,
            symbolic,
            step_of("subtask"),
            _starts_once(state, symbolic),
        )


def _starts_once(state: Subtask, event: Event) -> tuple[z3.BoolRef, ...]:
    """The assumption: without ordered triggers, no id is triggered while its asynchronous part runs."""
    if not isinstance(event, Checkpoint | CheckpointOnBarrier) or state.profile.orders_triggers:
        return ()
    return tuple(int_term(known) != int_term(event.checkpoint) for known in state.running)


def all_subtask_cases() -> Iterator[Case]:
    """All cases of the published proofs."""
    for bound in (1, 2):
        for aborted, running in product(range(bound + 1), (0, 1, 2)):
            yield from subtask_cases(aborted, running, bound)
    for name, remembered in _OLDER:
        for aborted, running in product(range(remembered + 1), (0, 1, 2)):
            yield from subtask_cases(aborted, running, 2, TASK_PROFILES[name])


_OLDER = (("1.9", 0), ("1.10", 0), ("1.11", 2), ("1.14", 2), ("1.15", 2))
"""The older generations that differ, each with the maximum number of remembered aborts in a case."""
