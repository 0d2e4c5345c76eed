"""The savepoints of a running job, on the driver: who has asked, where each goes, and what came of it.

When one may start, what is aborted for it and who is told is the coordinator's business (COORD-11, COORD-28,
SUB-04, SUB-05): this room has no rule of its own. A request waits here until all tasks run. A savepoint
that stops the job is answered when the job has ended; if it fails, so does the attempt, because its sources
have stopped (and the next one goes on from the newest checkpoint).
"""

from collections.abc import Iterable
from pathlib import Path

from impl.graph.plan import Plan
from impl.savepoints import Asked, Savepoint, SavepointDesk
from impl.spark.coordination.manual_triggers import WantedCheckpoints
from impl.spark.errors import SavepointFailedError
from impl.spark.savepoints.barrier_options import SavepointOrder
from impl.state import (
    CheckpointStorage,
    SavepointFolder,
    StateError,
    StateHandle,
    SupersededError,
    savepoint_name,
)
from impl.state.durable import make_directory
from impl.state.savepoints import savepoints_in

PLAIN, STOP = "savepoint", "stop"
"""The coordinator's words."""
_LOOK_MS = 200


class Savepoints:
    """Those of one job over all its attempts. Used by the coordination's thread.

    `folder`: where they go if a request names no other place; `lineage`: the job folder's.
    """

    def __init__(
        self, desk: SavepointDesk, folder: Path, lineage: str, plan: Plan, storage: CheckpointStorage
    ) -> None:
        self._desk = desk
        self._folder = folder
        self._lineage = lineage
        self._plan = plan
        self._storage = storage
        self._asked: list[Asked] = []
        self._pending: dict[int, Asked] = {}
        self._orders: dict[int, SavepointOrder] = {}
        self._stopping: int | None = None
        self._stopped: tuple[Asked, Savepoint] | None = None
        self._looked = -_LOOK_MS
        self.completed: list[Savepoint] = []
        for left in savepoints_in(folder) if folder.is_dir() else ():
            if not left.is_complete:
                left.discard()  # a driver died while it was taken

    # ------------------------------------------------------------ what is asked for

    @property
    def wanted(self) -> WantedCheckpoints:
        """Checkpoints that somebody asks for at the same desk."""
        return self._desk.checkpoints

    def due(self, now: int) -> dict[str, object] | None:
        """The event that asks the coordinator for the next one, if somebody has asked us."""
        if self.stopping:
            return None
        if now - self._looked >= _LOOK_MS:
            self._looked = now
            self._desk.look()
        asked = self._desk.take()
        if asked is None:
            return None
        try:
            make_directory(asked.request.directory or self._folder)
        except StateError as refused:
            asked.answer(SavepointFailedError(str(refused)))
            return None
        self._asked.append(asked)
        event: dict[str, object] = {"kind": "trigger", "type": STOP if asked.request.stop else PLAIN}
        return {**event, "drain": True} if asked.request.drain else event

    @property
    def stopping(self) -> bool:
        """A stop has been asked for, and has not failed."""
        return any(one.request.stop for one in (*self._asked, *self._pending.values())) or bool(self._stopped)

    def is_stop(self, checkpoint: int) -> bool:
        """Whether the job ends with this one."""
        return self._stopping == checkpoint

    def has(self, checkpoint: int) -> bool:
        """Whether it is a savepoint of this job at all."""
        return checkpoint in self._orders

    # ------------------------------------------------------------ what the coordinator says of it

    def order(self, checkpoint: int, kind: str) -> SavepointOrder | None:
        """A task is triggered: what it is told beyond the id; None for a checkpoint."""
        if kind not in (PLAIN, STOP):
            return None
        if checkpoint not in self._orders:
            asked = next(one for one in self._asked if one.request.stop == (kind == STOP))
            self._asked.remove(asked)
            where = (asked.request.directory or self._folder) / savepoint_name(checkpoint, self._lineage)
            self._pending[checkpoint] = asked
            self._orders[checkpoint] = SavepointOrder(str(where), asked.request.stop, asked.request.drain)
            if asked.request.stop:
                self._stopping = checkpoint
            SavepointFolder(where).begin()
        return self._orders[checkpoint]

    def rejected(self, kind: str, reason: str) -> None:
        """A request has started nothing."""
        asked = next((one for one in self._asked if one.request.stop == (kind == STOP)), None)
        if asked is not None:
            self._asked.remove(asked)
            asked.answer(SavepointFailedError(f"the savepoint was rejected with {reason}; ask again"))

    def publish(self, checkpoint: int, attempt: int, handles: Iterable[StateHandle]) -> None:
        """Every task has handed in its part: it is complete from now on. Raises `StateError`s."""
        order = self._orders[checkpoint]
        self._storage.require_newest(f"publishing savepoint {checkpoint}", attempt)
        told = {
            "kind": STOP if order.stops else PLAIN,
            "drained": order.drains,
            "job": self._plan.name,
            "lineage": self._lineage,
        }
        folder = self._of(checkpoint)
        folder.publish(checkpoint, attempt, handles, self._plan.max_parallelism, told)
        try:
            self._storage.require_newest(f"publishing savepoint {checkpoint}", attempt)
        except SupersededError:
            folder.withdraw()
            raise

    def complete(self, checkpoint: int) -> None:
        """The coordinator has completed it."""
        asked = self._pending.pop(checkpoint)
        done = Savepoint(checkpoint, self._of(checkpoint).directory, stopped=asked.request.stop)
        self.completed.append(done)
        if asked.request.stop:
            self._stopped = (asked, done)
        else:
            asked.answer(done)

    def aborted(self, checkpoint: int, reason: str) -> None:
        """The coordinator has aborted it: what is there of it goes."""
        asked = self._pending.pop(checkpoint, None)
        if self._stopping == checkpoint:
            self._stopping = None
        if asked is not None:
            asked.answer(SavepointFailedError(f"savepoint {checkpoint} was aborted with {reason}; ask again"))
        self.clear(checkpoint)

    def clear(self, checkpoint: int) -> None:
        """Of one that was aborted nothing stays; a task may have written into it since."""
        folder = self._of(checkpoint)
        if not folder.is_complete:
            folder.discard()

    def discard_state(self, handle: StateHandle) -> None:
        """A task's part that nobody will use."""
        self._of(handle.checkpoint).discard_state(handle)

    # ------------------------------------------------------------ how the job goes on

    def attempt_failed(self, reason: str) -> None:
        """The attempt has failed: a stop whose savepoint is complete has stopped nothing."""
        self._stopping = None
        stopped, self._stopped = self._stopped, None
        if stopped is not None:
            asked, done = stopped
            asked.answer(
                SavepointFailedError(
                    f"savepoint {done.checkpoint} is complete in {done.folder}, but the job failed before "
                    f"it had ended, and goes on from its newest checkpoint: {reason}"
                )
            )

    def finished(self) -> None:
        """The job has ended: whoever has stopped it is told so, and nobody else gets a savepoint."""
        stopped, self._stopped = self._stopped, None
        if stopped is not None:
            asked, done = stopped
            asked.answer(done)
        self._desk.close("the job has ended, and a job that has ended gives no savepoint")

    def given_up(self, failed: Exception) -> None:
        """The job has failed for good, or another driver has taken it over."""
        self._desk.close(f"the job failed: {failed}", superseded=isinstance(failed, SupersededError))

    def _of(self, checkpoint: int) -> SavepointFolder:
        return SavepointFolder(Path(self._orders[checkpoint].folder))
