"""A pending checkpoint: who has acknowledged, with which state, until when. Rules COORD-05, COORD-07.

The file knows one pending checkpoint and the tasks of its plan by position.
"""

from typing import NamedTuple

from model.events import DUPLICATE, SUCCESS, UNKNOWN, DiscardState, Effects

NO_STATE = 0


class Pending(NamedTuple):
    """One checkpoint that has started and not ended; the tuples have one element for each task."""

    checkpoint: int
    savepoint: bool
    deadline: int
    """Virtual time in ms at which it expires."""
    acknowledged: tuple[bool, ...]
    states: tuple[int, ...]
    """Handle of the state that came with the acknowledgement, 0 for none."""


def new_pending(checkpoint: int, savepoint: bool, deadline: int, tasks: int) -> Pending:
    """A checkpoint that every one of its tasks has still to acknowledge."""
    return Pending(checkpoint, savepoint, deadline, (False,) * tasks, (NO_STATE,) * tasks)


def acknowledge(pending: Pending, task: int, handle: int) -> tuple[Pending, str]:
    """Task `task` (a position beyond the plan: a stranger) acknowledges; what that counts as (COORD-05)."""
    if task >= len(pending.acknowledged):
        return pending, UNKNOWN
    if pending.acknowledged[task]:
        return pending, DUPLICATE
    acknowledged = (*pending.acknowledged[:task], True, *pending.acknowledged[task + 1 :])
    states = (*pending.states[:task], handle, *pending.states[task + 1 :])
    return pending._replace(acknowledged=acknowledged, states=states), SUCCESS


def is_fully_acknowledged(pending: Pending) -> bool:
    """No task is missing (COORD-07)."""
    return all(pending.acknowledged)


def discard_states(pending: Pending) -> Effects:
    """Delete every state that was collected, in the order of the tasks."""
    return tuple(DiscardState(handle) for handle in pending.states if handle != NO_STATE)
