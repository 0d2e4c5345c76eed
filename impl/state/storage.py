"""What a checkpoint storage is, and the records it hands out.

A task writes its snapshot and gets a handle; the handles of all tasks, published as a manifest, are the
completed checkpoint. What has no manifest is no checkpoint (ONCE-04). `memory` and `filesystem` are the
two storages.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, Self

from impl.state.errors import SnapshotCorruptError
from impl.state.sections import Sections
from impl.state.shared import SharedFile
from impl.state.snapshot import checksum


@dataclass(frozen=True, slots=True)
class StateHandle:
    """Where the snapshot of one task for one checkpoint lies, and how to tell that it is unaltered."""

    task: str
    checkpoint: int
    attempt: int
    file: str
    """Relative to the directory of the job: the snapshot's own, or the manifest that has it."""
    size: int
    """In bytes."""
    checksum: str
    """Hexadecimal, over the whole snapshot."""
    offset: int | None = None
    """A source's: how many rows of its partition are before the barrier."""
    shared: tuple[SharedFile, ...] = ()
    """Files beside it that other checkpoints may refer to as well."""
    content: bytes | None = field(default=None, repr=False)
    """The snapshot itself, where it is so small that the manifest has it."""

    @property
    def whole_size(self) -> int:
        """With the shared files, in bytes."""
        return self.size + sum(one.size for one in self.shared)

    def to_json(self) -> dict[str, Any]:
        """The handle as it travels in an acknowledgement."""
        told = {one.name: getattr(self, one.name) for one in fields(self)}
        told["shared"] = [list(one) for one in self.shared]
        if self.content is None:
            del told["content"]
        else:
            told["content"] = b64encode(self.content).decode()
        return told

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> Self:
        """The handle back; `KeyError` if it is none."""
        optional: dict[str, Any] = {
            "shared": tuple(SharedFile(*one) for one in json.get("shared", ())),
            "content": b64decode(json["content"]) if "content" in json else None,
        }
        given = {one.name: json[one.name] for one in fields(cls) if one.name not in optional}
        return cls(**given, **optional)


@dataclass(frozen=True, slots=True)
class CompletedCheckpoint:
    """A published checkpoint: one handle for each task that has state."""

    checkpoint: int
    attempt: int
    """The execution attempt that completed it."""
    handles: Mapping[str, StateHandle]
    """By task."""
    max_parallelism: int | None = None
    """The number of key groups; None if it is not told."""
    savepoint: Mapping[str, Any] | None = None
    """What only a savepoint tells: see `savepoints`; None for a checkpoint."""

    def encode(self) -> bytes:
        """The manifest: JSON with a checksum over everything else in it."""
        body = self._body()
        return _canonical(body | {"checksum": checksum(_canonical(body)).hex()}) + b"\n"

    @classmethod
    def decode(cls, data: bytes, file: str) -> Self:
        """The checkpoint of a manifest; `SnapshotCorruptError` if it is not as it was written."""
        try:
            body = json.loads(data)
            written = body.pop("checksum")
            found = checksum(_canonical(body)).hex()
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as cause:
            raise SnapshotCorruptError(file, "a JSON manifest with a checksum", repr(data[:40])) from cause
        if written != found:
            raise SnapshotCorruptError(file, f"checksum {written}", found)
        if body.get("version") != 1:
            raise SnapshotCorruptError(file, "a manifest of version 1", repr(body.get("version")))
        checkpoint, attempt, tasks = (body.get(name) for name in ("checkpoint", "attempt", "tasks"))
        parallelism, savepoint = body.get("max_parallelism"), body.get("savepoint")
        odd = [name for name in ("checkpoint", "attempt") if not _is_number(body.get(name))]
        if parallelism is not None and not _is_number(parallelism):
            odd.append("max_parallelism")
        if not isinstance(savepoint, dict | None):
            odd.append("savepoint")
        if odd or not isinstance(tasks, dict):
            expected = "ids that are numbers, and objects for tasks and savepoint"
            raise SnapshotCorruptError(file, expected, f"others: {', '.join(odd) or 'tasks'}")
        handles = {task: _handle(task, one, file) for task, one in tasks.items()}
        return cls(checkpoint, attempt, handles, parallelism, savepoint)

    def _body(self) -> dict[str, Any]:
        tasks = {task: handle.to_json() for task, handle in self.handles.items()}
        more = {"max_parallelism": self.max_parallelism, "savepoint": self.savepoint}
        told = {name: value for name, value in more.items() if value is not None}
        return {"version": 1, "checkpoint": self.checkpoint, "attempt": self.attempt, "tasks": tasks, **told}


@dataclass(frozen=True, slots=True)
class Refused:
    """A published checkpoint that may not be restored, and why."""

    checkpoint: int
    reason: str


@dataclass(frozen=True, slots=True)
class LatestCompleted:
    """The newest checkpoint that can be restored, None without one, and the newer ones refused."""

    completed: CompletedCheckpoint | None
    refused: tuple[Refused, ...]


class CheckpointStorage(Protocol):
    """Durable state of one job, shared by all its tasks and attempts."""

    def new_attempt(self, after: int | None = None) -> int:
        """Draw the id of a new execution attempt: above all others, and nobody else gets it.

        `after`: the attempt of the same driver before it; `SupersededError` if that is not the newest. An
        older attempt that has not recorded from where it starts never will.
        """

    def record_restored(self, attempt: int, checkpoint: int | None) -> None:
        """Record from where an attempt starts, once; what older ones complete beyond it is refused.

        `SupersededError` if a newer attempt was drawn before this one has recorded anything.
        """

    @property
    def starts(self) -> Mapping[int, int | None]:
        """From which checkpoint each attempt started, as far as it got that far; None: the beginning."""

    def require_newest(self, doing: str, attempt: int) -> None:
        """Raise `SupersededError` if `attempt` is not the newest: it may complete nothing any more."""

    def next_checkpoint_id(self) -> int:
        """An id above every checkpoint that was ever written here and is not discarded."""

    def reserve(self, checkpoint: int) -> bool:
        """Take an id: no other driver will begin with it (COORD-02). False if it was taken before."""

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
        """Make one task's encoded snapshot durable."""

    def read(self, handle: StateHandle) -> object:
        """The state behind a handle; `SnapshotCorruptError` if it is not as it was written."""

    def open(self, handle: StateHandle) -> Sections:
        """The sections behind a task's handle, each read and checked when it is asked for.

        `SnapshotCorruptError` if the file is not there or its index is not as it was written.
        """

    def publish(
        self,
        checkpoint: int,
        attempt: int,
        handles: Iterable[StateHandle],
        max_parallelism: int | None = None,
    ) -> CompletedCheckpoint:
        """Complete a checkpoint, atomically. Publishing the same again is harmless.

        `CheckpointConflictError` if the id is taken with other content, `SupersededError` if a newer
        attempt exists, before or right behind it: then nobody may act on what was published.
        """

    def completed_ids(self) -> tuple[int, ...]:
        """The ids of all published checkpoints, ascending, unverified."""

    def load(self, checkpoint: int) -> CompletedCheckpoint:
        """A published checkpoint, every file of it verified."""

    def latest_completed(self) -> LatestCompleted:
        """The newest published checkpoint that is unaltered and of this line of attempts (ONCE-04)."""

    def discard(self, checkpoint: int) -> None:
        """Delete a checkpoint, complete or not; one that is not there is fine."""

    def discard_state(self, handle: StateHandle) -> None:
        """Delete one task's snapshot; one that is not there is fine."""

    def sweep(self, attempt: int) -> tuple[str, ...]:
        """Delete what attempts before `attempt` have left behind unpublished; answers the files."""


def overtaken(completed: CompletedCheckpoint, starts: Mapping[int, int | None]) -> str | None:
    """Why a checkpoint is not of this line of attempts: a newer one started before it, and went on."""
    for attempt, start in sorted(starts.items()):
        if attempt > completed.attempt and (start is None or start < completed.checkpoint):
            origin = "the beginning" if start is None else f"checkpoint {start}"
            return (
                f"chk-{completed.checkpoint}: completed by attempt {completed.attempt} after attempt "
                f"{attempt} had started from {origin}; it belongs to a dead attempt, discard it"
            )
    return None


def _is_number(value: object) -> bool:
    """Whether it is an int from 0 on, of 63 bits."""
    return type(value) is int and 0 <= value < 1 << 63


def _handle(task: str, json: object, file: str) -> StateHandle:
    """The handle of a task; `SnapshotCorruptError` if it is none, or leads out of the folder."""
    try:
        handle = StateHandle.from_json(json)  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError, AttributeError) as cause:
        came = f"{type(cause).__name__} {cause}"[:100]
        raise SnapshotCorruptError(file, f"the handle of {task!r:.80}", came) from cause
    numbers = (handle.checkpoint, handle.attempt, handle.size, *(one.size for one in handle.shared))
    files: list[StateHandle | SharedFile] = [handle, *handle.shared]
    if (
        handle.task != task
        or not all(map(_is_number, numbers))
        or not (handle.offset is None or _is_number(handle.offset))
        or not all(type(one.file) is str and type(one.checksum) is str for one in files)
        or not all(_is_within(one.file) for one in files)
    ):
        expected = f"a handle of {task!r:.80} with numbers, and with files of this folder"
        raise SnapshotCorruptError(file, expected, repr(handle)[:200])
    return handle


def _is_within(file: str) -> bool:
    """Whether a relative name leads to nothing outside of its folder."""
    return bool(file) and "\0" not in file and not file.startswith("/") and ".." not in file.split("/")


def _canonical(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
