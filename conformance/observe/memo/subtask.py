"""Caches the steps of a subtask. The base is the newest id.

A subtask compares its highest aborted id only with checkpoints above the last one. So a highest aborted id
that is not above the last checkpoint has no effect, and a relative state leaves it out.
"""

from typing import Any, NamedTuple

from conformance.observe.memo.shifted import Shifted, Table, less, more
from model.events import NONE
from model.subtask.subtask import Subtask


class _Relative(NamedTuple):
    """The ids relative to the base, and the state without them."""

    last: int | None
    completed: int | None
    highest_aborted: int | None
    aborted: tuple[int, ...]
    running: tuple[int, ...]
    rest: Subtask


class ShiftedSubtask(Shifted):
    """A subtask. A relative state lacks the restored checkpoint, because no step reads it."""

    __slots__ = ("_restored",)

    _restored: int

    table = Table()

    def observe(self, state: object = None) -> dict[str, Any]:
        """As in `Replayed`, without a highest aborted id that is not above the last checkpoint."""
        found = super().observe(state)
        if found["highest_aborted"] <= found["last"]:
            del found["highest_aborted"]
        return found

    def _located(self, state: Subtask) -> int:
        if state.highest_aborted <= state.last:
            state = state._replace(highest_aborted=NONE)
        ids = (state.last, state.completed, state.highest_aborted, *state.aborted, *state.running)
        self._base = base = max(0, *ids)
        self._restored = state.restored
        relative = _Relative(
            last=less(state.last, base),
            completed=less(state.completed, base),
            highest_aborted=less(state.highest_aborted, base),
            aborted=tuple(one - base for one in state.aborted),
            running=tuple(one - base for one in state.running),
            rest=state._replace(
                last=0, completed=0, highest_aborted=0, aborted=(), running=(), restored=NONE
            ),
        )
        return self.table.number(relative, None)

    def _absolute(self, relative: _Relative) -> Subtask:
        base = self._base
        return relative.rest._replace(
            last=more(relative.last, base),
            completed=more(relative.completed, base),
            highest_aborted=more(relative.highest_aborted, base),
            aborted=tuple(one + base for one in relative.aborted),
            running=tuple(one + base for one in relative.running),
            restored=self._restored,
        )
