"""The event log: one JSON line for each event of a protocol component, with the effects.

A log is one file for each task and attempt (`<attempt>-<task>.jsonl`; the coordinator's is
`coordinator.jsonl`), so that nothing is merged while the job runs. A line is in the file, by one
write, before its effects are carried out: the log of a killed worker has everything that it did. Trace
validation reads it.
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
from impl.state.durable import append
from impl.state.errors import storage_errors
from impl.state.storage import StateHandle

EventT = TypeVar("EventT", bound=Event, contravariant=True)
EffectT = TypeVar("EffectT", bound=Effect, covariant=True)
Fields = Callable[[tuple[Effect, ...]], Mapping[str, object]]


class Handler(Protocol[EventT, EffectT]):
    """A protocol component that takes one union of events and returns another of effects."""

    def handle(self, event: EventT) -> tuple[EffectT, ...]:
        """Apply `event`; the effects in order."""


class EventLog:
    """An append-only file of JSON lines, numbered from 0.

    The coordinator's log continues over all attempts (`attempt` is set for each); a task's has one. With
    `continued` it continues over drivers too: the lines that the previous driver has written until now are
    copied, so that a line which it still writes, if it is alive, is in no log.
    """

    def __init__(self, folder: Path, name: str, task: str, attempt: int, *, continued: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = self._path = folder / f"{name}.jsonl"
        self.attempt = attempt
        self._task = task
        self._seq = _copied(path) if continued else 0
        self._writing = threading.Lock()
        kept = 0 if continued else os.O_TRUNC
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | kept, 0o644)

    def line(self, fields: Mapping[str, object]) -> None:
        """Append `fields` under this log's attempt, task and next number.

        Raises `StorageError` if the disk is full; then nothing of the line is in the file.
        """
        with self._writing:
            head = {"attempt": self.attempt, "task": self._task, "seq": self._seq}
            with storage_errors("writing", self._path):
                append(self._file, _packed({**head, **fields}))
            self._seq += 1

    def step(self, component: str, event: Event, effects: tuple[Effect, ...], **fields: object) -> None:
        """Append an event of `component` with its effects and further `fields`; errors as in `line`."""
        words = [effect.wire() for effect in effects]
        self.line({"component": component, "event": event.wire(), "effects": words, **fields})

    @contextmanager
    def held(self) -> Iterator[None]:
        """A thread that writes a line waits until the end of the context."""
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
    """Replace a log by a copy of its complete lines; returns their number."""
    content = path.read_bytes()
    content = content[: content.rfind(b"\n") + 1]
    copy = path.with_name(f".{path.name}.tmp")
    copy.write_bytes(content)
    copy.replace(path)
    return content.count(b"\n")


def tasks_of_last_attempt(folder: Path) -> list[str]:
    """The tasks of the last attempt in the coordinator's log in `folder`; none without a log."""
    path = folder / "coordinator.jsonl"
    content = path.read_bytes() if path.is_file() else b""
    starts = [line for line in content.splitlines() if b'"attempt_started"' in line]
    return [str(task) for task in orjson.loads(starts[-1])["tasks"]] if starts else []


def set_aside(folder: Path) -> None:
    """Move the log of an earlier run, which has other tasks, into the first free folder `earlier-<n>`."""
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        return
    number = next(one for one in itertools.count(1) if not (folder / f"earlier-{one}").exists())
    aside = folder / f"earlier-{number}"
    aside.mkdir()
    for file in files:
        file.rename(aside / file.name)


class Recorded(Generic[EventT, EffectT]):
    """A component whose every event is logged with its effects, if there is a log."""

    def __init__(self, name: str, component: Handler[EventT, EffectT], log: EventLog | None) -> None:
        self._name = name
        self._component = component
        self._log = log

    def handle(self, event: EventT, fields: Fields | None = None) -> tuple[EffectT, ...]:
        """Apply `event`; returns the effects in order.

        `fields` returns further fields of the line; it is called only if there is a log. If the component
        raises an error, this raises it too; nothing is logged then, because nothing has happened.
        """
        effects = self._component.handle(event)
        if self._log is not None:
            self._log.step(self._name, event, effects, **(fields(effects) if fields else {}))
        return effects
