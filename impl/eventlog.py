"""The event log: one JSON line for each protocol event, as the component was given it and answered it.

A log is one file for each task and attempt (`<attempt>-<task>.jsonl`; the coordinator's is
`coordinator.jsonl`), so that nothing has to be merged while the job runs. A line reaches the file in one
write before the answer is acted on: what a killed worker did is in its log. Trace validation reads it.
Without a folder there is no log, and an event costs one comparison more than the component itself.
"""

import itertools
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import orjson

from impl.state.durable import append
from impl.state.errors import StorageError

Wire = dict[str, object]
Extras = Callable[[list[Wire]], Mapping[str, object]]


class Component(Protocol):
    """A protocol component: it takes one wire event and answers its effects in order."""

    def apply(self, event: Wire) -> list[Wire]:
        """Apply `event`."""
        ...


class EventLog:
    """An append-only file of JSON lines, numbered from 0.

    A coordinator's log goes on over the attempts (`attempt` is set anew for each); a task's has one. With
    `continued` it goes on over drivers too: what the one before has written until now stays before it, in a
    copy, so that what that one may still write, if it is not dead, is in nobody's log.
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
            try:
                append(self._file, orjson.dumps({**head, **fields}, option=orjson.OPT_APPEND_NEWLINE))
            except OSError as cause:
                raise StorageError.of("writing", self._path, cause) from cause
            self._seq += 1

    @contextmanager
    def held(self) -> Iterator[None]:
        """No line is written meanwhile: whoever has one waits."""
        with self._writing:
            yield

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _copied(path: Path) -> int:
    """Put a copy of a log in its place; answers how many lines it has."""
    content = path.read_bytes()
    content = content[: content.rfind(b"\n") + 1]
    copy = path.with_name(f".{path.name}.tmp")
    copy.write_bytes(content)
    copy.replace(path)
    return content.count(b"\n")


def tasks_of_last_attempt(folder: Path) -> list[str]:
    """The tasks of the last attempt that a coordinator's log in `folder` tells of; none without one."""
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


class Recorded:
    """A component whose every event is recorded with its effects, if there is a log.

    `extras` is asked only then: what it costs to say how many records a barrier followed is not paid
    by a run without a log.
    """

    def __init__(self, name: str, component: Component, log: EventLog | None) -> None:
        self._name = name
        self._component = component
        self._log = log

    def apply(self, event: Wire, extras: Extras | None = None) -> list[Wire]:
        """Apply `event` to the component and answer its effects.

        Raises what the component raises; then nothing is recorded, since nothing happened.
        """
        effects = self._component.apply(event)
        if self._log is not None:
            more = extras(effects) if extras else {}
            self._log.line({"component": self._name, "event": event, "effects": effects, **more})
        return effects
