"""The snapshots of tasks as files below one directory, that of a job's checkpoints or that of a savepoint.

A snapshot is named by its task and the attempt that wrote it, lies there whole or not at all, and is told
from an altered one by its checksum. Files that it shares with others lie in `shared`.
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
    """The handle of a snapshot in `file`. Raises `StateError` for a task whose name is none for files."""
    if not _TASK.fullmatch(task):
        raise StateError(
            f"a task is named by letters, digits, - and _, came {task!r}; its files bear that name"
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
        """Where they lie."""
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
        """Write one task's encoded snapshot into `folder`, which is there; a publication syncs its name."""
        path = folder / f"{task}.{attempt}.state"
        file = str(path.relative_to(self._directory))
        handle = handle_of(file, checkpoint, task, attempt, snapshot, offset, shared)
        place_file(path, snapshot)
        return handle

    def read(self, handle: StateHandle) -> object:
        """The state behind a handle; `SnapshotCorruptError` if it is not as it was written."""
        return decode(self._verified(handle), handle.file)

    def open(self, handle: StateHandle) -> Sections:
        """The sections behind a task's handle, each read and checked when it is asked for."""
        if handle.content is not None:
            return sections_of(handle.content, handle.file)
        self._require_file(handle)
        path = self._directory / handle.file
        return Sections(handle.file, lambda at, length: read_part(path, at, length))

    def discard_state(self, handle: StateHandle) -> None:
        """Delete one task's snapshot; one that is not there is fine."""
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
        """The same, every file of it read and compared."""
        for handle in completed.handles.values():
            self._verified(handle)
            for one in handle.shared:
                self.shared.verify(one)
        return completed

    def _require_files(self, completed: CompletedCheckpoint) -> None:
        """Raise `SnapshotCorruptError` unless all its files are there, each of its size."""
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
