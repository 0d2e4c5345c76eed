"""A pending checkpoint: its tasks, their acknowledgements and states, and its deadline.

Rules COORD-05, COORD-07. The module describes one pending checkpoint. Tasks, operator coordinators and hooks
are identified by their positions.
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
    """By task: it takes part. It has to acknowledge, and the coordinator notifies it of the end."""
    acknowledged: tuple[bool, ...]
    """By task: no acknowledgement is awaited. Also true for a task that does not take part."""
    states: tuple[int, ...]
    """By task: the handle of the acknowledged state. 0 for none."""
    shared: tuple[tuple[int, ...], ...]
    """By task: the handles of the shared files that belong to the acknowledged state."""
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
    """A new pending checkpoint without acknowledgements."""
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
    """Returns the checkpoint after an acknowledgement, and SUCCESS, DUPLICATE or UNKNOWN (COORD-05)."""
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
    """Whether all tasks have acknowledged (COORD-07), and all operator coordinators and hooks answered."""
    return all(pending.acknowledged) and all(pending.coordinators) and all(pending.hooks)
