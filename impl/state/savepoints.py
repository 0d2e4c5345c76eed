"""Savepoints: checkpoints that a user requests and keeps. Each savepoint has its own folder.

    savepoint-7-3f2a91/_metadata            the manifest: savepoint 7 is complete, with the files listed here
    savepoint-7-3f2a91/count-0.3.state      the snapshot of task count-0, written by attempt 3
    savepoint-7-3f2a91/shared/count-0.3...  the savepoint's copies of the files of state in RocksDB

A savepoint refers to no file outside of its folder, so the folder can be copied and moved. The runtime never
deletes or changes a complete savepoint (SUB-09), unless a job has claimed it (`claim_mode`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from impl.state.checkpoint_metadata import CompletedCheckpoint, StateHandle
from impl.state.checkpoint_storage import METADATA
from impl.state.durable import TEMPORARY
from impl.state.errors import CheckpointConflictError, NoSavepointError, StateError
from impl.state.locations import Where, location_of
from impl.state.shared import FOLDER, SharedFile
from impl.state.snapshot_files import SnapshotFiles, is_left_over

_NAME: Final = "savepoint-"
_DIGITS: Final = 19
"""A number of digits that no id exceeds."""


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
        """Complete the savepoint by publishing its `_metadata`. `origin`: its kind, its job, its lineage.

        Raises SnapshotCorruptError if a file is missing, CheckpointConflictError if the folder has a
        complete savepoint.
        """
        by_task = {one.task: one for one in handles}
        completed = CompletedCheckpoint(checkpoint, attempt, by_task, max_parallelism, dict(origin))
        self._require_files(completed)
        if not self._location.publish(METADATA, completed.encode(), f"{attempt}-"):
            raise CheckpointConflictError(
                f"{self._location}/{METADATA}: expected no savepoint, got one that is complete; name "
                "another folder"
            )
        return completed

    def load(self) -> CompletedCheckpoint:
        """The savepoint. Every file of it is verified.

        Raises NoSavepointError if there is no savepoint, SnapshotCorruptError if a file was altered.
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

    def is_of(self, lineage: str, copy: CompletedCheckpoint) -> bool:
        """Whether this is the original of `copy`, made by the run `lineage`, or a partly deleted savepoint.

        False if another job writes a savepoint into the folder. Raises SnapshotCorruptError if `_metadata`
        was altered.
        """
        if not self.is_complete:
            files = {f"{one.task}.{one.attempt}.state": one.size for one in copy.handles.values()}
            return self._location.sizes().items() <= files.items()
        found = CompletedCheckpoint.decode(self._location.read(METADATA), f"{self._location}/{METADATA}")
        return (found.savepoint or {}).get("lineage") == lineage and found.has_the_content_of(copy)

    def withdraw(self) -> None:
        """Delete a savepoint that no user owns: a superseded attempt has made it, or a job has claimed it."""
        self._location.remove(METADATA)
        self.discard()

    def clear_left(self, attempt: int) -> None:
        """Delete the files that attempts before `attempt` have left in an incomplete savepoint.

        Does nothing if the savepoint is complete. Deletes no file of `attempt` or of a newer attempt.
        """
        if self.is_complete:
            return
        self.shared.sweep((), attempt)
        self._location.remove_folder(FOLDER)
        for name in self._location.sizes():
            if is_left_over(name, attempt):
                self._location.remove(name)
        self._location.remove_folder()

    def discard(self) -> None:
        """Delete an incomplete savepoint of this attempt. Raises StateError if it is complete."""
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
    """The name of a savepoint's folder, which is unique for the job and the id."""
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
