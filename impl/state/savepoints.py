"""Savepoints: checkpoints that somebody asked for, each in a folder of its own, which is its user's.

    savepoint-7-3f2a91/_metadata            savepoint 7 is complete, and consists of the files listed here
    savepoint-7-3f2a91/count-0.3.state      the snapshot of task count-0, written by attempt 3
    savepoint-7-3f2a91/shared/count-0.3...  what state in RocksDB has beside it: copies of its own

A savepoint refers to nothing outside of its folder, so that it can be copied and moved, and outlives its job.
Nothing of ours ever deletes or changes one that is complete (SUB-09). A job begins from one by taking copies,
hard links where the file system has them, into its own checkpoint folder, as a completed checkpoint under
the savepoint's id: from then on it is restored, subsumed and deleted like any other.
"""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from impl.state.durable import (
    TEMPORARY,
    make_directory,
    publish_file,
    read_file,
    remove_file,
    sync_directory,
    write_file,
)
from impl.state.errors import CheckpointConflictError, NoSavepointError, StateError, StorageError
from impl.state.filesystem import METADATA, FileSystemStorage
from impl.state.shared import FOLDER, SharedFile
from impl.state.snapshot_files import SnapshotFiles
from impl.state.storage import CompletedCheckpoint, StateHandle

_NAME: Final = "savepoint-"
_DIGITS: Final = 19
"""An id has fewer."""


class Origin(NamedTuple):
    """Which savepoint a checkpoint folder begins with, and the lineage of the runs that took it."""

    lineage: str
    checkpoint: int


class SavepointFolder(SnapshotFiles):
    """The files of one savepoint, complete or not."""

    @property
    def is_complete(self) -> bool:
        """Whether it is a savepoint at all."""
        return (self._directory / METADATA).is_file()

    def begin(self) -> None:
        """Make the folder. Raises `CheckpointConflictError` if it is there and holds anything."""
        make_directory(self._directory)
        if any(self._directory.iterdir()):
            raise CheckpointConflictError(
                f"{self._directory}: a savepoint gets a folder of its own, and this one holds something; "
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
        """Write one task's encoded snapshot; a folder that is gone stays gone."""
        return self._write(self._directory, checkpoint, task, attempt, snapshot, offset, shared)

    def publish(
        self,
        checkpoint: int,
        attempt: int,
        handles: Iterable[StateHandle],
        max_parallelism: int,
        told: Mapping[str, Any],
    ) -> CompletedCheckpoint:
        """Complete it by its `_metadata`. `told`: whose savepoint it is, and of which kind."""
        by_task = {one.task: one for one in handles}
        completed = CompletedCheckpoint(checkpoint, attempt, by_task, max_parallelism, dict(told))
        self._require_files(completed)
        path = self._directory / METADATA
        if not publish_file(path, completed.encode()):
            raise CheckpointConflictError(f"{path}: a savepoint is complete there; name another folder")
        return completed

    def load(self) -> CompletedCheckpoint:
        """The savepoint, every file of it read and compared.

        Raises `NoSavepointError` where there is none, `SnapshotCorruptError` if it was altered.
        """
        path = self._directory / METADATA
        if not path.is_file():
            found = "a folder without one" if self._directory.is_dir() else "no folder"
            raise NoSavepointError(
                f"{self._directory}: expected a savepoint, which has a file {METADATA}, came {found}; "
                "name the folder of a savepoint that is complete"
            )
        completed = CompletedCheckpoint.decode(read_file(path), str(path))
        if completed.savepoint is None:
            raise NoSavepointError(
                f"{self._directory}: expected a savepoint, came a checkpoint of a job that owns it; resume "
                "that job, or take a savepoint of it"
            )
        return self._verified_files(completed)

    def withdraw(self) -> None:
        """Delete one that nobody has got yet: its attempt was superseded as it was published."""
        remove_file(self._directory / METADATA)
        self.discard()

    def discard(self) -> None:
        """Delete one that was given up; `StateError` for a complete one, which is its user's."""
        if self.is_complete:
            raise StateError(f"{self._directory}: a complete savepoint is its user's, and is not deleted")
        shared = self._directory / FOLDER
        for folder in (shared, self._directory):
            for path in tuple(folder.iterdir()) if folder.is_dir() else ():
                if path.suffix in (".state", TEMPORARY) or folder == shared:
                    remove_file(path)
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def savepoint_name(checkpoint: int, lineage: str) -> str:
    """The folder's name: no two jobs choose the same."""
    return f"{_NAME}{checkpoint}-{lineage[:6]}"


def savepoints_in(folder: Path) -> tuple[SavepointFolder, ...]:
    """The savepoints in a folder, complete or not, by their ids."""
    found: list[tuple[int, SavepointFolder]] = []
    for path in folder.glob(f"{_NAME}*"):
        number = path.name.removeprefix(_NAME).partition("-")[0]
        if number.isascii() and number.isdigit() and len(number) < _DIGITS and path.is_dir():
            found.append((int(number), SavepointFolder(path)))
    return tuple(one for _, one in sorted(found, key=lambda pair: (pair[0], str(pair[1].directory))))


def begin_from(storage: FileSystemStorage, savepoint: SavepointFolder) -> CompletedCheckpoint:
    """Let the next attempt in `storage` start from `savepoint`; answers the checkpoint that stands for it.

    Ids of attempts go on above the savepoint's, and whatever the folder holds beyond it is of a dead line.
    """
    there = savepoint.load()
    told = there.savepoint or {}
    attempts = storage.directory / "attempts"
    publish_file(attempts / str(there.attempt), b"")
    attempt = storage.new_attempt()
    storage.discard(there.checkpoint)  # brought in before, perhaps by a driver that died of it
    storage.reserve(there.checkpoint)
    handles: list[StateHandle] = []
    for handle in there.handles.values():
        here = f"chk-{there.checkpoint}/{handle.file}"
        _bring(savepoint.directory / handle.file, storage.directory / here)
        handles.append(replace(handle, file=here))
        for one in handle.shared:
            make_directory(storage.directory / FOLDER)
            _bring(savepoint.directory / one.file, storage.directory / one.file)
    sync_directory(storage.directory)
    completed = storage.publish(there.checkpoint, attempt, handles, there.max_parallelism)
    origin = {"lineage": str(told["lineage"]), "checkpoint": there.checkpoint}
    write_file(attempts / "origin", json.dumps(origin).encode())
    storage.record_restored(attempt, there.checkpoint)
    return completed


def origin_of(storage: FileSystemStorage) -> Origin | None:
    """The savepoint that the folder begins with; None for a folder that begins by itself."""
    path = storage.directory / "attempts" / "origin"
    if not path.is_file():
        return None
    try:
        origin = Origin(**json.loads(read_file(path)))
        if type(origin.lineage) is not str or type(origin.checkpoint) is not int:
            raise TypeError(origin)
        return origin
    except (ValueError, TypeError, RecursionError) as cause:
        raise StateError(
            f"{path}: expected the lineage and the id of a savepoint, came {read_file(path)[:40]!r}; begin "
            "from the savepoint again, in another folder"
        ) from cause


def _bring(source: Path, target: Path) -> None:
    """The same file under another name; a copy on another file system."""
    remove_file(target)
    try:
        try:
            os.link(source, target)
        except OSError:
            shutil.copyfile(source, target)
            with target.open("rb") as copied:
                os.fsync(copied.fileno())
    except OSError as cause:
        raise StorageError.of("bringing in", target, cause) from cause
    sync_directory(target.parent)
