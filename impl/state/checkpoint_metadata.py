"""The records of a checkpoint: the handle of a task's snapshot, and the manifest.

A task writes its snapshot and gets a handle. The driver publishes the handles of all tasks as a manifest, and
thereby completes the checkpoint. Without a manifest there is no checkpoint (ONCE-04).
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

from impl.core.fencing.attempts import overtaken_by
from impl.state.errors import SnapshotCorruptError
from impl.state.shared import SharedFile
from impl.state.snapshot import checksum

MEMORY_BYTES: Final = 1 << 20
"""The maximum size of a task's snapshot in the memory of the driver, in bytes. Flink's default is 5 MiB."""


@dataclass(frozen=True, slots=True)
class StateHandle:
    """The file and the checksum of one task's snapshot for one checkpoint."""

    task: str
    checkpoint: int
    attempt: int
    file: str
    """The file with the snapshot, or the manifest that contains it. Relative to the storage's location."""
    size: int
    """The size of the snapshot, in bytes."""
    checksum: str
    """The checksum of the whole snapshot, hexadecimal."""
    offset: int | None = None
    """For a source: the number of rows that it has read before the barrier, in all attempts."""
    shared: tuple[SharedFile, ...] = ()
    """The files of the snapshot to which other checkpoints may refer, too."""
    content: bytes | None = field(default=None, repr=False)
    """The encoded snapshot, if the manifest contains it; else None."""

    @property
    def whole_size(self) -> int:
        """The size of the snapshot with its shared files, in bytes."""
        return self.size + sum(one.size for one in self.shared)

    def to_json(self) -> dict[str, Any]:
        """The handle as JSON, for acknowledgements and manifests."""
        body = {one.name: getattr(self, one.name) for one in fields(self)}
        body["shared"] = [list(one) for one in self.shared]
        if self.content is None:
            del body["content"]
        else:
            body["content"] = b64encode(self.content).decode()
        return body

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> Self:
        """The handle that `to_json` has written as `json`. Raises KeyError if a field is missing."""
        optional: dict[str, Any] = {
            "shared": tuple(SharedFile(*one) for one in json.get("shared", ())),
            "content": b64decode(json["content"]) if "content" in json else None,
        }
        given = {one.name: json[one.name] for one in fields(cls) if one.name not in optional}
        return cls(**given, **optional)


@dataclass(frozen=True, slots=True)
class CompletedCheckpoint:
    """A published checkpoint: one handle for each task."""

    checkpoint: int
    attempt: int
    """The attempt that has published the checkpoint."""
    handles: Mapping[str, StateHandle]
    """The handles, by task."""
    max_parallelism: int | None = None
    """The number of key groups; None if it is not recorded."""
    savepoint: Mapping[str, Any] | None = None
    """The additional fields of a savepoint (`savepoints`); None for a checkpoint."""

    def has_the_content_of(self, other: "CompletedCheckpoint") -> bool:
        """Whether both have the same id, and the same snapshots of the same tasks."""
        checksums, others = (
            {task: handle.checksum for task, handle in one.handles.items()} for one in (self, other)
        )
        return self.checkpoint == other.checkpoint and checksums == others

    def encode(self) -> bytes:
        """The manifest: JSON with a checksum over its other fields."""
        body = self._body()
        return _canonical(body | {"checksum": checksum(_canonical(body)).hex()}) + b"\n"

    @classmethod
    def decode(cls, data: bytes, file: str) -> Self:
        """The checkpoint of a manifest. Raises SnapshotCorruptError, with `file`, if it was altered."""
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
        given = {name: value for name, value in more.items() if value is not None}
        return {"version": 1, "checkpoint": self.checkpoint, "attempt": self.attempt, "tasks": tasks, **given}


@dataclass(frozen=True, slots=True)
class Refused:
    """A published checkpoint that cannot be restored, and the reason."""

    checkpoint: int
    reason: str


@dataclass(frozen=True, slots=True)
class LatestCompleted:
    """The newest checkpoint that can be restored, or None, and the newer ones that cannot be restored."""

    completed: CompletedCheckpoint | None
    refused: tuple[Refused, ...]


def why_dead(completed: CompletedCheckpoint, starts: Mapping[int, int | None]) -> str | None:
    """A text that states which newer attempt makes a checkpoint dead; None if it is not dead.

    `starts`: maps each attempt that has started to the checkpoint from which it has started.
    """
    attempt = overtaken_by(starts, completed.checkpoint, completed.attempt)
    if attempt is None:
        return None
    start = starts[attempt]
    origin = "the beginning" if start is None else f"checkpoint {start}"
    return (
        f"chk-{completed.checkpoint}: completed by attempt {completed.attempt} after attempt {attempt} had "
        f"started from {origin}; it is a dead checkpoint, discard it"
    )


def _is_number(value: object) -> bool:
    """Whether the value is an int from 0 to 2**63 - 1."""
    return type(value) is int and 0 <= value < 1 << 63


def _handle(task: str, json: object, file: str) -> StateHandle:
    """The handle of a task. Raises SnapshotCorruptError if it is malformed or names a file elsewhere."""
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
    """Whether the relative path `file` leads to no file outside of its folder."""
    return bool(file) and "\0" not in file and not file.startswith("/") and ".." not in file.split("/")


def _canonical(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
