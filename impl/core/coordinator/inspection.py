"""What can be asked of a coordinator: by a runtime that acts for it, and by whoever observes it."""

from collections.abc import Mapping
from typing import Any

from impl.core.component import Component
from impl.core.coordinator.state import Books
from impl.core.events import CheckpointType


class InspectedCoordinator(Component):
    """The coordinator's questions and answers; nothing here changes anything."""

    _books: Books

    @property
    def now(self) -> int:
        """Virtual milliseconds passed."""
        return self._books.now

    @property
    def next_deadline(self) -> int | None:
        """The virtual time at which the next pending checkpoint expires, None without one."""
        return min((one.deadline for one in self._books.pending.values()), default=None)

    @property
    def next_id(self) -> int:
        """The id that the next started checkpoint gets."""
        return self._books.next_id

    @property
    def waiting(self) -> tuple[CheckpointType, ...]:
        """The requests that wait for their turn, head first."""
        return tuple(one.type for one in self._books.queue.waiting)

    @property
    def pending(self) -> tuple[int, ...]:
        """The pending ids, ascending."""
        return tuple(self._books.pending)

    @property
    def completed(self) -> tuple[int, ...]:
        """The retained completed ids, in the order of adding."""
        return self._books.retained.completed

    def awaiting(self, checkpoint: int) -> tuple[str, ...]:
        """The tasks a pending checkpoint still awaits, in the order of tasks; none if it is not pending."""
        pending = self._books.pending.get(checkpoint)
        return () if pending is None else pending.awaited

    def collected(self, checkpoint: int) -> Mapping[str, object]:
        """The handles a pending checkpoint has collected, by task; none if it is not pending."""
        pending = self._books.pending.get(checkpoint)
        return {} if pending is None else pending.states

    def observe(self) -> dict[str, Any]:
        """`status`, `pending` (id to the tasks awaited), `completed`, `next_id`, `queued` (head first)."""
        books = self._books
        return {
            "status": books.job.status,
            "pending": {str(one.checkpoint): list(one.awaited) for one in books.pending.values()},
            "completed": list(books.retained.completed),
            "next_id": books.next_id,
            "queued": [one.type.value for one in books.queue.waiting],
        }
