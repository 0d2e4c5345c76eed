"""A job that runs in a thread of this process: take savepoints and checkpoints of it, stop it, or wait."""

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Thread

from impl.monitoring.rest_server import URL_FILE
from impl.savepoints import Savepoint, SavepointRequest, SavepointRequests
from impl.spark.errors import JobCancelledError
from impl.spark.results import JobResult
from impl.state.locations import Where


class RunningJob:
    """The result of `Job.start`. Its methods may be called from any thread."""

    def __init__(
        self, name: str, output: Path, run: Callable[[], JobResult], requests: SavepointRequests
    ) -> None:
        self._output = output
        self._requests = requests
        self._result: Future[JobResult] = Future()
        self._thread = Thread(target=self._drive, args=(run,), name=name, daemon=True)
        self._thread.start()

    @property
    def has_ended(self) -> bool:
        """Whether the job has ended, well or not."""
        return self._result.done()

    @property
    def rest_url(self) -> str | None:
        """The address of the job's web page; None without `rest_port`, and before and after the run."""
        try:
            return (self._output / URL_FILE).read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def checkpoint(self, *, seconds: float | None = None) -> int:
        """Take a checkpoint now, beside the schedule; returns its id when it is complete.

        Waits until all tasks run. Raises `CheckpointFailedError` if it fails, `TimeoutError` after `seconds`:
        the checkpoint may still complete.
        """
        return self._requests.checkpoints.request().result(seconds)

    def savepoint(self, directory: Where | None = None, *, seconds: float | None = None) -> Savepoint:
        """Take a savepoint; the job continues. Waits until all tasks run and the savepoint is complete.

        `directory`: where its folder is made, None for `savepoints` in the job's output. Raises
        `SavepointFailedError` if it fails, `TimeoutError` after `seconds`: it may still complete.
        """
        return self._requests.add(SavepointRequest(directory)).result(seconds)

    def stop(
        self, directory: Where | None = None, *, drain: bool = False, seconds: float | None = None
    ) -> Savepoint:
        """Stop the job with a savepoint, and wait for its end: all records before the savepoint are
        committed.

        With `drain` every function first sees the end of its data, for a job that will not run again.
        Raises `SavepointFailedError` if the savepoint fails or the job continues, `TimeoutError` after
        `seconds`, and what `Job.execute` raises if the job fails at its end.
        """
        taken = self._requests.add(SavepointRequest(directory, stop=True, drain=drain)).result(seconds)
        self._result.result(seconds)
        return taken

    def cancel(self, *, seconds: float | None = None) -> bool:
        """Cancel the job without a savepoint, and wait for its end; False if it has finished before.

        `externalized_checkpoint_retention` states whether its checkpoints stay; then it can be resumed.
        Raises what `Job.execute` raises if the job fails first, and `TimeoutError` after `seconds`.
        """
        self._requests.cancelled.set()
        try:
            self._result.result(seconds)
        except JobCancelledError:
            return True
        return False

    def result(self, seconds: float | None = None) -> JobResult:
        """Wait for the end of the job.

        Raises what `Job.execute` raises, and `TimeoutError` after `seconds`.
        """
        return self._result.result(seconds)

    def _drive(self, run: Callable[[], JobResult]) -> None:
        try:
            result = run()
        except BaseException as failed:  # noqa: BLE001 - `result` raises it
            # `run_job` has answered those of other processes; a start that was refused has none
            self._requests.close(f"the job failed: {failed}", superseded=True)
            self._result.set_exception(failed)
        else:
            self._result.set_result(result)
