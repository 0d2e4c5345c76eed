"""A pending checkpoint: its tasks, their acknowledgements and states, and its deadline.

Rules COORD-05, COORD-07. The module knows one pending checkpoint. Positions identify tasks, operator
coordinators and hooks.
"""

from typing import NamedTuple

# The result of an acknowledgement.
SUCCESS = "SUCCESS"
DUPLICATE = "DUPLICATE"
UNKNOWN = "UNKNOWN"


NO_STATE = 0


class Pending(NamedTuple):
    """One checkpoint that has started and not ended. `tasks` to `shared` have one element for each task."""

    checkpoint: int
    type: int
    """CHECKPOINT, SAVEPOINT or STOP."""
    forced: bool
    deadline: int
    """Virtual time in ms at which the checkpoint expires."""
    tasks: tuple[bool, ...]
    """By task: it takes part, so it acknowledges, and the coordinator notifies it of the end."""
    acknowledged: tuple[bool, ...]
    """By task: the checkpoint does not await its acknowledgement. True for a task that takes no part."""
    states: tuple[int, ...]
    """By task: handle of the acknowledged state, 0 for none."""
    shared: tuple[tuple[int, ...], ...]
    """By task: handles of the shared files that it has acknowledged."""
    coordinators: tuple[bool, ...]
    """By operator coordinator: it has answered."""
    hooks: tuple[bool, ...]
    """By hook: it has answered."""


def new_pending(
    checkpoint: int,
    type: int,  # noqa: A002 - the protocol's word
    deadline: int,
    tasks: tuple[bool, ...],
    *,
    forced: bool,
    coordinators: int,
    hooks: int,
) -> Pending:
    """A checkpoint that no task has acknowledged."""
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
    """The checkpoint after task `task` has acknowledged, and SUCCESS, DUPLICATE or UNKNOWN (COORD-05)."""
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
    """Every task has acknowledged (COORD-07), and every operator coordinator and hook has answered."""
    return all(pending.acknowledged) and all(pending.coordinators) and all(pending.hooks)
