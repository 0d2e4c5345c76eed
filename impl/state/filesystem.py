"""Checkpoints as files of one directory, which all tasks and attempts of the job share.

    attempts/3                    attempt 3 was drawn
    attempts/3.restored           the checkpoint from which it started
    attempts/lineage              the name of the run in its outputs, drawn once
    chk-7/count-0.3.state         the snapshot of task count-0, written by attempt 3
    shared/count-0.3.5f0c...      a file to which several checkpoints may refer (`shared`)
    working/count-0.3/            the files of that task while it runs
    chk-7/_metadata               the manifest: checkpoint 7 is complete. It lists the files, and contains the
                                  snapshots that are too small for a file

An attempt is drawn by creating a file that must not exist, so two drivers never draw the same one. A
checkpoint completes by the link of its `_metadata`, so it is complete or not there, and one of two publishers
wins. A dead attempt does no harm (ONCE-06): it cannot publish, its files have its id, and every reader
refuses what it still publishes beyond the start of a newer attempt.

These rules exclude a superseded attempt, wherever its driver is paused:

* A driver with attempt n draws attempt n + 1 only if that name is free; else it was superseded.
* A new attempt is drawn *before* it reads the newest checkpoint. A publisher looks for a newer attempt
*after*
  its link, and before any task is notified. So the publisher finds the new attempt, or the new attempt finds
  the checkpoint.
* The start of an attempt is recorded once, by a link: by the attempt itself, or as "never" by a newer one. So
  all later readers agree which checkpoints are of a dead attempt.
* A checkpoint id belongs to the driver that has created its directory.

This needs a file system on which a name that one process creates is visible at once to all others: a local
one, or NFS mounted with `noac`.
"""

import json
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from impl.state import errors
from impl.state.durable import make_directory, publish_file, read_file, remove_file, sync
from impl.state.shared import SharedFile
from impl.state.snapshot_files import SnapshotFiles, handle_of
from impl.state.storage import CompletedCheckpoint, LatestCompleted, Refused, StateHandle, overtaken

METADATA: Final = "_metadata"
WORKING: Final = "working"
_CHECKPOINT: Final = re.compile(r"chk-(0|[1-9][0-9]{0,17})")
_ATTEMPT: Final = re.compile(r"[0-9]{1,18}")
_OPEN_METADATA: Final = re.compile(r"\._metadata\.(?:([0-9]{1,18})-)?[0-9a-f]+\.tmp")
"""A manifest before its link; without an attempt, of an earlier release."""
_STATE: Final = re.compile(r"\.?[A-Za-z0-9][A-Za-z0-9_-]*\.([0-9]{1,18})\.state(\.tmp)?")


class FileSystemStorage(SnapshotFiles):
    """The checkpoints under `directory`, which is created if it is missing.

    `inline_bytes`: a snapshot of at most this size has no file; the manifest contains it.
    """

    def __init__(self, directory: Path | str, inline_bytes: int = 0) -> None:
        super().__init__(directory)
        self._inline_bytes = inline_bytes
        make_directory(self._directory / "attempts")

    @property
    def lineage(self) -> str:
        """The name of the run in its outputs; unique, and drawn at its first use."""
        path = self._directory / "attempts" / "lineage"
        if not path.is_file():
            publish_file(path, secrets.token_hex(8).encode())  # two drivers that draw one read the same
        return read_file(path).decode()

    # ------------------------------------------------------------ attempts

    def new_attempt(self, after: int | None = None, owner: str = "") -> int:
        """Draw the id of a new execution attempt, from 1 on and above all others; each id is drawn once.

        `after`: the driver's earlier attempt. Raises SupersededError if that is not the newest. An older
        attempt that has not recorded its start cannot record it any more. `owner`: who draws it, for
        `owner_of`.
        """
        attempt = (self.newest_attempt() if after is None else after) + 1
        while not publish_file(self._directory / "attempts" / str(attempt), owner.encode()):
            if after is not None:
                self.require_newest("drawing a new attempt", after)
            attempt += 1
        if after is not None:
            self.require_newest("drawing a new attempt", attempt)  # after a gap that a savepoint has left
        try:
            self._supersede(attempt)
        except errors.StorageError:  # a full disk: the attempt has not begun, and the driver draws it again
            remove_file(self._directory / "attempts" / str(attempt))
            raise
        return attempt

    def _supersede(self, attempt: int) -> None:
        """Record "never" for every older attempt that has not recorded its start."""
        for older in self._attempts():
            path = self._directory / "attempts" / f"{older}.restored"
            if older < attempt and not path.is_file():
                publish_file(path, json.dumps({"superseded_by": attempt}).encode())

    def record_restored(self, attempt: int, checkpoint: int | None) -> None:
        """Record from which checkpoint an attempt starts; None: the beginning.

        What older attempts complete beyond it is refused.
        Raises SupersededError if a newer attempt was drawn before, StateError if another start is recorded.
        """
        note = json.dumps({"restored": checkpoint}).encode()
        path = self._directory / "attempts" / f"{attempt}.restored"
        if not publish_file(path, note) and read_file(path) != note:
            self.require_newest("starting", attempt)
            raise errors.StateError(
                f"{path}: expected attempt {attempt} to record its start once, got {read_file(path)!r}; "
                "draw a new attempt"
            )

    def require_newest(self, doing: str, attempt: int) -> None:
        """Raise SupersededError if `attempt` is not the newest. `doing`: its action."""
        newest = self.newest_attempt()
        if attempt < newest:
            raise errors.SupersededError.of(doing, attempt, newest, str(self._directory))

    def owner_of(self, attempt: int) -> str:
        """The owner that an attempt was drawn with; empty if it had none."""
        return read_file(self._directory / "attempts" / str(attempt)).decode()

    def newest_attempt(self) -> int:
        """The newest attempt; 0 if none was drawn."""
        return max(self._attempts(), default=0)

    def _attempts(self) -> list[int]:
        names = [path.name for path in (self._directory / "attempts").iterdir()]
        return [int(name) for name in names if _ATTEMPT.fullmatch(name)]

    @property
    def starts(self) -> Mapping[int, int | None]:
        """From each attempt that has started to its checkpoint; None: the beginning.

        Raises StateError if a record is malformed.
        """
        starts: dict[int, int | None] = {}
        for path in sorted((self._directory / "attempts").glob("*.restored")):
            try:
                note = json.loads(read_file(path))
                if "superseded_by" in note:
                    continue
                restored = note["restored"]
                if restored is not None and (type(restored) is not int or restored < 0):
                    raise ValueError(restored)
                starts[int(path.stem)] = restored
            except (ValueError, KeyError, TypeError, RecursionError) as cause:
                raise errors.StateError(
                    f'{path}: expected {{"restored": id}}, got {read_file(path)[:40]!r}; '
                    "write the checkpoint from which that attempt started, or delete the file"
                ) from cause
        return starts

    # ------------------------------------------------------------ snapshots

    def next_checkpoint_id(self) -> int:
        """An id above every checkpoint that was begun and is not discarded."""
        return max(self._checkpoints(), default=0) + 1

    def reserve(self, checkpoint: int) -> bool:
        """Reserve an id for this driver (COORD-02) by creating its directory; returns False if it exists."""
        try:
            with errors.storage_errors("creating", self._path(checkpoint), FileExistsError):
                self._path(checkpoint).mkdir()
        except FileExistsError:
            return False
        return True

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

        A snapshot of at most `inline_bytes` is only in the handle, and durable with the manifest.
        """
        if len(snapshot) <= self._inline_bytes:
            file = f"chk-{checkpoint}/{METADATA}#{task}"
            handle = handle_of(file, checkpoint, task, attempt, snapshot, offset, shared)
            return replace(handle, content=snapshot)
        folder = self._path(checkpoint)
        make_directory(folder)
        try:
            return self._write(folder, checkpoint, task, attempt, snapshot, offset, shared)
        except errors.StorageError:
            if folder.is_dir():
                raise
            make_directory(folder)  # a sweep has removed the empty folder
            return self._write(folder, checkpoint, task, attempt, snapshot, offset, shared)

    # ------------------------------------------------------------ completed checkpoints

    def publish(
        self,
        checkpoint: int,
        attempt: int,
        handles: Iterable[StateHandle],
        max_parallelism: int | None = None,
    ) -> CompletedCheckpoint:
        """Complete a checkpoint by the link of its `_metadata`; a repeated call has no effect.

        Raises CheckpointConflictError if the id has other content, SnapshotCorruptError if a file is missing,
        SupersededError if a newer attempt exists before or directly after the link; the caller must then not
        act on the checkpoint.
        """
        self.require_newest(f"publishing checkpoint {checkpoint}", attempt)
        by_task = {one.task: one for one in handles}
        completed = CompletedCheckpoint(checkpoint, attempt, by_task, max_parallelism)
        self._require_files(completed)
        make_directory(self._path(checkpoint))
        path = self._path(checkpoint) / METADATA
        # the sync of the folder makes this name and those of all snapshots durable
        if (
            not publish_file(path, completed.encode(), f"{attempt}-")
            and read_file(path) != completed.encode()
        ):
            raise errors.CheckpointConflictError(
                f"{path}: checkpoint {checkpoint} is complete already with other content; "
                "give every checkpoint an id of its own, see next_checkpoint_id"
            )
        self.require_newest(f"publishing checkpoint {checkpoint}", attempt)  # superseded in between
        if self.shared.any and (referenced := self._referenced()) is not None:
            self.shared.collect(referenced)
        return completed

    def completed_ids(self) -> tuple[int, ...]:
        """The ids of all published checkpoints, ascending; they are not verified."""
        return tuple(one for one in self._checkpoints() if (self._path(one) / METADATA).is_file())

    def load(self, checkpoint: int) -> CompletedCheckpoint:
        """A published checkpoint with every file verified.

        Raises FileNotFoundError if it is not published, SnapshotCorruptError if a file was altered.
        """
        return self._verified_files(self._manifest(checkpoint))

    def latest_completed(self) -> LatestCompleted:
        """The newest published checkpoint that is unaltered and not of a dead attempt (ONCE-04)."""
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
            reason = overtaken(completed, starts)
            if reason is None:
                return LatestCompleted(completed, tuple(refused))
            refused.append(Refused(checkpoint, reason))
        return LatestCompleted(None, tuple(refused))

    def discard(self, checkpoint: int) -> None:
        """Delete a checkpoint, if it exists: its `_metadata` first, so that no part of it is a checkpoint."""
        directory = self._path(checkpoint)
        if not directory.is_dir():
            return
        if remove_file(directory / METADATA):
            sync(directory)
        for path in _files_in(directory):
            remove_file(path)
        _remove_if_empty(directory)

    def sweep(self, attempt: int) -> tuple[str, ...]:
        """Delete the unpublished files of attempts before `attempt`; returns them.

        The files that a manifest lists stay. A checkpoint whose manifest cannot be read stays as it is, for a
        person to examine. Empty directories are deleted up to the newest completed checkpoint; above it they
        reserve their ids (COORD-02).
        """
        referenced = self._referenced()
        swept = [] if referenced is None else list(self.shared.sweep(referenced, attempt))
        for folder in sorted((self._directory / WORKING).glob("*")):
            if _ATTEMPT.fullmatch(folder.suffix[1:]) and int(folder.suffix[1:]) < attempt:
                shutil.rmtree(folder, ignore_errors=True)  # a worker of a dead attempt may still write there
        newest = max(self.completed_ids(), default=0)
        for checkpoint in self._checkpoints():
            directory = self._path(checkpoint)
            try:
                listed = {one.file for one in self._manifest(checkpoint).handles.values()}
            except FileNotFoundError:
                listed = set()
            except errors.SnapshotCorruptError:
                continue
            for path in _files_in(directory):
                name = str(path.relative_to(self._directory))
                if name not in listed and _is_left_over(path.name, attempt) and remove_file(path):
                    swept.append(name)
            if checkpoint < newest:
                _remove_if_empty(directory)
        return tuple(swept)

    def working(self, task: str, attempt: int) -> Path:
        """The folder of a task's files while it runs; a sweep deletes it after the attempt."""
        return self._directory / WORKING / f"{task}.{attempt}"

    def _referenced(self) -> set[str] | None:
        """The shared files that any manifest lists; None if a manifest cannot be read."""
        manifests = []
        for one in self.completed_ids():
            try:
                manifests.append(self._manifest(one))
            except FileNotFoundError:
                continue  # another driver has just discarded it
            except errors.SnapshotCorruptError:
                return None
        return {one.file for there in manifests for handle in there.handles.values() for one in handle.shared}

    def _manifest(self, checkpoint: int) -> CompletedCheckpoint:
        """The manifest. Raises FileNotFoundError if the checkpoint is not complete."""
        path = self._path(checkpoint) / METADATA
        try:
            content = read_file(path)
        except errors.StorageError as failed:
            if not isinstance(failed.__cause__, FileNotFoundError):
                raise
            raise FileNotFoundError(
                f"{path}: checkpoint {checkpoint} is not complete; restore another"
            ) from failed
        return CompletedCheckpoint.decode(content, str(path.relative_to(self._directory)))

    def _path(self, checkpoint: int) -> Path:
        return self._directory / f"chk-{checkpoint}"

    def _checkpoints(self) -> Iterator[int]:
        """The ids that have a directory, ascending."""
        found = (_CHECKPOINT.fullmatch(path.name) for path in self._directory.iterdir())
        return iter(sorted(int(match.group(1)) for match in found if match))


def _remove_if_empty(directory: Path) -> None:
    with suppress(OSError):  # it has files
        directory.rmdir()


def _files_in(directory: Path) -> tuple[Path, ...]:
    """The files of a directory; none if another driver has removed it."""
    try:
        return tuple(directory.iterdir())
    except FileNotFoundError:
        return ()


def _is_left_over(name: str, attempt: int) -> bool:
    """Whether the name is a file of an attempt before `attempt`, or a temporary one."""
    temporary = _OPEN_METADATA.fullmatch(name)
    if temporary is not None:
        return temporary.group(1) is None or int(temporary.group(1)) < attempt
    match = _STATE.fullmatch(name)
    return match is not None and int(match.group(1)) < attempt
