"""The start of a job from a savepoint, or from a checkpoint that another job has retained.

This savepoint or checkpoint is the *original*. The job copies its files, as hard links where possible, into
its own checkpoint folder, as a completed checkpoint with the same id. The job restores, subsumes and deletes
this copy like any other checkpoint. Both the original and the copy may be in an object store. Flink's claim
mode decides who owns the original:

NO_CLAIM    The user. The job never changes or deletes the original. After its start it needs no file of it.
CLAIM       The job. The job deletes the copy when it is subsumed, or when the job ends and retains no
            checkpoint. Before the copy it deletes the original, even a savepoint. It keeps the files to which
            other checkpoints in the folder of the original refer.

`attempts/3.origin` in the job's folder records the original, for attempt 3 and all later attempts.

A driver that is superseded during this start does no harm: it deletes nothing, the files that it copies have
its attempt in their names, and it does not publish. A driver that finds a complete copy uses that copy.
"""

import json
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from impl.state.checkpoint_metadata import CompletedCheckpoint, StateHandle, why_dead
from impl.state.checkpoint_storage import ATTEMPTS, CHECKPOINT, LINEAGE, METADATA, CheckpointStorage
from impl.state.errors import CheckpointConflictError, NoSavepointError, SnapshotCorruptError, StateError
from impl.state.locations import Where, path_or_uri
from impl.state.memory_storage import CheckpointsInMemory
from impl.state.savepoints import SavepointFolder
from impl.state.snapshot_files import SnapshotFiles

_ORIGIN_OF_EARLIER_RELEASES: Final = f"{ATTEMPTS}/origin"
_ORIGIN: Final = re.compile(r"([0-9]{1,18})\.origin")


class Origin(NamedTuple):
    """The original from which the job of a checkpoint folder started."""

    lineage: str
    """The random name of the run that made the original."""
    checkpoint: int
    """The id of the original, and of its copy."""
    claimed: str | None = None
    """The path or URI of the original, if the job owns it; else None."""


class RetainedCheckpoint(SnapshotFiles):
    """A completed checkpoint, `chk-7`, in the checkpoint folder of another job."""

    def __init__(self, where: Where) -> None:
        there = path_or_uri(where)
        folder, self._name = (
            (there.parent, there.name) if isinstance(there, Path) else there.rsplit("/", maxsplit=1)
        )
        super().__init__(folder)

    @property
    def where(self) -> Where:
        """The folder of the checkpoint, or its URI."""
        return self._location.below(self._name).where

    @property
    def _id(self) -> int:
        return int(self._name.removeprefix("chk-"))

    def load(self) -> CompletedCheckpoint:
        """The checkpoint, after a check of every file. Its field `savepoint` has the lineage of its job.

        Raises NoSavepointError if the checkpoint does not exist, was moved out of the folder of its job, or
        is dead; SnapshotCorruptError if a file was altered.
        """
        if self._location.size(LINEAGE) is None:
            raise NoSavepointError(
                f"{self.where}: expected {LINEAGE} next to the checkpoint, got no file; name a checkpoint in "
                "the folder in which its job has made it, or a savepoint, which can be moved"
            )
        storage = CheckpointStorage(self._location)
        try:
            completed = storage.load(self._id)
        except FileNotFoundError as missing:
            raise NoSavepointError(str(missing)) from missing
        reason = why_dead(completed, storage.starts)
        if reason is not None:
            raise NoSavepointError(f"{self._location}/{reason}; begin from an older one, or from a savepoint")
        return replace(completed, savepoint={"lineage": storage.lineage})

    def is_of(self, lineage: str, copy: CompletedCheckpoint) -> bool:
        """Whether this is the original of `copy`, made by the run `lineage`, or a partly deleted checkpoint.

        Raises SnapshotCorruptError if the manifest was altered.
        """
        if self._location.size(LINEAGE) is None or CheckpointStorage(self._location).lineage != lineage:
            return False
        try:
            return CheckpointStorage(self._location).manifest(self._id).has_the_content_of(copy)
        except FileNotFoundError:
            return True  # an earlier driver died while it deleted the checkpoint

    def delete(self, shared: Collection[str]) -> None:
        """Delete the checkpoint, and each of its `shared` files to which no other checkpoint refers."""
        CheckpointStorage(self._location).discard(self._id, shared)


def original_at(where: Where) -> SavepointFolder | RetainedCheckpoint:
    """The original in a folder or at a URI.

    It is a retained checkpoint if its name has the form `chk-7`, unless its metadata are those of a
    savepoint.
    """
    savepoint = SavepointFolder(where)
    retained = CHECKPOINT.fullmatch(str(savepoint.where).rpartition("/")[2]) is not None
    if retained and savepoint.is_complete:
        content = savepoint.location.read(METADATA)
        retained = CompletedCheckpoint.decode(content, str(savepoint.where)).savepoint is None
    return RetainedCheckpoint(where) if retained else savepoint


def begin_from(
    storage: CheckpointStorage,
    original: SavepointFolder | RetainedCheckpoint,
    owner: str = "",
    *,
    claim: bool = False,
) -> CompletedCheckpoint:
    """Copy `original` into `storage`, and draw an attempt that starts from the copy; returns the copy.

    The new attempt has a number above that of the attempt that made the original. Checkpoints in `storage`
    with a higher id than the copy are dead from then on. `owner`: as in `new_attempt`. `claim`: whether the
    job owns the original. Raises CheckpointConflictError if `original` is in `storage`, or if its id has
    other content there; SupersededError if a newer attempt exists.
    """
    there = original.load()
    location = storage.location
    if isinstance(original, RetainedCheckpoint) and _same(original.location.where, location.where):
        raise CheckpointConflictError(
            f"{original.where}: expected a checkpoint of another folder, got one of the job's own; resume "
            "the job, or keep its new checkpoints in another folder"
        )
    location.publish(f"{ATTEMPTS}/{there.attempt}", owner.encode())
    attempt = storage.new_attempt(owner=owner)
    storage.require_newest("beginning from the savepoint", attempt)
    completed = _found(storage, there) or _copied(storage, original, there, attempt)
    lineage = str((there.savepoint or {})["lineage"])
    origin = Origin(lineage, there.checkpoint, str(original.where) if claim else None)
    location.publish(f"{ATTEMPTS}/{attempt}.origin", json.dumps(origin._asdict()).encode())
    storage.record_restored(attempt, there.checkpoint)
    return completed


def _found(storage: CheckpointStorage, there: CompletedCheckpoint) -> CompletedCheckpoint | None:
    """The copy of `there` that an earlier driver has completed; None if the id is free.

    Raises CheckpointConflictError if the checkpoint with this id is dead or has other content.
    """
    try:
        found = storage.load(there.checkpoint)
    except FileNotFoundError:
        return None
    dead = why_dead(found, storage.starts) is not None
    if dead or not found.has_the_content_of(there):
        raise CheckpointConflictError(
            f"{storage.location}/chk-{there.checkpoint}: expected a live copy of the original, or no "
            f"checkpoint with its id, got {'a dead one' if dead else 'one with other content'}; keep the "
            "job's checkpoints in another folder"
        )
    return found


def _copied(
    storage: CheckpointStorage,
    original: SavepointFolder | RetainedCheckpoint,
    there: CompletedCheckpoint,
    attempt: int,
) -> CompletedCheckpoint:
    """Copy the files and publish the copy. The names of snapshots get `attempt`, shared files keep theirs."""
    location = storage.location
    storage.reserve(there.checkpoint)
    handles: list[StateHandle] = []
    for handle in there.handles.values():
        if isinstance(storage, CheckpointsInMemory):
            data = original.content(handle)
            handles.append(storage.write(there.checkpoint, handle.task, attempt, data, offset=handle.offset))
            continue
        here = f"chk-{there.checkpoint}/{handle.file.rpartition('/')[2]}"
        if handle.content is None:
            here = f"chk-{there.checkpoint}/{handle.task}.{attempt}.state"
            location.copy(here, original.location, handle.file)
        handles.append(replace(handle, file=here))
        for one in handle.shared:
            if location.size(one.file) != one.size:
                location.copy(one.file, original.location, one.file)
    location.settle()
    try:
        return storage.publish(there.checkpoint, attempt, handles, there.max_parallelism)
    except CheckpointConflictError:
        found = _found(storage, there)  # another driver has published it first
        if found is None:
            raise
        return found


def origin_of(storage: CheckpointStorage) -> Origin | None:
    """The original from which the job of `storage` has started; None if it started without an original.

    Ignores the record of an attempt that has not started. Raises StateError if the record is malformed.
    """
    location, started = storage.location, storage.starts
    matches = (_ORIGIN.fullmatch(name) for name in location.sizes(ATTEMPTS))
    newest = max((int(match[1]) for match in matches if match and int(match[1]) in started), default=None)
    name = _ORIGIN_OF_EARLIER_RELEASES if newest is None else f"{ATTEMPTS}/{newest}.origin"
    if location.size(name) is None:
        return None
    content = location.read(name)
    try:
        origin = Origin(**json.loads(content))
        claimed = origin.claimed is None or type(origin.claimed) is str
        if type(origin.lineage) is not str or type(origin.checkpoint) is not int or not claimed:
            raise TypeError(origin)
        return origin
    except (ValueError, TypeError, RecursionError) as cause:
        raise StateError(
            f"{location}/{name}: expected the lineage and the id of a savepoint, got {content[:40]!r}; "
            "begin from the savepoint again, in another folder"
        ) from cause


def discard(storage: CheckpointStorage, checkpoint: int) -> None:
    """Delete a checkpoint of a job. If it is the copy of a claimed original, delete the original first.

    If the driver is killed between the two deletions, the copy is still complete. The next driver repeats
    both deletions.
    """
    origin = origin_of(storage)
    if origin is not None and origin.claimed is not None and origin.checkpoint == checkpoint:
        try:
            copy = storage.manifest(checkpoint)
        except FileNotFoundError:  # the original was deleted before
            pass
        else:
            _delete_original(origin.claimed, origin.lineage, copy)
    storage.discard(checkpoint)


def _delete_original(where: Where, lineage: str, copy: CompletedCheckpoint) -> None:
    """Delete the original of `copy`, unless its folder now has other content or is damaged."""
    try:
        original = original_at(where)
        if not original.is_of(lineage, copy):
            return
    except SnapshotCorruptError:
        return
    if isinstance(original, RetainedCheckpoint):
        original.delete({one.file for handle in copy.handles.values() for one in handle.shared})
    else:
        original.withdraw()


def _same(one: Where, other: Where) -> bool:
    if isinstance(one, Path) and isinstance(other, Path):
        return one.resolve() == other.resolve()
    return one == other
