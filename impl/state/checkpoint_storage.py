"""Checkpoints as files of one location, which all tasks and attempts of the job share.

    attempts/3                    a driver has drawn the number 3 for an attempt
    attempts/3.restored           the checkpoint from which attempt 3 started
    attempts/lineage              the name of the run in its outputs, drawn once at random
    chk-7/count-0.3.state         the snapshot of task count-0, written by attempt 3
    shared/count-0.3.5f0c...      a file to which several checkpoints may refer (`shared`)
    working/count-0.3/            the files of task count-0 while it runs, in attempt 3
    chk-7/_metadata               the manifest: checkpoint 7 is complete. It lists the files, and contains the
                                  snapshots that are too small for a file

A driver *draws* the number of a new attempt: it publishes a file that must not exist, so two drivers never
draw the same number. A checkpoint is complete if its `_metadata` is published, and only one of two publishers
succeeds. A superseded attempt does no harm (ONCE-06): its files have its number in their names, and it checks
for a newer attempt before it publishes. If it still publishes, every reader refuses the checkpoint if it is
dead.

These rules prevent effects of a superseded attempt, also if its driver is paused at any step (FENCE-01 to
FENCE-05):

* A driver with attempt n draws n + 1 only if that name is free; otherwise it was superseded.
* A driver draws a number *before* it reads the newest checkpoint. A publisher looks for a newer attempt
  *after* its publication, and before any task is notified. So the publisher finds the new attempt, or the
  new attempt finds the checkpoint.
* The start of an attempt is published once: by the attempt, or by a newer attempt as "never". So all later
  readers agree which checkpoints are dead.
* A checkpoint id belongs to the driver that has reserved its folder.

This needs a storage on which all processes immediately see a name that one process has created: a local file
system, NFS mounted with `noac`, or an object store with conditional writes. `locations` has these storages.
"""

import contextlib
import json
import re
import secrets
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from impl.core.fencing.attempts import to_close
from impl.state import errors
from impl.state.checkpoint_metadata import (
    CompletedCheckpoint,
    LatestCompleted,
    Refused,
    StateHandle,
    why_dead,
)
from impl.state.locations import Location, Where
from impl.state.shared import SharedFile
from impl.state.snapshot_files import SnapshotFiles, handle_of, is_left_over

METADATA: Final = "_metadata"
ATTEMPTS: Final = "attempts"
LINEAGE: Final = f"{ATTEMPTS}/lineage"
_RESTORED: Final = ".restored"
CHECKPOINT: Final = re.compile(r"chk-(0|[1-9][0-9]{0,17})")
_ATTEMPT: Final = re.compile(r"[0-9]{1,18}")


class CheckpointStorage(SnapshotFiles):
    """The checkpoints of a job in a folder, which is created if it is missing, or below a URI.

    `inline_bytes`: a snapshot of at most this size has no file, and the manifest contains it.
    """

    def __init__(self, where: Where | Location, inline_bytes: int = 0) -> None:
        super().__init__(where)
        self._inline_bytes = inline_bytes
        self._unclosed: int | None = None
        """An attempt that this driver has drawn, but for which `_supersede` has failed; None otherwise."""
        self._location.make_folder(ATTEMPTS)

    @property
    def lineage(self) -> str:
        """The unique name of the run in its outputs. The first call draws it at random."""
        if self._location.size(LINEAGE) is None:
            self._location.publish(LINEAGE, secrets.token_hex(8).encode())  # of two calls, one publishes
        return self._location.read(LINEAGE).decode()

    # ------------------------------------------------------------ attempts

    def new_attempt(self, after: int | None = None, owner: str = "") -> int:
        """Draw the number of a new attempt: 1, or a number above all earlier ones. No other driver gets it.

        `after`: the driver's earlier attempt. Raises SupersededError if that is not the newest. An older
        attempt that has not recorded its start cannot record it any more. `owner`: a text that `owner_of`
        returns. Raises StorageError, for example on a full disk; the next call then continues with it.
        """
        unclosed, self._unclosed = self._unclosed, None
        attempt = self._draw(after, owner) if unclosed is None else unclosed
        try:
            if after is not None or unclosed is not None:  # else nothing to check
                self.require_newest("drawing a new attempt", attempt)
            self._supersede(attempt)
        except errors.StorageError:  # the next call uses this number; with another one, FENCE-01 would fail
            self._unclosed = attempt
            raise
        return attempt

    def _draw(self, after: int | None, owner: str) -> int:
        attempt = (self.newest_attempt() if after is None else after) + 1
        while not self._location.publish(f"{ATTEMPTS}/{attempt}", owner.encode()):
            if after is not None:
                self.require_newest("drawing a new attempt", after)
            attempt += 1
        return attempt

    def _supersede(self, attempt: int) -> None:
        """Record "never" for every older attempt that has not recorded its start."""
        names = self._location.sizes(ATTEMPTS)
        drawn = _numbers(names)
        recorded = {one for one in drawn if f"{one}{_RESTORED}" in names}
        for older in to_close(drawn, recorded, attempt):
            note = json.dumps({"superseded_by": attempt}).encode()
            self._location.publish(f"{ATTEMPTS}/{older}{_RESTORED}", note)

    def record_restored(self, attempt: int, checkpoint: int | None) -> None:
        """Record the checkpoint from which an attempt starts; None: the beginning.

        Newer checkpoints of older attempts are then dead, and readers refuse them. Raises SupersededError if
        a newer attempt exists, StateError if another start is recorded.
        """
        note = json.dumps({"restored": checkpoint}).encode()
        name = f"{ATTEMPTS}/{attempt}{_RESTORED}"
        if not self._location.publish(name, note) and (found := self._location.read(name)) != note:
            self.require_newest("starting", attempt)
            raise errors.StateError(
                f"{self._location}/{name}: expected attempt {attempt} to record its start once, got "
                f"{found!r}; draw a new attempt"
            )

    def require_newest(self, doing: str, attempt: int) -> None:
        """Raise SupersededError if `attempt` is not the newest. `doing`: its action, for the message."""
        newest = self.newest_attempt()
        if newest == self._unclosed:
            return  # this driver has drawn the number, and its next call continues with it
        if attempt < newest:
            raise errors.SupersededError.of(doing, attempt, newest, str(self._location))
        if attempt > newest:
            raise errors.StorageError(
                f"{doing}: expected attempt {attempt} in {self._location}, but the newest there is {newest}; "
                "find out what has deleted files there, and resume the job from the remaining checkpoints"
            )

    def owner_of(self, attempt: int) -> str:
        """The text `owner` with which a driver has drawn an attempt; empty without one."""
        return self._location.read(f"{ATTEMPTS}/{attempt}").decode()

    def newest_attempt(self) -> int:
        """The newest attempt; 0 if there is none."""
        return max(_numbers(self._location.sizes(ATTEMPTS)), default=0)

    @property
    def starts(self) -> Mapping[int, int | None]:
        """Maps each attempt that has started to the checkpoint from which it started; None: the beginning.

        Raises StateError if a record is malformed.
        """
        starts: dict[int, int | None] = {}
        for name in sorted(self._location.sizes(ATTEMPTS)):
            if not name.endswith(_RESTORED):
                continue
            content = self._location.read(f"{ATTEMPTS}/{name}")
            try:
                note = json.loads(content)
                if "superseded_by" in note:
                    continue
                restored = note["restored"]
                if restored is not None and (type(restored) is not int or restored < 0):
                    raise ValueError(restored)
                starts[int(name.removesuffix(_RESTORED))] = restored
            except (ValueError, KeyError, TypeError, RecursionError) as cause:
                raise errors.StateError(
                    f'{self._location}/{ATTEMPTS}/{name}: expected {{"restored": id}}, got {content[:40]!r}; '
                    "write the checkpoint from which that attempt started, or delete the file"
                ) from cause
        return starts

    # ------------------------------------------------------------ snapshots

    def next_checkpoint_id(self) -> int:
        """An id above the ids of all checkpoints that have a folder, complete or not."""
        return max(self._checkpoints(), default=0) + 1

    def reserve(self, checkpoint: int) -> bool:
        """Reserve an id for this driver (COORD-02) by creating its folder; returns False if it exists."""
        return self._location.reserve(_folder(checkpoint))

    def use_up(self, checkpoint: int) -> None:
        """Ensure that a driver that continues the job uses no id up to this one again (COORD-02)."""
        if self.completed_ids() and self.next_checkpoint_id() <= checkpoint:
            self.reserve(checkpoint)

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
        """Write one task's encoded snapshot to `chk-<checkpoint>/<task>.<attempt>.state`.

        A snapshot of at most `inline_bytes` has no file. The handle contains it, and the manifest makes it
        durable.
        """
        if len(snapshot) <= self._inline_bytes:
            file = f"chk-{checkpoint}/{METADATA}#{task}"
            handle = handle_of(file, checkpoint, task, attempt, snapshot, offset, shared)
            return replace(handle, content=snapshot)
        folder = _folder(checkpoint)
        try:
            return self._write(folder, checkpoint, task, attempt, snapshot, offset, shared)
        except errors.NoFileError:
            self._location.make_folder(folder)  # a sweep has removed the empty folder
            return self._write(folder, checkpoint, task, attempt, snapshot, offset, shared)

    # ------------------------------------------------------------ completed checkpoints

    def publish(
        self,
        checkpoint: int,
        attempt: int,
        handles: Iterable[StateHandle],
        max_parallelism: int | None = None,
    ) -> CompletedCheckpoint:
        """Complete a checkpoint by publishing its `_metadata`. A repeated call has no effect.

        Raises CheckpointConflictError if the id has other content, SnapshotCorruptError if a file is missing.
        Raises SupersededError if a newer attempt exists before or directly after the publication; then the
        caller must not act on the checkpoint. Raises StorageError if the storage failed and the checkpoint is
        not complete. Raises UncertainPublicationError if it may be complete; then the caller must keep its
        files.
        """
        self.require_newest(f"publishing checkpoint {checkpoint}", attempt)
        by_task = {one.task: one for one in handles}
        completed = CompletedCheckpoint(checkpoint, attempt, by_task, max_parallelism)
        self._require_files(completed)
        self._location.make_folder(_folder(checkpoint))
        name, content = f"{_folder(checkpoint)}/{METADATA}", completed.encode()
        # The publication makes the names of all snapshots in the folder durable, too.
        with self._uncertain(name):
            is_new = self._location.publish(name, content, f"{attempt}-")
        if not is_new and self._location.read(name) != content:
            raise errors.CheckpointConflictError(
                f"{self._location}/{name}: checkpoint {checkpoint} is complete already with other content; "
                "give every checkpoint a different id, see next_checkpoint_id"
            )
        with self._uncertain(name):
            self.require_newest(f"publishing checkpoint {checkpoint}", attempt)  # it may be superseded now
        with contextlib.suppress(errors.StorageError):  # the next publication or a sweep deletes these files
            if self.shared.any and (referenced := self._referenced()) is not None:
                self.shared.collect(referenced)
        return completed

    @contextlib.contextmanager
    def _uncertain(self, name: str) -> Iterator[None]:
        """Raise UncertainPublicationError for a StorageError, unless `name` is known not to exist."""
        try:
            yield
        except errors.StorageError as failed:
            is_free = False
            with contextlib.suppress(errors.StorageError):
                is_free = self._location.size(name) is None
            if is_free:
                raise
            raise errors.UncertainPublicationError(
                f"{failed}; whether {self._location}/{name} is complete is not known: let the job restart"
            ) from failed

    def completed_ids(self) -> tuple[int, ...]:
        """The ids of all published checkpoints, ascending. Their files are not verified."""
        there = self._checkpoints()
        return tuple(one for one in there if self._location.size(f"{_folder(one)}/{METADATA}") is not None)

    def load(self, checkpoint: int) -> CompletedCheckpoint:
        """A published checkpoint. Every file of it is verified.

        Raises FileNotFoundError if it is not published, SnapshotCorruptError if a file was altered.
        """
        return self._verified_files(self.manifest(checkpoint))

    def latest_completed(self) -> LatestCompleted:
        """The newest published checkpoint that is unaltered and not dead (ONCE-04)."""
        refused: list[Refused] = []
        starts = self.starts
        for checkpoint in reversed(self.completed_ids()):
            try:
                completed = self.load(checkpoint)
            except FileNotFoundError:
                continue  # another driver has discarded it
            except errors.SnapshotCorruptError as damage:
                refused.append(Refused(checkpoint, str(damage)))
                continue
            reason = why_dead(completed, starts)
            if reason is None:
                return LatestCompleted(completed, tuple(refused))
            refused.append(Refused(checkpoint, reason))
        return LatestCompleted(None, tuple(refused))

    def discard(self, checkpoint: int, shared: Collection[str] = ()) -> None:
        """Delete a checkpoint, if it exists. `_metadata` comes first, so no complete checkpoint lacks a file.

        `shared`: shared files to delete, too, unless another checkpoint refers to them.
        """
        folder = _folder(checkpoint)
        names = self._location.sizes(folder)
        if METADATA in names and self._location.remove(f"{folder}/{METADATA}"):
            self._location.settle(folder)
        for name in names:
            if name != METADATA:
                self._location.remove(f"{folder}/{name}")
        self._location.remove_folder(folder)
        if shared and (referenced := self._referenced()) is not None:
            for name in set(shared) - referenced:
                self._location.remove(name)

    def sweep(self, attempt: int) -> tuple[str, ...]:
        """Delete the unpublished files of attempts before `attempt`; returns their names.

        The files that a manifest lists stay. A checkpoint whose manifest cannot be read stays unchanged, so
        that a person can examine it. Empty folders with ids below the newest completed checkpoint are
        deleted. Empty folders above it stay, because they reserve their ids (COORD-02).
        """
        referenced = self._referenced()
        swept = [] if referenced is None else list(self.shared.sweep(referenced, attempt))
        self.clear_working(attempt)
        newest = max(self.completed_ids(), default=0)
        for checkpoint in self._checkpoints():
            folder = _folder(checkpoint)
            try:
                listed = {one.file for one in self.manifest(checkpoint).handles.values()}
            except FileNotFoundError:
                listed = set()
            except errors.SnapshotCorruptError:
                continue
            names = [f"{folder}/{one}" for one in self._location.sizes(folder) if is_left_over(one, attempt)]
            removed = [name for name in names if name not in listed and self._location.remove(name)]
            swept += removed
            if checkpoint < newest:
                self._location.remove_folder(folder)
            elif removed:
                self._location.reserve(folder)  # an object store has no empty folder
        return tuple(swept)

    def working(self, task: str, attempt: int) -> Path:
        """The folder on this host for the files of a running task. A sweep deletes it after the attempt."""
        return self._location.working() / f"{task}.{attempt}"

    def clear_working(self, attempt: int) -> None:
        """Delete the folders on this host of the tasks of attempts before `attempt`."""
        for folder in sorted(self._location.working().glob("*")):
            if _ATTEMPT.fullmatch(folder.suffix[1:]) and int(folder.suffix[1:]) < attempt:
                shutil.rmtree(folder, ignore_errors=True)  # an older worker may still write into it

    def _referenced(self) -> set[str] | None:
        """The shared files that any manifest lists; None if a manifest cannot be read."""
        manifests = []
        for one in self.completed_ids():
            try:
                manifests.append(self.manifest(one))
            except FileNotFoundError:
                continue  # another driver has discarded the checkpoint in the meantime
            except errors.SnapshotCorruptError:
                return None
        return {one.file for there in manifests for handle in there.handles.values() for one in handle.shared}

    def manifest(self, checkpoint: int) -> CompletedCheckpoint:
        """A published checkpoint, without a check of its files. Raises FileNotFoundError if not complete."""
        name = f"{_folder(checkpoint)}/{METADATA}"
        try:
            content = self._location.read(name)
        except errors.NoFileError as missing:
            raise FileNotFoundError(
                f"{self._location}/{name}: checkpoint {checkpoint} is not complete; restore another"
            ) from missing
        return CompletedCheckpoint.decode(content, name)

    def _checkpoints(self) -> Iterator[int]:
        """The ids of all checkpoints that have a folder, ascending."""
        found = (CHECKPOINT.fullmatch(name) for name in self._location.folders())
        return iter(sorted(int(match.group(1)) for match in found if match))


def _folder(checkpoint: int) -> str:
    return f"chk-{checkpoint}"


def _numbers(names: Iterable[str]) -> list[int]:
    """The numbers of all attempts, from the file names in the folder `attempts`."""
    return [int(name) for name in names if _ATTEMPT.fullmatch(name)]
