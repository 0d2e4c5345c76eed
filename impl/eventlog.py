"""The event log: one JSON line for each event of a protocol component, with the effects of the event.

Each task has one file for each attempt, `<attempt>-<task>.jsonl`. The coordinator has the file
`coordinator.jsonl`. So no process merges logs while the job runs. Each line is written by one call of the
kernel, before the effects of its event are carried out; only a sink's line is written after them. So the log
of a killed worker has every event whose effects were carried out, except perhaps the last event of a sink.
Trace validation reads the logs.
"""

import itertools
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import orjson

from impl.core.effects import Effect
from impl.core.events import Event
from impl.state.checkpoint_metadata import StateHandle
from impl.state.durable import append
from impl.state.errors import storage_errors

EventT = TypeVar("EventT", bound=Event, contravariant=True)
EffectT = TypeVar("EffectT", bound=Effect, covariant=True)
Fields = Callable[[tuple[Effect, ...]], Mapping[str, object]]


class Handler(Protocol[EventT, EffectT]):
    """A protocol component that handles the events of one type and returns effects of another type."""

    def handle(self, event: EventT) -> tuple[EffectT, ...]:
        """Apply `event`; returns the effects in order."""


class EventLog:
    """An append-only file of JSON lines, numbered from 0.

    The coordinator's log has the events of all attempts; the coordinator sets `attempt` for each attempt. A
    task's log has the events of one attempt. `continued`: whether the log begins with the complete lines of
    the previous driver. The constructor copies these lines into a new file, so a line that the previous
    driver still writes is in no log.
    """

    def __init__(self, folder: Path, name: str, task: str, attempt: int, *, continued: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = self._path = folder / f"{name}.jsonl"
        self.attempt = attempt
        self._task = task
        self._seq = _copied(path) if continued else 0
        self._writing = threading.RLock()
        kept = 0 if continued else os.O_TRUNC
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | kept, 0o644)

    def line(self, fields: Mapping[str, object]) -> None:
        """Append a line of `fields` with this log's attempt and task and the next number (`seq`).

        Raises `StorageError` if the disk is full. The file then has no part of the line.
        """
        with self._writing:
            head = {"attempt": self.attempt, "task": self._task, "seq": self._seq}
            with storage_errors("writing", self._path):
                append(self._file, _packed({**head, **fields}))
            self._seq += 1

    def step(self, component: str, event: Event, effects: tuple[Effect, ...], **fields: object) -> None:
        """Append an event of `component` with its effects and further `fields`. Raises as `line` does."""
        words = [effect.wire() for effect in effects]
        self.line({"component": component, "event": event.wire(), "effects": words, **fields})

    @contextmanager
    def locked(self) -> Iterator[None]:
        """A context in which no other thread writes a line. Other threads wait until the context ends."""
        with self._writing:
            yield

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _packed(line: Mapping[str, object]) -> bytes:
    options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATACLASS
    return orjson.dumps(line, default=_json, option=options)


def _json(value: object) -> object:
    if isinstance(value, StateHandle):
        return value.to_json()
    raise TypeError(f"expected a field of an event or an effect, got {type(value).__name__}")


def _copied(path: Path) -> int:
    """Replace a log by a copy of its complete lines; returns the number of lines."""
    content = path.read_bytes()
    content = content[: content.rfind(b"\n") + 1]
    copy = path.with_name(f".{path.name}.tmp")
    copy.write_bytes(content)
    copy.replace(path)
    return content.count(b"\n")


def tasks_of_last_attempt(folder: Path) -> list[str]:
    """The tasks of the last attempt in the coordinator's log in `folder`; an empty list without a log."""
    path = folder / "coordinator.jsonl"
    content = path.read_bytes() if path.is_file() else b""
    starts = [line for line in content.splitlines() if b'"attempt_started"' in line]
    return [str(task) for task in orjson.loads(starts[-1])["tasks"]] if starts else []


def set_aside(folder: Path) -> None:
    """Move the logs of an earlier run into a new folder `earlier-<n>`, with the first free number n."""
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        return
    number = next(one for one in itertools.count(1) if not (folder / f"earlier-{one}").exists())
    aside = folder / f"earlier-{number}"
    aside.mkdir()
    for file in files:
        file.rename(aside / file.name)


class Recorded(Generic[EventT, EffectT]):
    """A component and its log: each event is logged with its effects, if there is a log."""

    def __init__(self, name: str, component: Handler[EventT, EffectT], log: EventLog | None) -> None:
        self._name = name
        self._component = component
        self._log = log

    def handle(self, event: EventT, fields: Fields | None = None) -> tuple[EffectT, ...]:
        """Apply `event`; returns the effects in order.

        `fields`: a function that returns further fields of the line. It is called only if there is a log.
        Raises the errors of the component. Then no line is logged, because the event had no effect.
        """
        effects = self._component.handle(event)
        if self._log is not None:
            self._log.step(self._name, event, effects, **(fields(effects) if fields else {}))
        return effects
