"""Savepoints: checkpoints that a user requests and keeps, each in a folder of its own.

    savepoint-7-3f2a91/_metadata            the manifest: savepoint 7 is complete, with the files listed here
    savepoint-7-3f2a91/count-0.3.state      the snapshot of task count-0, written by attempt 3
    savepoint-7-3f2a91/shared/count-0.3...  its own copies of the files of state in RocksDB

A savepoint refers to no file outside of its folder, so the folder can be copied and moved. The runtime never
deletes or changes a complete savepoint (SUB-09). A job that begins from a savepoint copies its files, as hard
links where possible, into its own checkpoint folder, as a completed checkpoint under the savepoint's id. This
checkpoint is restored, subsumed and deleted like any other. Each of the two may be in an object store.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from impl.state.checkpoints import ATTEMPTS, METADATA, CheckpointStorage
from impl.state.durable import TEMPORARY
from impl.state.errors import CheckpointConflictError, NoSavepointError, StateError
from impl.state.locations import Where, location_of
from impl.state.shared import FOLDER, SharedFile
from impl.state.snapshot_files import SnapshotFiles
from impl.state.storage import CompletedCheckpoint, StateHandle

_NAME: Final = "savepoint-"
_ORIGIN: Final = f"{ATTEMPTS}/origin"
_DIGITS: Final = 19
"""More digits than an id has."""


class Origin(NamedTuple):
    """The savepoint with which a checkpoint folder begins, and the lineage of its job."""

    lineage: str
    checkpoint: int


class SavepointFolder(SnapshotFiles):
    """The files of one savepoint, complete or not."""

    @property
    def where(self) -> Where:
        """The folder, or its URI."""
        return self._location.where

    @property
    def is_complete(self) -> bool:
        """Whether the savepoint is complete."""
        return self._location.size(METADATA) is not None

    def begin(self) -> None:
        """Create the folder. Raises CheckpointConflictError if it exists and is not empty."""
        self._location.make_folder()
        if self._location.sizes() or self._location.folders():
            raise CheckpointConflictError(
                f"{self._location}: expected an empty folder for the savepoint, got one with files; "
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
        return self._write("", checkpoint, task, attempt, snapshot, offset, shared)

    def publish(
        self,
        checkpoint: int,
        attempt: int,
        handles: Iterable[StateHandle],
        max_parallelism: int,
        origin: Mapping[str, Any],
    ) -> CompletedCheckpoint:
        """Complete the savepoint by publishing its `_metadata`. `origin`: its job and its type.

        Raises SnapshotCorruptError if a file is missing, CheckpointConflictError if one is complete there.
        """
        by_task = {one.task: one for one in handles}
        completed = CompletedCheckpoint(checkpoint, attempt, by_task, max_parallelism, dict(origin))
        self._require_files(completed)
        if not self._location.publish(METADATA, completed.encode()):
            raise CheckpointConflictError(
                f"{self._location}/{METADATA}: expected no savepoint, got one that is complete; name "
                "another folder"
            )
        return completed

    def load(self) -> CompletedCheckpoint:
        """The savepoint with every file verified.

        Raises NoSavepointError if there is none, SnapshotCorruptError if a file was altered.
        """
        if not self.is_complete:
            any_files = self._location.sizes() or self._location.folders()
            found = "a folder without one" if any_files else "no files"
            raise NoSavepointError(
                f"{self._location}: expected a savepoint, which has a file {METADATA}, got {found}; "
                "name the folder of a savepoint that is complete"
            )
        content = self._location.read(METADATA)
        completed = CompletedCheckpoint.decode(content, f"{self._location}/{METADATA}")
        if completed.savepoint is None:
            raise NoSavepointError(
                f"{self._location}: expected a savepoint, got a checkpoint of a job that owns it; resume "
                "that job, or take a savepoint of it"
            )
        return self._verified_files(completed)

    def withdraw(self) -> None:
        """Delete a savepoint that its user has not received, because its attempt was superseded."""
        self._location.remove(METADATA)
        self.discard()

    def discard(self) -> None:
        """Delete an incomplete savepoint. Raises StateError if it is complete."""
        if self.is_complete:
            raise StateError(
                f"{self._location}: expected an incomplete savepoint, got a complete one, which only its "
                "user deletes; remove the folder by hand"
            )
        for name in self._location.sizes(FOLDER):
            self._location.remove(f"{FOLDER}/{name}")
        self._location.remove_folder(FOLDER)
        for name in self._location.sizes():
            if name.endswith((".state", TEMPORARY)):
                self._location.remove(name)
        self._location.remove_folder()


def savepoint_name(checkpoint: int, lineage: str) -> str:
    """The name of the folder, unique to the job and the id."""
    return f"{_NAME}{checkpoint}-{lineage[:6]}"


def savepoints_in(folder: Where) -> tuple[SavepointFolder, ...]:
    """The savepoints in a folder, complete or not, ascending by id."""
    location = location_of(folder)
    found: list[tuple[int, str]] = []
    for name in location.folders():
        number = name.removeprefix(_NAME).partition("-")[0]
        if name.startswith(_NAME) and number.isascii() and number.isdigit() and len(number) < _DIGITS:
            found.append((int(number), name))
    return tuple(SavepointFolder(location.below(name)) for _, name in sorted(found))


def begin_from(
    storage: CheckpointStorage, savepoint: SavepointFolder, owner: str = ""
) -> CompletedCheckpoint:
    """Let the next attempt in `storage` start from `savepoint`; returns its copy as a checkpoint.

    Ids of attempts continue above the savepoint's. Checkpoints in the folder beyond the savepoint belong to a
    dead attempt.
    """
    there = savepoint.load()
    described = there.savepoint or {}
    location = storage.location
    location.publish(f"{ATTEMPTS}/{there.attempt}", owner.encode())
    attempt = storage.new_attempt(owner=owner)
    storage.require_newest("beginning from the savepoint", attempt)
    storage.discard(there.checkpoint)  # an earlier driver may have copied a part
    storage.reserve(there.checkpoint)
    handles: list[StateHandle] = []
    for handle in there.handles.values():
        here = f"chk-{there.checkpoint}/{handle.file}"
        location.copy(here, savepoint.location, handle.file)
        handles.append(replace(handle, file=here))
        for one in handle.shared:
            location.copy(one.file, savepoint.location, one.file)
    location.settle()
    completed = storage.publish(there.checkpoint, attempt, handles, there.max_parallelism)
    origin = {"lineage": str(described["lineage"]), "checkpoint": there.checkpoint}
    location.replace(_ORIGIN, json.dumps(origin).encode())
    storage.record_restored(attempt, there.checkpoint)
    return completed


def origin_of(storage: CheckpointStorage) -> Origin | None:
    """The savepoint with which the folder begins; None for a job that began without one."""
    location = storage.location
    if location.size(_ORIGIN) is None:
        return None
    content = location.read(_ORIGIN)
    try:
        origin = Origin(**json.loads(content))
        if type(origin.lineage) is not str or type(origin.checkpoint) is not int:
            raise TypeError(origin)
        return origin
    except (ValueError, TypeError, RecursionError) as cause:
        raise StateError(
            f"{location}/{_ORIGIN}: expected the lineage and the id of a savepoint, got {content[:40]!r}; "
            "begin from the savepoint again, in another folder"
        ) from cause
