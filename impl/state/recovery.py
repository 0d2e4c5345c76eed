"""The start of a job from a savepoint, or from a checkpoint that another job has retained.

The job copies the files of this *original*, as hard links where possible, into its own checkpoint folder, as
a completed checkpoint under the original's id. This copy is restored, subsumed and deleted like any other
checkpoint. Each of the two may be in an object store. Who owns the original is Flink's claim mode:

NO_CLAIM    its user. The job never changes or deletes it, and needs none of its files once it has begun.
CLAIM       the job. When the copy is deleted, because it is subsumed or the job has ended and retains none,
            the original is deleted first, also a savepoint. Files to which other checkpoints of its folder
            refer stay.

`attempts/origin` in the job's folder records the original.
"""

import json
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from impl.state.checkpoints import ATTEMPTS, CHECKPOINT, LINEAGE, METADATA, CheckpointStorage
from impl.state.errors import CheckpointConflictError, NoSavepointError, StateError
from impl.state.locations import Where, place_of
from impl.state.savepoints import SavepointFolder
from impl.state.snapshot_files import SnapshotFiles
from impl.state.storage import CompletedCheckpoint, StateHandle, overtaken

_ORIGIN: Final = f"{ATTEMPTS}/origin"


class Origin(NamedTuple):
    """The original with which a checkpoint folder begins, and the lineage of its job."""

    lineage: str
    checkpoint: int
    claimed: str | None = None
    """The place of the original, if the job owns it; else None."""


class RetainedCheckpoint(SnapshotFiles):
    """A completed checkpoint, `chk-7`, in the checkpoint folder of another job."""

    def __init__(self, where: Where) -> None:
        place = place_of(where)
        folder, self._name = (
            (place.parent, place.name) if isinstance(place, Path) else place.rsplit("/", maxsplit=1)
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
        """The checkpoint with every file verified, described as a savepoint is.

        Raises NoSavepointError if its job has left it behind, SnapshotCorruptError if a file was altered.
        """
        if self._location.size(LINEAGE) is None:
            raise NoSavepointError(
                f"{self.where}: expected {LINEAGE} beside the checkpoint, got no file; name a checkpoint in "
                "the folder in which its job has made it, or a savepoint, which can be moved"
            )
        storage = CheckpointStorage(self._location)
        try:
            completed = storage.load(self._id)
        except FileNotFoundError as missing:
            raise NoSavepointError(str(missing)) from missing
        reason = overtaken(completed, storage.starts)
        if reason is not None:
            raise NoSavepointError(f"{self._location}/{reason}; begin from an older one, or from a savepoint")
        return replace(completed, savepoint={"lineage": storage.lineage})

    def delete(self, shared: Collection[str]) -> None:
        """Delete the checkpoint, and of its shared files those to which no other one refers."""
        CheckpointStorage(self._location).discard(self._id, shared)


def original_at(where: Where) -> SavepointFolder | RetainedCheckpoint:
    """The savepoint, or the retained checkpoint, in a folder or at a URI."""
    savepoint = SavepointFolder(where)
    retained = CHECKPOINT.fullmatch(re.split("/", str(savepoint.where))[-1]) is not None
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
    """Let the next attempt in `storage` start from `original`; returns its copy as a checkpoint.

    Ids of attempts continue above the original's. Checkpoints in the folder beyond it belong to a dead
    attempt. `claim`: the job owns the original. Raises CheckpointConflictError for a checkpoint of `storage`.
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
    storage.discard(there.checkpoint)  # an earlier driver may have copied a part
    storage.reserve(there.checkpoint)
    handles: list[StateHandle] = []
    for handle in there.handles.values():
        here = handle.file if "/" in handle.file else f"chk-{there.checkpoint}/{handle.file}"
        if handle.content is None:
            location.copy(here, original.location, handle.file)
        handles.append(replace(handle, file=here))
        for one in handle.shared:
            location.copy(one.file, original.location, one.file)
    location.settle()
    completed = storage.publish(there.checkpoint, attempt, handles, there.max_parallelism)
    lineage = str((there.savepoint or {})["lineage"])
    origin = Origin(lineage, there.checkpoint, str(original.where) if claim else None)
    location.replace(_ORIGIN, json.dumps(origin._asdict()).encode())
    storage.record_restored(attempt, there.checkpoint)
    return completed


def origin_of(storage: CheckpointStorage) -> Origin | None:
    """The original with which the folder begins; None for a job that began without one."""
    location = storage.location
    if location.size(_ORIGIN) is None:
        return None
    content = location.read(_ORIGIN)
    try:
        origin = Origin(**json.loads(content))
        claimed = origin.claimed is None or type(origin.claimed) is str
        if type(origin.lineage) is not str or type(origin.checkpoint) is not int or not claimed:
            raise TypeError(origin)
        return origin
    except (ValueError, TypeError, RecursionError) as cause:
        raise StateError(
            f"{location}/{_ORIGIN}: expected the lineage and the id of a savepoint, got {content[:40]!r}; "
            "begin from the savepoint again, in another folder"
        ) from cause


def discard(storage: CheckpointStorage, checkpoint: int) -> None:
    """Delete a checkpoint of a job, and before it the original that it is the copy of, if that is claimed.

    A driver that dies in between leaves a copy that is complete, and the next one repeats both.
    """
    origin = origin_of(storage)
    if origin is not None and origin.claimed is not None and origin.checkpoint == checkpoint:
        try:
            copy = storage.manifest(checkpoint)
        except FileNotFoundError:  # the original was deleted before
            pass
        else:
            original = original_at(origin.claimed)
            if isinstance(original, RetainedCheckpoint):
                original.delete({one.file for handle in copy.handles.values() for one in handle.shared})
            else:
                original.withdraw()
    storage.discard(checkpoint)


def _same(one: Where, other: Where) -> bool:
    if isinstance(one, Path) and isinstance(other, Path):
        return one.resolve() == other.resolve()
    return one == other
