"""Savepoints: checkpoints that a user requests and keeps, each in a folder of its own.

    savepoint-7-3f2a91/_metadata            the manifest: savepoint 7 is complete, with the files listed here
    savepoint-7-3f2a91/count-0.3.state      the snapshot of task count-0, written by attempt 3
    savepoint-7-3f2a91/shared/count-0.3...  its own copies of the files of state in RocksDB

A savepoint refers to no file outside of its folder, so the folder can be copied and moved. The runtime never
deletes or changes a complete savepoint (SUB-09). A job that begins from a savepoint copies its files, as hard
links where possible, into its own checkpoint folder, as a completed checkpoint under the savepoint's id. This
checkpoint is restored, subsumed and deleted like any other.
"""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from impl.state import durable
from impl.state.errors import CheckpointConflictError, NoSavepointError, StateError, storage_errors
from impl.state.filesystem import METADATA, FileSystemStorage
from impl.state.shared import FOLDER, SharedFile
from impl.state.snapshot_files import SnapshotFiles
from impl.state.storage import CompletedCheckpoint, StateHandle

_NAME: Final = "savepoint-"
_DIGITS: Final = 19
"""More digits than an id has."""


class Origin(NamedTuple):
    """The savepoint with which a checkpoint folder begins, and the lineage of its job."""

    lineage: str
    checkpoint: int


class SavepointFolder(SnapshotFiles):
    """The files of one savepoint, complete or not."""

    @property
    def is_complete(self) -> bool:
        """Whether the savepoint is complete."""
        return (self._directory / METADATA).is_file()

    def begin(self) -> None:
        """Create the folder. Raises CheckpointConflictError if it exists and is not empty."""
        durable.make_directory(self._directory)
        if any(self._directory.iterdir()):
            raise CheckpointConflictError(
                f"{self._directory}: expected an empty folder for the savepoint, got one with files; "
                "name another"
            )

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
        """Write one task's encoded snapshot. Raises StorageError if the folder was deleted."""
        return self._write(self._directory, checkpoint, task, attempt, snapshot, offset, shared)

    def publish(
        self,
        checkpoint: int,
        attempt: int,
        handles: Iterable[StateHandle],
        max_parallelism: int,
        origin: Mapping[str, Any],
    ) -> CompletedCheckpoint:
        """Complete the savepoint by the link of its `_metadata`. `origin`: its job and its type.

        Raises SnapshotCorruptError if a file is missing, CheckpointConflictError if one is complete there.
        """
        by_task = {one.task: one for one in handles}
        completed = CompletedCheckpoint(checkpoint, attempt, by_task, max_parallelism, dict(origin))
        self._require_files(completed)
        path = self._directory / METADATA
        if not durable.publish_file(path, completed.encode()):
            raise CheckpointConflictError(
                f"{path}: expected no savepoint, got one that is complete; name another folder"
            )
        return completed

    def load(self) -> CompletedCheckpoint:
        """The savepoint with every file verified.

        Raises NoSavepointError if there is none, SnapshotCorruptError if a file was altered.
        """
        path = self._directory / METADATA
        if not path.is_file():
            found = "a folder without one" if self._directory.is_dir() else "no folder"
            raise NoSavepointError(
                f"{self._directory}: expected a savepoint, which has a file {METADATA}, got {found}; "
                "name the folder of a savepoint that is complete"
            )
        completed = CompletedCheckpoint.decode(durable.read_file(path), str(path))
        if completed.savepoint is None:
            raise NoSavepointError(
                f"{self._directory}: expected a savepoint, got a checkpoint of a job that owns it; resume "
                "that job, or take a savepoint of it"
            )
        return self._verified_files(completed)

    def withdraw(self) -> None:
        """Delete a savepoint that its user has not received, because its attempt was superseded."""
        durable.remove_file(self._directory / METADATA)
        self.discard()

    def discard(self) -> None:
        """Delete an incomplete savepoint. Raises StateError if it is complete."""
        if self.is_complete:
            raise StateError(
                f"{self._directory}: expected an incomplete savepoint, got a complete one, which only its "
                "user deletes; remove the folder by hand"
            )
        shared = self._directory / FOLDER
        for folder in (shared, self._directory):
            for path in tuple(folder.iterdir()) if folder.is_dir() else ():
                if path.suffix in (".state", durable.TEMPORARY) or folder == shared:
                    durable.remove_file(path)
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def savepoint_name(checkpoint: int, lineage: str) -> str:
    """The name of the folder, unique to the job and the id."""
    return f"{_NAME}{checkpoint}-{lineage[:6]}"


def savepoints_in(folder: Path) -> tuple[SavepointFolder, ...]:
    """The savepoints in a folder, complete or not, ascending by id."""
    found: list[tuple[int, SavepointFolder]] = []
    for path in folder.glob(f"{_NAME}*"):
        number = path.name.removeprefix(_NAME).partition("-")[0]
        if number.isascii() and number.isdigit() and len(number) < _DIGITS and path.is_dir():
            found.append((int(number), SavepointFolder(path)))
    return tuple(one for _, one in sorted(found, key=lambda pair: (pair[0], str(pair[1].directory))))


def begin_from(
    storage: FileSystemStorage, savepoint: SavepointFolder, owner: str = ""
) -> CompletedCheckpoint:
    """Let the next attempt in `storage` start from `savepoint`; returns its copy as a checkpoint.

    Ids of attempts continue above the savepoint's. Checkpoints in the folder beyond the savepoint belong to a
    dead attempt.
    """
    there = savepoint.load()
    described = there.savepoint or {}
    attempts = storage.directory / "attempts"
    durable.publish_file(attempts / str(there.attempt), owner.encode())
    attempt = storage.new_attempt(owner=owner)
    storage.require_newest("beginning from the savepoint", attempt)
    storage.discard(there.checkpoint)  # an earlier driver may have copied a part
    storage.reserve(there.checkpoint)
    handles: list[StateHandle] = []
    for handle in there.handles.values():
        here = f"chk-{there.checkpoint}/{handle.file}"
        _link_or_copy(savepoint.directory / handle.file, storage.directory / here)
        handles.append(replace(handle, file=here))
        for one in handle.shared:
            durable.make_directory(storage.directory / FOLDER)
            _link_or_copy(savepoint.directory / one.file, storage.directory / one.file)
    durable.sync(storage.directory)
    completed = storage.publish(there.checkpoint, attempt, handles, there.max_parallelism)
    origin = {"lineage": str(described["lineage"]), "checkpoint": there.checkpoint}
    durable.write_file(attempts / "origin", json.dumps(origin).encode())
    storage.record_restored(attempt, there.checkpoint)
    return completed


def origin_of(storage: FileSystemStorage) -> Origin | None:
    """The savepoint with which the folder begins; None for a job that began without one."""
    path = storage.directory / "attempts" / "origin"
    if not path.is_file():
        return None
    try:
        origin = Origin(**json.loads(durable.read_file(path)))
        if type(origin.lineage) is not str or type(origin.checkpoint) is not int:
            raise TypeError(origin)
        return origin
    except (ValueError, TypeError, RecursionError) as cause:
        raise StateError(
            f"{path}: expected the lineage and the id of a savepoint, got {durable.read_file(path)[:40]!r}; "
            "begin from the savepoint again, in another folder"
        ) from cause


def _link_or_copy(source: Path, target: Path) -> None:
    """Give the file another name; on another file system copy it."""
    durable.remove_file(target)
    with storage_errors("copying", target):
        try:
            os.link(source, target)
        except OSError:
            shutil.copyfile(source, target)
            durable.sync(target)
    durable.sync(target.parent)
