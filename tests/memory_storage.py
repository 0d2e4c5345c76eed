"""A checkpoint storage in memory for tests, with the contract of `impl.state.CheckpointStorage`.

It stores snapshots encoded, so a restore gets a copy of the state.
"""

from collections.abc import Iterable, Mapping

from impl.state.checkpoint_metadata import (
    CompletedCheckpoint,
    LatestCompleted,
    Refused,
    StateHandle,
    why_dead,
)
from impl.state.errors import CheckpointConflictError, SnapshotCorruptError, SupersededError
from impl.state.sections import Sections, sections_of
from impl.state.shared import SharedFile
from impl.state.snapshot import checksum, decode, verify


class MemoryStorage:
    """The storage of one job's checkpoints."""

    def __init__(self) -> None:
        self._newest_attempt = 0
        self._starts: dict[int, int | None] = {}
        self._highest_id = 0
        self._files: dict[str, tuple[StateHandle, bytes]] = {}
        self._completed: dict[int, CompletedCheckpoint] = {}

    def new_attempt(self, after: int | None = None) -> int:
        """Draws the number of a new attempt, from 1 on.

        If the driver has an attempt, the new number follows it directly.
        """
        if after is not None:
            self.require_newest("drawing a new attempt", after)
        self._newest_attempt += 1
        return self._newest_attempt

    def record_restored(self, attempt: int, checkpoint: int | None) -> None:
        """Records the checkpoint from which an attempt starts.

        Later completions of older attempts are refused.
        """
        self.require_newest("starting", attempt)
        self._starts[attempt] = checkpoint

    @property
    def starts(self) -> Mapping[int, int | None]:
        """The checkpoint from which each attempt started."""
        return dict(self._starts)

    def require_newest(self, doing: str, attempt: int) -> None:
        """Raises `SupersededError` if `attempt` is not the newest."""
        if attempt < self._newest_attempt:
            raise SupersededError.of(doing, attempt, self._newest_attempt, "memory")

    def next_checkpoint_id(self) -> int:
        """An id above every checkpoint that was begun in this storage."""
        return self._highest_id + 1

    def reserve(self, checkpoint: int) -> bool:
        """Reserves an id. Returns False if it is reserved already."""
        free = checkpoint > self._highest_id
        self._highest_id = max(self._highest_id, checkpoint)
        return free

    def write(
        self,
        checkpoint: int,
        task: str,
        attempt: int,
        snapshot: bytes,
        *,
        offset: int | None = None,
        shared: tuple[SharedFile, ...] = (),
    ) -> StateHandle:
        """Stores one task's encoded snapshot."""
        file = f"chk-{checkpoint}/{task}.{attempt}.state"
        digest = checksum(snapshot).hex()
        handle = StateHandle(task, checkpoint, attempt, file, len(snapshot), digest, offset, shared)
        self._highest_id = max(self._highest_id, checkpoint)
        self._files[file] = (handle, snapshot)
        return handle

    def read(self, handle: StateHandle) -> object:
        """Returns the state of a handle. Raises `SnapshotCorruptError` if it does not exist."""
        return decode(self._content(handle), handle.file)

    def open(self, handle: StateHandle) -> Sections:
        """Returns the sections of a task's handle. Raises `SnapshotCorruptError` if they do not exist."""
        return sections_of(self._content(handle), handle.file)

    def _content(self, handle: StateHandle) -> bytes:
        if handle.file not in self._files:
            raise SnapshotCorruptError(handle.file, f"a snapshot of {handle.size} bytes", "none")
        return self._files[handle.file][1]

    def publish(
        self,
        checkpoint: int,
        attempt: int,
        handles: Iterable[StateHandle],
        max_parallelism: int | None = None,
    ) -> CompletedCheckpoint:
        """Completes a checkpoint. A repetition with the same content has no effect."""
        self.require_newest(f"publishing checkpoint {checkpoint}", attempt)
        shown = {one.task: one for one in handles}
        completed = CompletedCheckpoint(checkpoint, attempt, shown, max_parallelism)
        for handle in completed.handles.values():
            self._content(handle)
        if self._completed.setdefault(checkpoint, completed) != completed:
            raise CheckpointConflictError(
                f"checkpoint {checkpoint} is complete already with other content; "
                "give every checkpoint an id of its own, see next_checkpoint_id"
            )
        self._highest_id = max(self._highest_id, checkpoint)
        return completed

    def completed_ids(self) -> tuple[int, ...]:
        """The ids of all published checkpoints, in ascending order."""
        return tuple(sorted(self._completed))

    def load(self, checkpoint: int) -> CompletedCheckpoint:
        """A published checkpoint; reads each of its snapshots once."""
        if checkpoint not in self._completed:
            raise FileNotFoundError(f"checkpoint {checkpoint} is not complete; restore another")
        completed = self._completed[checkpoint]
        for handle in completed.handles.values():
            verify(self._content(handle), handle.file)
        return completed

    def latest_completed(self) -> LatestCompleted:
        """The newest published checkpoint that this line of attempts may restore (ONCE-04)."""
        refused: list[Refused] = []
        for checkpoint in reversed(self.completed_ids()):
            try:
                completed = self.load(checkpoint)
            except SnapshotCorruptError as damage:
                refused.append(Refused(checkpoint, str(damage)))
                continue
            reason = why_dead(completed, self._starts)
            if reason is None:
                return LatestCompleted(completed, tuple(refused))
            refused.append(Refused(checkpoint, reason))
        return LatestCompleted(None, tuple(refused))

    def discard(self, checkpoint: int) -> None:
        """Deletes a checkpoint, complete or not."""
        self._completed.pop(checkpoint, None)
        self._drop([file for file, (handle, _) in self._files.items() if handle.checkpoint == checkpoint])

    def discard_state(self, handle: StateHandle) -> None:
        """Deletes one task's snapshot."""
        self._files.pop(handle.file, None)

    def sweep(self, attempt: int) -> tuple[str, ...]:
        """Deletes unpublished data of attempts before `attempt`. Returns the names of the data."""
        listed = {one.file for completed in self._completed.values() for one in completed.handles.values()}
        left = [
            file
            for file, (handle, _) in self._files.items()
            if file not in listed and handle.attempt < attempt
        ]
        self._drop(left)
        return tuple(left)

    def _drop(self, files: Iterable[str]) -> None:
        for file in files:
            del self._files[file]
