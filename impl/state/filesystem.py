"""Checkpoints as files of one directory, which all tasks and attempts of the job share.

    attempts/3                    attempt 3 was drawn
    attempts/3.restored           from which checkpoint it started
    attempts/lineage              a name for all that the job writes elsewhere, drawn once
    chk-7/count-0.3.state         the snapshot of task count-0, written by attempt 3
    shared/count-0.3.5f0c...      a file that several checkpoints may refer to, see `shared`
    working/count-0.3/            what that task has beside its memory, while it runs
    chk-7/_metadata               checkpoint 7 is complete, and consists of the files listed here, and of
                                  snapshots that stand in it, because they are too small for a file

Attempts are drawn by creating a file that must not exist, so two drivers never get the same one. A
checkpoint completes by the link of its `_metadata`: before it there is no checkpoint, after it there is
all of it, and of two publishers one wins. A dead attempt harms nothing (ONCE-06): it may not publish, its
files carry its id, and what it still publishes beyond the point from which a newer attempt started is
refused when read.

How an attempt that was superseded is kept out, wherever its driver is paused:

* A driver draws attempt n + 1 behind its own attempt n only if that name is free; else it was superseded.
* A new attempt is drawn *before* it reads which checkpoint is the newest, and a publisher looks for a newer
  attempt *behind* its link, before anybody acts on it. So either the publisher finds the new attempt, or
  the new attempt finds the checkpoint.
* From where an attempt starts is recorded once, by a link: by itself, or as "never" by a newer attempt. So
  all who read later agree on which checkpoints are of a dead attempt.
* A checkpoint id belongs to the driver that has made its directory.

This takes a file system on which whoever creates a name is seen at once by all who list its directory:
every local one, and NFS without cached attributes (`noac`).
"""

import json
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from impl.state.durable import (
    TEMPORARY,
    make_directory,
    publish_file,
    read_file,
    remove_file,
    sync_directory,
)
from impl.state.errors import (
    CheckpointConflictError,
    SnapshotCorruptError,
    StateError,
    StorageError,
    SupersededError,
)
from impl.state.shared import SharedFile
from impl.state.snapshot_files import SnapshotFiles, handle_of
from impl.state.storage import CompletedCheckpoint, LatestCompleted, Refused, StateHandle, overtaken

METADATA: Final = "_metadata"
WORKING: Final = "working"
_CHECKPOINT: Final = re.compile(r"chk-(0|[1-9][0-9]{0,17})")
_ATTEMPT: Final = re.compile(r"[0-9]{1,18}")
_STATE: Final = re.compile(r"\.?[A-Za-z0-9][A-Za-z0-9_-]*\.([0-9]{1,18})\.state(\.tmp)?")


class FileSystemStorage(SnapshotFiles):
    """The checkpoints under `directory`, which is made if it is missing.

    `inline_bytes`: a snapshot of at most so many gets no file; its handle, and so the manifest, has it.
    """

    def __init__(self, directory: Path | str, inline_bytes: int = 0) -> None:
        super().__init__(directory)
        self._inline_bytes = inline_bytes
        make_directory(self._directory / "attempts")

    @property
    def lineage(self) -> str:
        """A name that no other folder has, drawn when it is first asked for: what sinks write bears it."""
        path = self._directory / "attempts" / "lineage"
        if not path.is_file():
            publish_file(path, secrets.token_hex(8).encode())  # of two that draw one, both read the same
        return read_file(path).decode()

    # ------------------------------------------------------------ attempts

    def new_attempt(self, after: int | None = None) -> int:
        """Draw the id of a new execution attempt, from 1 on: above all others, and nobody else gets it.

        `after`: the attempt of the same driver before it. Raises `SupersededError` if that is not the newest.
        """
        attempt = (self.newest_attempt() if after is None else after) + 1
        while not publish_file(self._directory / "attempts" / str(attempt), b""):
            if after is not None:
                self.require_newest("drawing a new attempt", after)
            attempt += 1
        if after is not None:
            self.require_newest("drawing a new attempt", attempt)  # behind a gap that a savepoint has left
        try:
            self._supersede(attempt)
        except StorageError:  # a full disk: nobody has begun this attempt, and its driver draws it again
            remove_file(self._directory / "attempts" / str(attempt))
            raise
        return attempt

    def _supersede(self, attempt: int) -> None:
        """Record of every older attempt that has not started that it never will."""
        for older in self._attempts():
            path = self._directory / "attempts" / f"{older}.restored"
            if older < attempt and not path.is_file():
                publish_file(path, json.dumps({"superseded_by": attempt}).encode())

    def record_restored(self, attempt: int, checkpoint: int | None) -> None:
        """Record from where an attempt starts, once: what older ones complete beyond it is refused."""
        note = json.dumps({"restored": checkpoint}).encode()
        path = self._directory / "attempts" / f"{attempt}.restored"
        if not publish_file(path, note) and read_file(path) != note:
            self.require_newest("starting", attempt)
            raise StateError(
                f"{path}: expected attempt {attempt} to record its start once, came {read_file(path)!r}; "
                "draw a new attempt"
            )

    @property
    def starts(self) -> Mapping[int, int | None]:
        """From which checkpoint each attempt started, as far as it got that far."""
        return self._starts()

    def require_newest(self, doing: str, attempt: int) -> None:
        """Raise `SupersededError` if `attempt` is not the newest: it may complete nothing any more."""
        newest = self.newest_attempt()
        if attempt < newest:
            raise SupersededError.of(doing, attempt, newest, str(self._directory))

    def newest_attempt(self) -> int:
        """The newest attempt that was drawn; 0 if none was."""
        return max(self._attempts(), default=0)

    def _attempts(self) -> list[int]:
        names = [path.name for path in (self._directory / "attempts").iterdir()]
        return [int(name) for name in names if _ATTEMPT.fullmatch(name)]

    def _starts(self) -> dict[int, int | None]:
        """From which checkpoint each attempt started, as far as it got that far."""
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
                raise StateError(
                    f'{path}: expected {{"restored": id}}, came {read_file(path)[:40]!r}; '
                    "write there from which checkpoint that attempt started, or delete the file"
                ) from cause
        return starts

    # ------------------------------------------------------------ snapshots

    def next_checkpoint_id(self) -> int:
        """An id above every checkpoint that was ever begun here and is not discarded."""
        return max(self._checkpoints(), default=0) + 1

    def reserve(self, checkpoint: int) -> bool:
        """Take an id: its directory stands, so that no other driver begins with it; False if it was there."""
        try:
            self._path(checkpoint).mkdir()
        except FileExistsError:
            return False
        except OSError as cause:
            raise StorageError.of("creating", self._path(checkpoint), cause) from cause
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
        """Write one task's encoded snapshot, as `chk-<checkpoint>/<task>.<attempt>.state`, if it gets a file.

        What does not is durable with the manifest: without that there is no checkpoint either.
        """
        if len(snapshot) <= self._inline_bytes:
            file = f"chk-{checkpoint}/{METADATA}#{task}"
            handle = handle_of(file, checkpoint, task, attempt, snapshot, offset, shared)
            return replace(handle, content=snapshot)
        folder = self._path(checkpoint)
        make_directory(folder)
        try:
            return self._write(folder, checkpoint, task, attempt, snapshot, offset, shared)
        except StorageError:
            if folder.is_dir():
                raise
            make_directory(folder)  # a sweep has just removed it, empty
            return self._write(folder, checkpoint, task, attempt, snapshot, offset, shared)

    # ------------------------------------------------------------ completed checkpoints

    def publish(
        self,
        checkpoint: int,
        attempt: int,
        handles: Iterable[StateHandle],
        max_parallelism: int | None = None,
    ) -> CompletedCheckpoint:
        """Complete a checkpoint by its `_metadata`, atomically. Publishing the same again is harmless."""
        self.require_newest(f"publishing checkpoint {checkpoint}", attempt)
        told = {one.task: one for one in handles}
        completed = CompletedCheckpoint(checkpoint, attempt, told, max_parallelism)
        self._require_files(completed)
        make_directory(self._path(checkpoint))
        path = self._path(checkpoint) / METADATA
        # its name becomes durable with those of all snapshots, and nobody is told before that
        if not publish_file(path, completed.encode()) and read_file(path) != completed.encode():
            raise CheckpointConflictError(
                f"{path}: checkpoint {checkpoint} is complete already with other content; "
                "give every checkpoint an id of its own, see next_checkpoint_id"
            )
        self.require_newest(f"publishing checkpoint {checkpoint}", attempt)  # paused in between, perhaps
        if self.shared.any and (referenced := self._referenced()) is not None:
            self.shared.collect(referenced)
        return completed

    def completed_ids(self) -> tuple[int, ...]:
        """The ids of all published checkpoints, ascending, unverified."""
        return tuple(one for one in self._checkpoints() if (self._path(one) / METADATA).is_file())

    def load(self, checkpoint: int) -> CompletedCheckpoint:
        """A published checkpoint, every file of it verified."""
        return self._verified_files(self._manifest(checkpoint))

    def latest_completed(self) -> LatestCompleted:
        """The newest published checkpoint that is unaltered and of this line of attempts (ONCE-04)."""
        refused: list[Refused] = []
        starts = self._starts()
        for checkpoint in reversed(self.completed_ids()):
            try:
                completed = self.load(checkpoint)
            except FileNotFoundError:
                continue  # another driver has just discarded it
            except SnapshotCorruptError as damage:
                refused.append(Refused(checkpoint, str(damage)))
                continue
            reason = overtaken(completed, starts)
            if reason is None:
                return LatestCompleted(completed, tuple(refused))
            refused.append(Refused(checkpoint, reason))
        return LatestCompleted(None, tuple(refused))

    def discard(self, checkpoint: int) -> None:
        """Delete a checkpoint; its `_metadata` goes first, so that half of it is never a checkpoint."""
        directory = self._path(checkpoint)
        if not directory.is_dir():
            return
        if remove_file(directory / METADATA):
            sync_directory(directory)
        for path in _files_in(directory):
            remove_file(path)
        self._remove_if_empty(directory)

    def sweep(self, attempt: int) -> tuple[str, ...]:
        """Delete what attempts before `attempt` have left behind unpublished; answers the files.

        Files of `attempt` and of newer ones stay, and so does everything a readable manifest lists. A
        checkpoint whose manifest cannot be read is left alone: a person may want to look at it. Empty
        directories go too, but not above the newest completed checkpoint: they keep their ids from being
        drawn again (COORD-02).
        """
        referenced = self._referenced()
        swept = [] if referenced is None else list(self.shared.sweep(referenced, attempt))
        for folder in sorted((self._directory / WORKING).glob("*")):
            if _ATTEMPT.fullmatch(folder.suffix[1:]) and int(folder.suffix[1:]) < attempt:
                shutil.rmtree(folder, ignore_errors=True)  # a dead attempt's worker may still write there
        newest = max(self.completed_ids(), default=0)
        for checkpoint in self._checkpoints():
            directory = self._path(checkpoint)
            try:
                listed = {one.file for one in self._manifest(checkpoint).handles.values()}
            except FileNotFoundError:
                listed = set()
            except SnapshotCorruptError:
                continue
            for path in _files_in(directory):
                name = str(path.relative_to(self._directory))
                if name not in listed and _is_left_over(path.name, attempt) and remove_file(path):
                    swept.append(name)
            if checkpoint < newest:
                self._remove_if_empty(directory)
        return tuple(swept)

    def working(self, task: str, attempt: int) -> Path:
        """A folder for what a task keeps outside of its memory, swept when its attempt is over."""
        return self._directory / WORKING / f"{task}.{attempt}"

    def _referenced(self) -> set[str] | None:
        """The shared files that any manifest names; None if one cannot be read, so that nobody knows."""
        try:
            manifests = [self._manifest(one) for one in self.completed_ids()]
        except SnapshotCorruptError:
            return None
        return {one.file for there in manifests for handle in there.handles.values() for one in handle.shared}

    def _manifest(self, checkpoint: int) -> CompletedCheckpoint:
        """The manifest; `FileNotFoundError` if the checkpoint is not complete."""
        path = self._path(checkpoint) / METADATA
        if not path.is_file():
            raise FileNotFoundError(f"{path}: checkpoint {checkpoint} is not complete; restore another")
        return CompletedCheckpoint.decode(read_file(path), str(path.relative_to(self._directory)))

    def _path(self, checkpoint: int) -> Path:
        return self._directory / f"chk-{checkpoint}"

    def _checkpoints(self) -> Iterator[int]:
        """The ids that have a directory, ascending."""
        found = (_CHECKPOINT.fullmatch(path.name) for path in self._directory.iterdir())
        return iter(sorted(int(match.group(1)) for match in found if match))

    def _remove_if_empty(self, directory: Path) -> None:
        """Remove a directory; a task that is just writing into it keeps it."""
        try:
            directory.rmdir()
        except OSError:
            return


def _files_in(directory: Path) -> tuple[Path, ...]:
    """What is in a directory; nothing if another driver has just removed it."""
    try:
        return tuple(directory.iterdir())
    except FileNotFoundError:
        return ()


def _is_left_over(name: str, attempt: int) -> bool:
    """Whether a file's name says that an attempt before `attempt` wrote it, or half of it."""
    if name.startswith(f".{METADATA}") and name.endswith(TEMPORARY):
        return True
    match = _STATE.fullmatch(name)
    return match is not None and int(match.group(1)) < attempt
