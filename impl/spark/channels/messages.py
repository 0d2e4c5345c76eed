"""The messages between the driver and its subtasks, and the mail of one subtask.

A message is a frozen dataclass in a process, and a JSON object with its `kind` on the socket. Commands go
from the driver to a subtask, reports from a subtask to the driver. *Mail* is all that a subtask reads from
its inbox except frames: commands, and messages of other threads of its process.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar, get_args

import orjson

from impl.metrics import SnapshotMeasures, TaskLoad
from impl.spark.errors import FrameError
from impl.spark.savepoints.savepoint_options import SavepointOptions
from impl.state import StateHandle


# ---------------------------------------------------------------- commands
@dataclass(frozen=True, slots=True)
class DeployTask:
    """Restore `states`, the snapshots of the subtask's stage in checkpoint `restored`, and run.

    `peers`: maps each downstream subtask to the host and port of its listener. `restored`: None for a start
    from the beginning. `passed_ms`: ms since the attempt began.
    """

    peers: Mapping[str, tuple[str, int]]
    restored: int | None
    states: tuple[StateHandle, ...]
    passed_ms: int = 0


@dataclass(frozen=True, slots=True)
class StartCheckpoint:
    """A source takes its snapshot. `timestamp`: ms since the attempt began, by the driver's clock.

    `savepoint`: the options of a savepoint; None for a checkpoint.
    """

    checkpoint: int
    timestamp: int
    savepoint: SavepointOptions | None = None


@dataclass(frozen=True, slots=True)
class CheckpointCompleted:
    """The checkpoint is complete."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class CheckpointAborted:
    """The checkpoint was aborted. `completed`: the newest completed checkpoint; -1 if there is none."""

    checkpoint: int
    completed: int


@dataclass(frozen=True, slots=True)
class FinishTask:
    """The final checkpoint is complete, so the source ends its partition."""


@dataclass(frozen=True, slots=True)
class InjectFault:
    """The driver has reached the fault point `point`, and `action` happens to this subtask."""

    action: str
    point: str


@dataclass(frozen=True, slots=True)
class AnswerFault:
    """Whether the fault that the subtask has reported may happen."""

    granted: bool


# ---------------------------------------------------------------- reports
@dataclass(frozen=True, slots=True)
class Registered:
    """The subtask's process runs; its listener for data is at `host` and `port`."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Running:
    """The subtask has restored its state and runs."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The process is alive. `records`: handled in this attempt. `buffered`: bytes that wait at its inputs."""

    records: int
    buffered: int
    load: TaskLoad = field(default_factory=TaskLoad)


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The snapshot of `state.checkpoint` is durable."""

    state: StateHandle
    measures: SnapshotMeasures


@dataclass(frozen=True, slots=True)
class Declined:
    """The subtask takes no snapshot for the checkpoint. `cause`: the error that caused `reason`, or None."""

    checkpoint: int
    reason: str
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class DataEnded:
    """The end of data has passed through the subtask."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The subtask has finished. `records`: those handled in this attempt."""

    records: int
    load: TaskLoad = field(default_factory=TaskLoad)


@dataclass(frozen=True, slots=True)
class Failed:
    """The subtask has failed.

    `secondary`: whether the subtask has only lost a connection, probably because another subtask has failed.
    `final`: whether every further attempt would fail in the same way.
    """

    reason: str
    secondary: bool
    final: bool


@dataclass(frozen=True, slots=True)
class FaultReached:
    """The subtask has reached the fault point of fault `number`, and waits for an `AnswerFault`."""

    number: int


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The control connection of the subtask is lost. A thread of the driver reports this."""

    reason: str


# ---------------------------------------------------------------- mail
@dataclass(frozen=True, slots=True)
class SnapshotWritten:
    """A snapshot is durable."""

    handle: StateHandle


@dataclass(frozen=True, slots=True)
class SnapshotFailed:
    """A snapshot could not be written."""

    checkpoint: int
    cause: str


@dataclass(frozen=True, slots=True)
class BarrierLeft:
    """A barrier with a time-out was sent to `peer` before its alignment has timed out."""

    checkpoint: int
    peer: str


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """The subtask fails with `error`."""

    error: Exception


FaultCommand: TypeAlias = InjectFault | AnswerFault
TaskCommand: TypeAlias = StartCheckpoint | CheckpointCompleted | CheckpointAborted | FinishTask
Command: TypeAlias = DeployTask | TaskCommand | FaultCommand
Report: TypeAlias = (
    Registered
    | Running
    | Heartbeat
    | Acknowledged
    | Declined
    | DataEnded
    | Finished
    | Failed
    | FaultReached
    | Disconnected
)
Mail: TypeAlias = TaskCommand | SnapshotWritten | SnapshotFailed | BarrierLeft | TaskFailed

Message = TypeVar("Message")
_COMMANDS: Mapping[str, type[Command]] = MappingProxyType({one.__name__: one for one in get_args(Command)})
_REPORTS: Mapping[str, type[Report]] = MappingProxyType({one.__name__: one for one in get_args(Report)})
_READ: Mapping[str, Callable[[Any], object]] = MappingProxyType(
    {
        "peers": lambda peers: {peer: (str(host), int(port)) for peer, (host, port) in peers.items()},
        "states": lambda states: tuple(map(StateHandle.from_json, states)),
        "state": StateHandle.from_json,
        "savepoint": lambda options: None if options is None else SavepointOptions(*options),
        "measures": lambda measures: SnapshotMeasures(**measures),
        "load": lambda load: TaskLoad(**load),
    }
)
"""Maps a field to the function that reads its JSON value. All other fields are JSON values."""


def pack_message(message: Command | Report) -> bytes:
    """The message as JSON."""
    values = {one.name: getattr(message, one.name) for one in fields(message)}
    named = {"kind": type(message).__name__, **values}
    try:
        return orjson.dumps(named, default=_json, option=orjson.OPT_PASSTHROUGH_DATACLASS)
    except orjson.JSONEncodeError:  # text with a lone surrogate, such as a file name that is not UTF-8
        named = {name: _utf8(value) if isinstance(value, str) else value for name, value in named.items()}
        return orjson.dumps(named, default=_json, option=orjson.OPT_PASSTHROUGH_DATACLASS)


def unpack_command(packed: bytes) -> Command:
    """A command. Raises `FrameError` for any other bytes."""
    return _unpacked(packed, _COMMANDS)


def unpack_report(packed: bytes) -> Report:
    """A report. Raises `FrameError` for any other bytes."""
    return _unpacked(packed, _REPORTS)


def _utf8(text: str) -> str:
    """The text. Lone surrogates become escapes."""
    return text.encode(errors="backslashreplace").decode()


def _json(value: object) -> object:
    if isinstance(value, StateHandle):
        return value.to_json()
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, tuple):
        return list(value)
    raise TypeError(f"expected a field of a control message, got {type(value).__name__}")


def _unpacked(packed: bytes, known: Mapping[str, type[Message]]) -> Message:
    try:
        values = orjson.loads(packed)
        kind = known[values.pop("kind")]
        return kind(**{name: _READ[name](one) if name in _READ else one for name, one in values.items()})
    except (AttributeError, KeyError, TypeError, ValueError) as wrong:
        raise FrameError(
            f"expected one of the control messages {', '.join(known)}, got {packed[:100]!r}; driver and "
            "workers must be of one version: install the package anew"
        ) from wrong
