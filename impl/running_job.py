"""A job that runs in a thread of this process, with methods to take savepoints, to stop it and to wait."""

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Thread

from impl.monitoring.rest_server import URL_FILE
from impl.savepoints import Savepoint, SavepointRequest, SavepointRequests
from impl.spark.errors import JobCancelledError, JobSuspendedError
from impl.spark.job_result import JobResult
from impl.state.locations import Where


class RunningJob:
    """A job that `Job.start` has started. Any thread may call the methods."""

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
        """Whether the job has ended, with a result or with an error."""
        return self._result.done()

    @property
    def rest_url(self) -> str | None:
        """The address of the job's web page. None without `rest_port`, and before and after the run."""
        try:
            return (self._output / URL_FILE).read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def checkpoint(self, *, seconds: float | None = None) -> int:
        """Take a checkpoint in addition to the periodic ones; returns its id when it is complete.

        First waits until all tasks run. Raises `CheckpointFailedError` if the checkpoint fails. Raises
        `TimeoutError` after `seconds`; the checkpoint may still complete later.
        """
        return self._requests.checkpoints.request().result(seconds)

    def savepoint(self, directory: Where | None = None, *, seconds: float | None = None) -> Savepoint:
        """Take a savepoint and return it when it is complete. The job continues.

        First waits until all tasks run. `directory`: the folder or URI in which the savepoint gets its own
        folder. None: the job's folder `savepoints`. Raises `SavepointFailedError` if the savepoint
        fails. Raises `TimeoutError` after `seconds`, and the savepoint may still complete then.
        """
        return self._requests.add(SavepointRequest(directory)).result(seconds)

    def stop(
        self, directory: Where | None = None, *, drain: bool = False, seconds: float | None = None
    ) -> Savepoint:
        """Stop the job with a savepoint, wait for the end of the job, and return the savepoint.

        At its end, the sinks have committed the output of all records before the savepoint. With `drain`,
        every function first gets the end of its data; use it for a job that will not run again. Raises
        `SavepointFailedError` if the savepoint fails or the job continues. Raises `TimeoutError` after
        `seconds`, and the errors of `Job.execute` if the job fails at its end.
        """
        taken = self._requests.add(SavepointRequest(directory, stop=True, drain=drain)).result(seconds)
        self._result.result(seconds)
        return taken

    def cancel(self, *, seconds: float | None = None) -> bool:
        """Cancel the job without a savepoint, and wait for its end. Returns False if it had already finished.

        The setting `externalized_checkpoint_retention` decides whether the checkpoints stay. If they stay,
        the job can be resumed. Raises the errors of `Job.execute` if the job fails before it is cancelled.
        Raises `TimeoutError` after `seconds`.
        """
        self._requests.cancelled.set()
        try:
            self._result.result(seconds)
        except JobCancelledError:
            return True
        return False

    def suspend(self, *, seconds: float | None = None) -> bool:
        """End the driver and keep all checkpoints for the next driver.

        Returns False if the job had already finished.

        A run with `resume=True` continues the job. Pending checkpoints are aborted; no setting deletes a
        completed one. Waits for the end of the driver. Raises SavepointFailedError if the checkpoints are in
        the memory of the driver, the errors of `Job.execute` if the job fails before, and `TimeoutError`
        after `seconds`.
        """
        self._requests.require_suspendable()
        self._requests.suspended.set()
        try:
            self._result.result(seconds)
        except JobSuspendedError:
            return True
        return False

    def result(self, seconds: float | None = None) -> JobResult:
        """Wait for the end of the job, and return its result.

        Raises the errors of `Job.execute`, and `TimeoutError` after `seconds`.
        """
        return self._result.result(seconds)

    def _drive(self, run: Callable[[], JobResult]) -> None:
        try:
            result = run()
        except BaseException as failed:  # noqa: BLE001 - `result` raises it
            # This answers only the requests of this process: `run_job` answers those of other processes.
            self._requests.close(f"the job failed: {failed}", superseded=True)
            self._result.set_exception(failed)
        else:
            self._result.set_result(result)
