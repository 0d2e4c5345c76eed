"""The savepoints of a running job, on the driver: the requests, their folders, and their results.

The core's coordinator decides when a savepoint starts, which checkpoints are then aborted, and which tasks
are notified (COORD-11, COORD-28, SUB-04, SUB-05). A request waits until all tasks run. The request of a
savepoint that stops the job gets its answer when the job has ended. If such a savepoint is aborted, the
attempt fails, because its sources have stopped, and the next attempt restores the newest checkpoint.
"""

from collections.abc import Iterable, Mapping

from impl.core import CheckpointType
from impl.core.coordinator.events import RequestCheckpoint
from impl.graph.plan import Plan
from impl.savepoints import CANCEL, SUSPEND, PendingRequest, Savepoint, SavepointRequest, SavepointRequests
from impl.spark.coordination.manual_triggers import ManualTriggers
from impl.spark.errors import JobCancelledError, JobSuspendedError, SavepointFailedError
from impl.spark.savepoints.savepoint_options import SavepointOptions
from impl.state import (
    CheckpointStorage,
    SavepointFolder,
    StateError,
    StateHandle,
    SupersededError,
    savepoint_name,
)
from impl.state.locations import Where, beside, location_of
from impl.state.savepoints import savepoints_in

_POLL_MS = 200
_ENDS: Mapping[type[Exception], str] = {JobCancelledError: CANCEL, JobSuspendedError: SUSPEND}
"""Maps the type of an error to the kind of request that has ended the job."""


class Savepoints:
    """The savepoints of one job over all its attempts. Used by the coordinator's thread.

    `folder`: the folder of savepoints if their request names no folder; None if each request must name one.
    `lineage`: the lineage of the checkpoint folder.
    """

    def __init__(
        self,
        requests: SavepointRequests,
        folder: Where | None,
        lineage: str,
        plan: Plan,
        storage: CheckpointStorage,
    ) -> None:
        self._requests = requests
        self._folder = folder
        self._lineage = lineage
        self._plan = plan
        self._storage = storage
        self._requested: list[PendingRequest] = []
        self._pending: dict[int, PendingRequest] = {}
        self._options: dict[int, SavepointOptions] = {}
        self._stopping: int | None = None
        self._stopped: tuple[PendingRequest, Savepoint] | None = None
        self._polled = -_POLL_MS
        self.completed: list[Savepoint] = []
        self._cleared = False

    def clear_left(self, attempt: int) -> None:
        """Delete the incomplete savepoints of an earlier driver. Further calls do nothing.

        `attempt`: this driver's first attempt, which it must have drawn before. Until then the earlier driver
        may complete a savepoint and report it to its user.
        """
        if not self._cleared:
            self._cleared = True
            for left in () if self._folder is None else savepoints_in(self._folder):
                left.clear_left(attempt)

    # ------------------------------------------------------------ requests

    @property
    def manual(self) -> ManualTriggers:
        """The checkpoints that users request."""
        return self._requests.checkpoints

    def raise_if_ended(self, now: int) -> None:
        """Raise `JobCancelledError` or `JobSuspendedError` if a user has ended the job.

        Reads the requests of other processes at most every `_POLL_MS`.
        """
        if now - self._polled >= _POLL_MS:
            self._polled = now
            self._requests.poll()
        if self._requests.cancelled.is_set():
            raise JobCancelledError("a user has cancelled the job; resume it if its checkpoints are retained")
        if self._requests.suspended.is_set():
            raise JobSuspendedError("a user has suspended the job; resume it to continue")

    def due(self, now: int) -> RequestCheckpoint | None:
        """The event that requests the next savepoint from the coordinator; None without a request."""
        if self.stopping:
            return None
        pending = self._requests.take()
        if pending is None:
            return None
        request = pending.request
        try:
            location_of(self._folder_for(request)).make_folder()
        except StateError as refused:
            pending.answer(SavepointFailedError(str(refused)))
            return None
        self._requested.append(pending)
        kind = CheckpointType.STOP if request.stop else CheckpointType.SAVEPOINT
        return RequestCheckpoint(kind, drain=request.drain)

    def _folder_for(self, request: SavepointRequest) -> Where:
        """The folder for a requested savepoint. Raises StateError if neither request nor job has a folder."""
        folder = request.directory or self._folder
        if folder is None:
            raise StateError(
                "the checkpoints of this job are in the memory of its driver, so savepoints have no folder "
                "beside them; name a directory that all workers can access"
            )
        return folder

    @property
    def stopping(self) -> bool:
        """Whether a savepoint that stops the job was requested, and has not failed."""
        waiting = (*self._requested, *self._pending.values())
        return self._stopped is not None or any(one.request.stop for one in waiting)

    def is_stop(self, checkpoint: int) -> bool:
        """Whether the job ends with this checkpoint."""
        return self._stopping == checkpoint

    def has(self, checkpoint: int) -> bool:
        """Whether the checkpoint is a savepoint of this job."""
        return checkpoint in self._options

    def folder_of(self, checkpoint: int) -> str:
        """The folder of a savepoint of this job; empty for a checkpoint."""
        options = self._options.get(checkpoint)
        return "" if options is None else options.folder

    # ------------------------------------------------------------ effects of the coordinator

    def options(self, checkpoint: int, kind: CheckpointType) -> SavepointOptions | None:
        """The options of a savepoint; None for a checkpoint. The first call creates the folder."""
        if kind is CheckpointType.CHECKPOINT:
            return None
        if checkpoint not in self._options:
            pending = self._taken(kind)
            assert pending is not None  # the coordinator triggers only requested savepoints
            request = pending.request
            where = beside(self._folder_for(request), savepoint_name(checkpoint, self._lineage))
            self._pending[checkpoint] = pending
            self._options[checkpoint] = SavepointOptions(str(where), request.stop, request.drain)
            if request.stop:
                self._stopping = checkpoint
            SavepointFolder(where).begin()
        return self._options[checkpoint]

    def rejected(self, kind: CheckpointType, reason: str) -> None:
        """Answer the oldest request of this kind, which the coordinator has rejected."""
        pending = self._taken(kind)
        if pending is not None:
            pending.answer(
                SavepointFailedError(f"the savepoint was rejected with {reason}; request it again")
            )

    def _taken(self, kind: CheckpointType) -> PendingRequest | None:
        stop = kind is CheckpointType.STOP
        pending = next((one for one in self._requested if one.request.stop == stop), None)
        if pending is not None:
            self._requested.remove(pending)
        return pending

    def publish(self, checkpoint: int, attempt: int, handles: Iterable[StateHandle]) -> None:
        """Publish the savepoint. Raises SupersededError if a newer attempt exists, StateError if it fails."""
        options = self._options[checkpoint]
        self._storage.require_newest(f"publishing savepoint {checkpoint}", attempt)
        kind = CheckpointType.STOP if options.stops else CheckpointType.SAVEPOINT
        description = {
            "kind": kind.value,
            "drained": options.drains,
            "job": self._plan.name,
            "lineage": self._lineage,
        }
        folder = self._of(checkpoint)
        try:
            folder.publish(checkpoint, attempt, handles, self._plan.max_parallelism, description)
        except StateError:  # a driver that has taken over has deleted its files
            self._storage.require_newest(f"publishing savepoint {checkpoint}", attempt)
            raise
        try:
            self._storage.require_newest(f"publishing savepoint {checkpoint}", attempt)
        except SupersededError:
            folder.withdraw()
            raise

    def complete(self, checkpoint: int) -> None:
        """Answer the request of a completed savepoint. If it stops the job, the answer follows at the end."""
        pending = self._pending.pop(checkpoint)
        done = Savepoint(checkpoint, self._of(checkpoint).where, stopped=pending.request.stop)
        self.completed.append(done)
        if pending.request.stop:
            self._stopped = (pending, done)
        else:
            pending.answer(done)

    def aborted(self, checkpoint: int, reason: str) -> None:
        """Answer the request of an aborted savepoint, and delete its files."""
        pending = self._pending.pop(checkpoint, None)
        if self._stopping == checkpoint:
            self._stopping = None
        if pending is not None:
            error = f"savepoint {checkpoint} was aborted with {reason}; request it again"
            pending.answer(SavepointFailedError(error))
        self.clear(checkpoint)

    def clear(self, checkpoint: int) -> None:
        """Delete all files of an aborted savepoint, also files that tasks have written after the abort."""
        folder = self._of(checkpoint)
        if not folder.is_complete:
            folder.discard()

    def discard_state(self, handle: StateHandle) -> None:
        """Delete a task's snapshot that no savepoint will use."""
        self._of(handle.checkpoint).discard_state(handle)

    # ------------------------------------------------------------ the end of an attempt and of the job

    def attempt_failed(self, reason: str) -> None:
        """Answer a stop whose attempt has failed. The job continues, even if the savepoint is complete."""
        self._stopping = None
        stopped, self._stopped = self._stopped, None
        if stopped is not None:
            pending, done = stopped
            pending.answer(
                SavepointFailedError(
                    f"savepoint {done.checkpoint} is complete in {done.folder}, but the job failed before "
                    f"it had ended, and continues from its newest checkpoint: {reason}"
                )
            )

    def finished(self) -> None:
        """Answer the request that has stopped the job, and refuse all others, because the job has ended."""
        stopped, self._stopped = self._stopped, None
        if stopped is not None:
            pending, done = stopped
            pending.answer(done)
        self._requests.close("the job has ended; only a running job can take a savepoint")

    def failed(self, error: Exception) -> None:
        """Answer the open requests, except those that another driver will answer after a take-over."""
        superseded, ended_by = isinstance(error, SupersededError), _ENDS.get(type(error))
        reason = f"the job failed: {error}" if ended_by is None else str(error)
        open_ = [*self._requested, *self._pending.values()]
        if self._stopped is not None:
            open_.append(self._stopped[0])
        self._requested, self._pending, self._stopped = [], {}, None
        for pending in open_:
            if not (superseded and pending.elsewhere):
                pending.answer(SavepointFailedError(reason))
        self._requests.close(reason, superseded=superseded, ended_by=ended_by)

    def _of(self, checkpoint: int) -> SavepointFolder:
        return SavepointFolder(self._options[checkpoint].folder)
