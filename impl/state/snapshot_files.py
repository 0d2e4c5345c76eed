"""The snapshots of tasks as files below the directory of a job's checkpoints or of a savepoint.

The name of a snapshot has its task and the attempt that wrote it. It is there as a whole or not at all, and
its checksum detects changes. Files that several checkpoints use are in `shared`.
"""

import re
from pathlib import Path
from typing import Final

from impl.state.durable import place_file, read_file, read_part, remove_file
from impl.state.errors import SnapshotCorruptError, StateError
from impl.state.sections import Sections, sections_of
from impl.state.shared import SharedFile, SharedFiles
from impl.state.snapshot import checksum, decode, verify
from impl.state.storage import CompletedCheckpoint, StateHandle

_TASK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def handle_of(
    file: str,
    checkpoint: int,
    task: str,
    attempt: int,
    snapshot: bytes,
    offset: int | None,
    shared: tuple[SharedFile, ...],
) -> StateHandle:
    """The handle of a snapshot in `file`. Raises StateError if the name of the task cannot be a file name."""
    if not _TASK.fullmatch(task):
        raise StateError(
            f"the name of a task has letters, digits, - and _, got {task!r}; rename it, its files have "
            "that name"
        )
    digest = checksum(snapshot).hex()
    return StateHandle(task, checkpoint, attempt, file, len(snapshot), digest, offset, shared)


class SnapshotFiles:
    """The snapshots below `directory`."""

    def __init__(self, directory: Path | str) -> None:
        self._directory = Path(directory)
        self.shared = SharedFiles(self._directory)

    @property
    def directory(self) -> Path:
        """The directory."""
        return self._directory

    def _write(
        self,
        folder: Path,
        checkpoint: int,
        task: str,
        attempt: int,
        snapshot: bytes,
        offset: int | None,
        shared: tuple[SharedFile, ...],
    ) -> StateHandle:
        """Write one task's encoded snapshot into `folder`, which exists; the publication syncs its name."""
        path = folder / f"{task}.{attempt}.state"
        file = str(path.relative_to(self._directory))
        handle = handle_of(file, checkpoint, task, attempt, snapshot, offset, shared)
        place_file(path, snapshot)
        return handle

    def read(self, handle: StateHandle) -> object:
        """The state of a handle. Raises SnapshotCorruptError if it is missing or was altered."""
        return decode(self._verified(handle), handle.file)

    def open(self, handle: StateHandle) -> Sections:
        """The sections of a task's handle; each is read and verified at its use.

        Raises SnapshotCorruptError if the file is missing or its index was altered.
        """
        if handle.content is not None:
            return sections_of(handle.content, handle.file)
        self._require_file(handle)
        path = self._directory / handle.file
        return Sections(handle.file, lambda at, length: read_part(path, at, length))

    def discard_state(self, handle: StateHandle) -> None:
        """Delete one task's snapshot, if it exists."""
        if handle.content is None:
            remove_file(self._directory / handle.file)

    def _verified(self, handle: StateHandle) -> bytes:
        self._require_file(handle)
        data = read_file(self._directory / handle.file) if handle.content is None else handle.content
        verify(data, handle.file)
        if checksum(data).hex() != handle.checksum:
            raise SnapshotCorruptError(handle.file, f"checksum {handle.checksum}", checksum(data).hex())
        return data

    def _verified_files(self, completed: CompletedCheckpoint) -> CompletedCheckpoint:
        """`completed`, after every file was verified. Raises SnapshotCorruptError if one was altered."""
        for handle in completed.handles.values():
            self._verified(handle)
            for one in handle.shared:
                self.shared.verify(one)
        return completed

    def _require_files(self, completed: CompletedCheckpoint) -> None:
        """Raise SnapshotCorruptError unless all files exist with their sizes."""
        for handle in completed.handles.values():
            self._require_file(handle)
            for one in handle.shared:
                self.shared.require(one)

    def _require_file(self, handle: StateHandle) -> None:
        if handle.content is not None:
            return
        path = self._directory / handle.file
        size = f"{path.stat().st_size} bytes" if path.is_file() else "no file"
        if size != f"{handle.size} bytes":
            raise SnapshotCorruptError(handle.file, f"a file of {handle.size} bytes", size)
