"""Checkpoints that somebody asks for: who waits, and for which one.

Such a checkpoint is one like those of the schedule, and subsumed like them. Whoever asks gets the first that
is triggered from then on, so that it covers what the job has done before.
"""

import threading
from concurrent.futures import Future

from impl.spark.errors import CheckpointFailedError


class WantedCheckpoints:
    """Those of one job. `ask` may be called from any thread, the rest is the coordination's."""

    def __init__(self) -> None:
        self._asked: list[Future[int]] = []
        self._awaited: dict[int, list[Future[int]]] = {}
        self._unheard = False
        self._closed: str | None = None
        self._changing = threading.Lock()

    def ask(self) -> "Future[int]":
        """Want a checkpoint; the future answers its id, or fails with `CheckpointFailedError`."""
        future: Future[int] = Future()
        with self._changing:
            self._asked.append(future)
            self._unheard = True
            closed = self._closed
        if closed is not None:
            self.refused(closed)
        return future

    def due(self) -> bool:
        """Whether one has to be triggered: somebody has asked since the last call."""
        with self._changing:
            unheard, self._unheard = self._unheard, False
        return unheard

    def triggered(self, checkpoint: int) -> None:
        """Everybody who has asked so far waits for this one."""
        if self._asked:
            self._awaited[checkpoint] = self._taken()

    def completed(self, checkpoint: int) -> None:
        """It is published."""
        for future in self._awaited.pop(checkpoint, ()):
            future.set_result(checkpoint)

    def aborted(self, checkpoint: int, reason: str) -> None:
        """It was aborted."""
        for future in self._awaited.pop(checkpoint, ()):
            future.set_exception(CheckpointFailedError(f"checkpoint {checkpoint} was aborted with {reason}"))

    def refused(self, reason: str) -> None:
        """None was triggered for those who have asked."""
        for future in self._taken():
            future.set_exception(CheckpointFailedError(f"no checkpoint was triggered: {reason}"))

    def close(self, why: str) -> None:
        """The job has ended: nobody gets one from now on."""
        with self._changing:
            self._closed = why
        self.refused(why)
        for checkpoint in [*self._awaited]:
            self.aborted(checkpoint, why)

    def _taken(self) -> "list[Future[int]]":
        with self._changing:
            asked, self._asked = self._asked, []
            self._unheard = False
        return asked
