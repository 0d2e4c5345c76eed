"""A pending checkpoint: who takes part, who has acknowledged with which state, until when.

Rules COORD-05, COORD-07. The file knows one pending checkpoint; tasks, operator coordinators and hooks are
known by their positions.
"""

from typing import NamedTuple

from model.coordinator.events import DUPLICATE, SUCCESS, UNKNOWN
from model.store.store import CHECKPOINT

NO_STATE = 0


class Pending(NamedTuple):
    """One checkpoint that has started and not ended; `tasks` to `shared` have one element for each task."""

    checkpoint: int
    type: int
    """CHECKPOINT, SAVEPOINT or STOP."""
    forced: bool
    deadline: int
    """Virtual time in ms at which it expires."""
    tasks: tuple[bool, ...]
    """Who takes part: acknowledges, and is told of the end."""
    acknowledged: tuple[bool, ...]
    """Whom it need not await any more; true for a task that takes no part."""
    states: tuple[int, ...]
    """Handle of the state that came with the acknowledgement, 0 for none."""
    shared: tuple[tuple[int, ...], ...]
    """Handles of the shared files that came with it."""
    coordinators: tuple[bool, ...]
    """The operator coordinators that are done."""
    hooks: tuple[bool, ...]
    """The hooks that are done."""


def new_pending(
    checkpoint: int,
    type: int,  # noqa: A002 - the protocol's word
    deadline: int,
    tasks: tuple[bool, ...],
    *,
    forced: bool = False,
    coordinators: int = 0,
    hooks: int = 0,
) -> Pending:
    """A checkpoint that everyone who takes part has still to acknowledge."""
    return Pending(
        checkpoint=checkpoint,
        type=type,
        forced=forced,
        deadline=deadline,
        tasks=tasks,
        acknowledged=tuple(not takes_part for takes_part in tasks),
        states=(NO_STATE,) * len(tasks),
        shared=((),) * len(tasks),
        coordinators=(False,) * coordinators,
        hooks=(False,) * hooks,
    )


def acknowledge(pending: Pending, task: int, handle: int, shared: tuple[int, ...]) -> tuple[Pending, str]:
    """Task `task` (a position beyond the plan: a stranger) acknowledges; what that counts as (COORD-05)."""
    if task >= len(pending.tasks) or not pending.tasks[task]:
        return pending, UNKNOWN
    if pending.acknowledged[task]:
        return pending, DUPLICATE
    return pending._replace(
        acknowledged=(*pending.acknowledged[:task], True, *pending.acknowledged[task + 1 :]),
        states=(*pending.states[:task], handle, *pending.states[task + 1 :]),
        shared=(*pending.shared[:task], shared, *pending.shared[task + 1 :]),
    ), SUCCESS


def is_fully_acknowledged(pending: Pending) -> bool:
    """No task is missing (COORD-07), and no operator coordinator or hook."""
    return all(pending.acknowledged) and all(pending.coordinators) and all(pending.hooks)


def can_be_subsumed(pending: Pending, *, forced_are_safe: bool) -> bool:
    """A newer checkpoint that completes may end it (SUB-02, SUB-04)."""
    return not pending.forced if forced_are_safe else pending.type == CHECKPOINT
