"""Checkpoints in the memory of the driver: Flink's `JobManagerCheckpointStorage`.

A worker sends each snapshot with its acknowledgement, and the driver stores it in the checkpoint's
`_metadata`. These are objects in the driver's memory (`locations.memory_client`), with the names and rules of
`checkpoint_storage`. A worker cannot read them. To restore, it gets its snapshots with its deployment. When
the driver ends, all checkpoints are lost. Savepoints have files, in the folder that their request names.
"""

from impl.state.checkpoint_metadata import MEMORY_BYTES, StateHandle
from impl.state.checkpoint_storage import CheckpointStorage
from impl.state.errors import StateTooLargeError
from impl.state.locations import Where, is_in_memory
from impl.state.shared import SharedFile


class CheckpointsInMemory(CheckpointStorage):
    """The checkpoints of a job in memory. On a worker, it writes snapshots to send to the driver."""

    def __init__(self, where: Where) -> None:
        super().__init__(where, MEMORY_BYTES)

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
        """A handle that contains the snapshot. Raises StateTooLargeError if it exceeds MEMORY_BYTES."""
        if len(snapshot) > MEMORY_BYTES:
            raise StateTooLargeError(
                f"the snapshot of {task} for checkpoint {checkpoint} has {len(snapshot):,} bytes, and the "
                f"memory of the driver takes at most {MEMORY_BYTES:,} bytes of each task; set "
                "checkpoint_storage to 'filesystem', or give the stage more subtasks"
            )
        return super().write(checkpoint, task, attempt, snapshot, offset=offset, shared=shared)


def checkpoints_at(where: Where, inline_bytes: int = 0) -> CheckpointStorage:
    """The checkpoints of a job: in memory, in a folder, or in an object store.

    `inline_bytes`: a snapshot of at most this size has no file. It has no effect in memory.
    """
    return CheckpointsInMemory(where) if is_in_memory(where) else CheckpointStorage(where, inline_bytes)
