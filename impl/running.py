"""A job that runs in a thread of this process: take savepoints and checkpoints of it, stop it, or wait."""

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Thread

from impl.savepoints import Savepoint, SavepointDesk, SavepointRequest
from impl.spark.results import JobResult


class RunningJob:
    """What `Job.start` answers. Its methods may be called from any thread."""

    def __init__(self, name: str, run: Callable[[], JobResult], desk: SavepointDesk) -> None:
        self._desk = desk
        self._result: Future[JobResult] = Future()
        self._thread = Thread(target=self._drive, args=(run,), name=name, daemon=True)
        self._thread.start()

    @property
    def has_ended(self) -> bool:
        """Whether the job has ended, well or not."""
        return self._result.done()

    def checkpoint(self, *, seconds: float | None = None) -> int:
        """Take a checkpoint now, whatever the schedule says; answers its id when it is complete.

        It waits until all tasks run. Raises `CheckpointFailedError` if there is none, `TimeoutError` after
        `seconds`: it may still complete.
        """
        return self._desk.checkpoints.ask().result(seconds)

    def savepoint(self, directory: Path | None = None, *, seconds: float | None = None) -> Savepoint:
        """Take a savepoint; the job goes on. It waits until all tasks run, and then for its completion.

        `directory`: where its folder is made, None for `savepoints` in the job's output. Raises
        `SavepointFailedError` if there is none, `TimeoutError` after `seconds`: it may still complete.
        """
        return self._desk.ask(SavepointRequest(directory)).result(seconds)

    def stop(
        self, directory: Path | None = None, *, drain: bool = False, seconds: float | None = None
    ) -> Savepoint:
        """Stop the job with a savepoint, and wait until it has ended: what came before it is committed.

        With `drain` every function first sees the end of its data; use it for a job that is to end for good.
        Raises as `savepoint` does; `SavepointFailedError` also if the job goes on.
        """
        taken = self._desk.ask(SavepointRequest(directory, stop=True, drain=drain)).result(seconds)
        self._result.result(seconds)
        return taken

    def result(self, seconds: float | None = None) -> JobResult:
        """Wait for the end of the job; raises what `Job.execute` raises, or `TimeoutError`."""
        return self._result.result(seconds)

    def _drive(self, run: Callable[[], JobResult]) -> None:
        try:
            result = run()
        except BaseException as failed:  # noqa: BLE001 - whoever waits for the result gets it
            self._desk.close(f"the job failed: {failed}")
            self._result.set_exception(failed)
        else:
            self._result.set_result(result)
