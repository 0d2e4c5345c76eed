"""Manual triggers: checkpoints that a user requests.

Such a checkpoint is like a periodic one, and may be subsumed. The answer to a request is the first checkpoint
that is triggered after the request. So this checkpoint includes all records that the sources have read before
the request.
"""

import threading
from concurrent.futures import Future

from impl.spark.errors import CheckpointFailedError


class ManualTriggers:
    """The requests of one job.

    Any thread may call `request` and `close`. Only the coordinator's thread calls the other methods.
    """

    def __init__(self) -> None:
        self._requested: list[Future[int]] = []
        self._awaited: dict[int, list[Future[int]]] = {}
        self._is_new = False
        self._closed: str | None = None
        self._changing = threading.Lock()

    def request(self) -> "Future[int]":
        """Request a checkpoint; returns a future of its id, which fails with `CheckpointFailedError`."""
        future: Future[int] = Future()
        with self._changing:
            self._requested.append(future)
            self._is_new = True
            closed = self._closed
        if closed is not None:
            self.refused(closed)
        return future

    def due(self) -> bool:
        """Whether a request has come since the last call of this method."""
        with self._changing:
            new, self._is_new = self._is_new, False
        return new

    def triggered(self, checkpoint: int) -> None:
        """Assign `checkpoint` to all requests that have no checkpoint."""
        if self._requested:
            self._awaited[checkpoint] = self._taken()

    def completed(self, checkpoint: int) -> None:
        """Answer the requests of a completed checkpoint."""
        for future in self._awaited.pop(checkpoint, ()):
            future.set_result(checkpoint)

    def aborted(self, checkpoint: int, reason: str) -> None:
        """Fail the requests of an aborted checkpoint."""
        for future in self._awaited.pop(checkpoint, ()):
            future.set_exception(CheckpointFailedError(f"checkpoint {checkpoint} was aborted with {reason}"))

    def refused(self, reason: str) -> None:
        """Fail all requests that have no checkpoint, because none was triggered for them."""
        for future in self._taken():
            future.set_exception(CheckpointFailedError(f"no checkpoint was triggered: {reason}"))

    def close(self, reason: str) -> None:
        """Fail every request, also later ones, because the job has ended."""
        with self._changing:
            self._closed = reason
        self.refused(reason)
        for checkpoint in [*self._awaited]:
            self.aborted(checkpoint, reason)

    def _taken(self) -> "list[Future[int]]":
        with self._changing:
            requested, self._requested = self._requested, []
            self._is_new = False
        return requested
