"""The snapshots of tasks as files below the location of a job's checkpoints or of a savepoint.

The name of a snapshot's file has the task and the attempt that wrote it. The file is complete or does not
exist, and its checksum detects changes. Files that several checkpoints use are in `shared`.
"""

import re
from collections.abc import Mapping
from typing import Final

from impl.state.checkpoint_metadata import CompletedCheckpoint, StateHandle
from impl.state.errors import SnapshotCorruptError, StateError
from impl.state.locations import Location, Where, location_of
from impl.state.sections import Sections, sections_of
from impl.state.shared import SharedFile, SharedFiles, require_size
from impl.state.snapshot import checksum, decode, verify

_TASK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_OPEN_METADATA: Final = re.compile(r"\._metadata\.(?:([0-9]{1,18})-)?[0-9a-f]+\.tmp")
"""The temporary name of a manifest. In files of an earlier release, it does not contain the attempt."""
_STATE: Final = re.compile(r"\.?[A-Za-z0-9][A-Za-z0-9_-]*\.([0-9]{1,18})\.state((\.[0-9a-f]{8})?\.tmp)?")


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
            f"the name of a task has letters, digits, - and _, got {task!r}; rename it, because its files "
            "have that name"
        )
    digest = checksum(snapshot).hex()
    return StateHandle(task, checkpoint, attempt, file, len(snapshot), digest, offset, shared)


class SnapshotFiles:
    """The snapshots below a location. Raises StateError for a URI of no known store."""

    def __init__(self, where: Where | Location) -> None:
        self._location = location_of(where)
        self.shared = SharedFiles(self._location)

    @property
    def location(self) -> Location:
        """The location of the files: a folder, or a prefix of an object store."""
        return self._location

    def _write(
        self,
        folder: str,
        checkpoint: int,
        task: str,
        attempt: int,
        snapshot: bytes,
        offset: int | None,
        shared: tuple[SharedFile, ...],
    ) -> StateHandle:
        """Write one task's encoded snapshot into `folder`. The publication makes its name durable."""
        file = f"{folder}/{task}.{attempt}.state".lstrip("/")
        handle = handle_of(file, checkpoint, task, attempt, snapshot, offset, shared)
        self._location.write_unsettled(file, snapshot)
        return handle

    def read(self, handle: StateHandle) -> object:
        """The state to which a handle refers. Raises SnapshotCorruptError if it is missing or was altered."""
        return decode(self.content(handle), handle.file)

    def open(self, handle: StateHandle) -> Sections:
        """The sections of a task's snapshot. The use of a section reads and verifies it.

        Raises SnapshotCorruptError if the file is missing or its index was altered.
        """
        if handle.content is not None:
            return sections_of(handle.content, handle.file)
        require_size(handle.file, handle.size, self._location.size(handle.file))
        return Sections(handle.file, lambda at, length: self._location.read_range(handle.file, at, length))

    def discard_state(self, handle: StateHandle) -> None:
        """Delete one task's snapshot, if it exists."""
        if handle.content is None:
            self._location.remove(handle.file)

    def content(self, handle: StateHandle) -> bytes:
        """The encoded snapshot of a task. Raises SnapshotCorruptError if it is missing or was altered."""
        if handle.content is None:
            require_size(handle.file, handle.size, self._location.size(handle.file))
            data = self._location.read(handle.file)
        else:
            data = handle.content
        verify(data, handle.file)
        if checksum(data).hex() != handle.checksum:
            raise SnapshotCorruptError(handle.file, f"checksum {handle.checksum}", checksum(data).hex())
        return data

    def _verified_files(self, completed: CompletedCheckpoint) -> CompletedCheckpoint:
        """Verify all files of `completed`; returns it. Raises SnapshotCorruptError if a file was altered."""
        for handle in completed.handles.values():
            self.content(handle)
            for one in handle.shared:
                self.shared.verify(one)
        return completed

    def _require_files(self, completed: CompletedCheckpoint) -> None:
        """Raise SnapshotCorruptError unless all files exist and have the recorded sizes."""
        listed: dict[str, Mapping[str, int]] = {}
        for handle in completed.handles.values():
            own = () if handle.content is not None else (handle,)
            for one in (*own, *handle.shared):
                folder, _, name = one.file.rpartition("/")
                if folder not in listed:
                    listed[folder] = self._location.sizes(folder)
                require_size(one.file, one.size, listed[folder].get(name))


def is_left_over(name: str, attempt: int) -> bool:
    """Whether a file is a snapshot or a temporary manifest that an attempt before `attempt` has left."""
    temporary = _OPEN_METADATA.fullmatch(name)
    if temporary is not None:
        return temporary.group(1) is None or int(temporary.group(1)) < attempt
    match = _STATE.fullmatch(name)
    return match is not None and int(match.group(1)) < attempt
