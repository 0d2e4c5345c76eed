"""The queries of a coordinator: its observable state, and the values that a runtime reads."""

from collections.abc import Mapping
from typing import Any

from impl.core.component import Component
from impl.core.coordinator.events import CoordinatorEffect, CoordinatorEvent
from impl.core.coordinator.state import CoordinatorState
from impl.core.events import CheckpointType


class InspectedCoordinator(Component[CoordinatorEvent, CoordinatorEffect]):
    """The queries of a coordinator; none of them changes its state."""

    _state: CoordinatorState

    @property
    def now(self) -> int:
        """The virtual time in milliseconds."""
        return self._state.now

    @property
    def next_deadline(self) -> int | None:
        """The virtual time at which the next pending checkpoint expires; None if none is pending."""
        return min((one.deadline for one in self._state.pending.values()), default=None)

    @property
    def next_id(self) -> int:
        """The id of the next checkpoint."""
        return self._state.next_id

    @property
    def waiting(self) -> tuple[CheckpointType, ...]:
        """The types of the waiting requests, head first."""
        return tuple(one.type for one in self._state.queue.waiting)

    @property
    def pending(self) -> tuple[int, ...]:
        """The pending ids, ascending."""
        return tuple(self._state.pending)

    @property
    def completed(self) -> tuple[int, ...]:
        """The retained ids, in the order of addition."""
        return self._state.retained.completed

    def awaiting(self, checkpoint: int) -> tuple[str, ...]:
        """The tasks that have not acknowledged, in the order of tasks; none if the id is not pending."""
        pending = self._state.pending.get(checkpoint)
        return () if pending is None else pending.awaited

    def collected(self, checkpoint: int) -> Mapping[str, object]:
        """The acknowledged handles by task; none if the id is not pending."""
        pending = self._state.pending.get(checkpoint)
        return {} if pending is None else pending.states

    def observe(self) -> dict[str, Any]:
        """The state fields `status`, `pending`, `completed`, `next_id` and `queued`."""
        state = self._state
        return {
            "status": state.job.status,
            "pending": {str(one.checkpoint): list(one.awaited) for one in state.pending.values()},
            "completed": list(state.retained.completed),
            "next_id": state.next_id,
            "queued": [one.type.value for one in state.queue.waiting],
        }
