"""Reads a run's event log: a folder with one file for each task and attempt, and one for the coordinator.

The JSON lines of a file are in the order of the task's events; no order between files is recorded. A line is
an event of a component with its effects, or an event of the runtime (`deployed`, `attempt_started`, ...).
Any other text raises an `EventLogError` that names the file and the line.
"""

import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import orjson

from conformance.observe.lines.line import Line
from conformance.observe.lines.shape import MARK, Shapes

COORDINATOR = "coordinator"
COMPONENTS = ("gate", "subtask", "sink", "coordinator", "store", "offsets")
KINDS = frozenset(
    {
        "deployed", "source_restored", "adopted", "gathered", "start_declined", "fault", "finished",
        "configured", "coordinator_started", "attempt_started", "attempt_failed", "checkpoint_refused",
        "publishing", "publication_failed",
    }
)  # fmt: skip
"""The kinds of the runtime's own events: docs/reference/event-log.md."""
_KNOWN = ", ".join(sorted(KINDS))
_TASK_FILE = re.compile(r"([0-9]{1,9})-(.+)\.jsonl")
LONGEST_LINE = 16 << 20
"""Maximum length of a line in bytes: a handle may contain a snapshot of 1 MiB."""
PIECE = 1 << 20
"""Number of bytes in one read. All files of a log are read in turns; each is opened again for each read."""


class EventLogError(ValueError):
    """A file of the log is invalid. The message names the file, the line (0: none) and why."""

    def __init__(self, file: str, line: int, why: str) -> None:
        super().__init__(f"{file}:{line}: {why}" if line else f"{file}: {why}")
        self.file = file
        self.line = line


class Span(NamedTuple):
    """A part of a file that begins with a whole line."""

    begin: int = 0
    """The offset of the first byte."""
    end: int | None = None
    """The offset after the last byte; None: to the end of the file."""
    lines: int = 0
    """The number of lines of the file before `begin`."""


WHOLE = Span()


class LogFile(NamedTuple):
    """One file: of one task in one attempt, or the coordinator's, which covers all attempts (`attempt` 0)."""

    path: Path
    task: str
    attempt: int

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.name

    def lines(self, *, shaped: bool = False, span: Span = WHOLE) -> Iterator[Line]:
        """Yield the lines in order. Raises EventLogError at the first line that is cut off or invalid.

        `shaped`: lines of a known shape (`lines.shape`) are not parsed again. `span`: only the lines in it.
        """
        shapes = Shapes(has_states=self.task == COORDINATOR) if shaped else None
        size = self.path.stat().st_size
        if span.end is None and size and self._piece(size - 1) != b"\n":
            with self.path.open("rb") as file:
                last = sum(1 for _ in file)
            raise EventLogError(self.name, last, "the last line is cut off; the file ends within it")
        place, number, begun = span.begin, span.lines, b""
        size = size if span.end is None else min(size, span.end)
        while place < size:
            piece = self._piece(place)[: size - place]
            place += len(piece)
            text = begun + piece
            *whole, begun = text.split(b"\n")
            if len(begun) > LONGEST_LINE:
                why = f"expected lines of at most {LONGEST_LINE:,} bytes"
                raise EventLogError(self.name, number + 1, why)
            read = None if shapes is None or MARK in text else shapes.read
            for text in whole:
                number += 1
                line: Line | None = None if read is None else read(number, text)
                if line is None:
                    line = self._parsed(number, text)
                    if shapes is not None:
                        shapes.follow(text, line.attempt, self.task)
                yield line

    def mentions(self, component: str) -> bool:
        """Whether the component has an event in the file."""
        if not self.path.stat().st_size:
            return False
        pattern = rb'"component":\s*"' + component.encode() + b'"'
        with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            # most files do not contain the name, and `find` shows that much faster than a regular expression
            return content.find(b'"%s"' % component.encode()) >= 0 and re.search(pattern, content) is not None

    def _piece(self, place: int) -> bytes:
        """At most PIECE bytes of the file from `place` on."""
        with self.path.open("rb", buffering=0) as file:
            file.seek(place)
            return file.read(PIECE)

    def _parsed(self, number: int, text: bytes) -> Line:
        try:
            fields = orjson.loads(text)
        except orjson.JSONDecodeError as broken:
            raise EventLogError(self.name, number, f"expected a JSON object, {broken}") from broken
        if not isinstance(fields, dict):
            raise EventLogError(self.name, number, f"expected a JSON object, got {text[:60]!r}")
        attempt, task, seq = fields.get("attempt"), fields.get("task"), fields.get("seq")
        if type(attempt) is not int or type(task) is not str:
            raise EventLogError(self.name, number, "expected an int 'attempt' and a string 'task'")
        if task != self.task:
            raise EventLogError(self.name, number, f"expected lines of task {self.task!r}, got {task!r}")
        if seq != number - 1:
            raise EventLogError(
                self.name, number, f"expected seq {number - 1}, got {seq!r}; a line is missing"
            )
        component = fields.get("component")
        if component is None:
            kind = fields.get("kind")
            if type(kind) is not str:
                raise EventLogError(
                    self.name, number, "expected a 'component', or the 'kind' of a runtime event"
                )
            if kind not in KINDS:
                why = f"unknown kind {kind[:60]!r}; expected one of {_KNOWN}"
                raise EventLogError(self.name, number, why)
            return Line(number, attempt, None, {}, [], fields)
        event, effects = fields.get("event"), fields.get("effects")
        if component not in COMPONENTS:
            raise EventLogError(self.name, number, f"unknown component {component!r:.60}")
        if not isinstance(event, dict) or type(event.get("kind")) is not str:
            raise EventLogError(self.name, number, f"expected an 'event' with a kind, got {event!r:.100}")
        if not _are_effects(effects):
            raise EventLogError(self.name, number, f"expected a list of 'effects', got {effects!r:.100}")
        return Line(number, attempt, component, event, effects, fields)


def _are_effects(effects: object) -> TypeGuard[list[dict[str, Any]]]:
    if type(effects) is not list:
        return False
    for effect in effects:  # noqa: SIM110 - `all` with a generator is measurably slower for a long log
        if type(effect) is not dict or type(effect.get("kind")) is not str:
            return False
    return True


class EventLog(NamedTuple):
    """The files of one run."""

    coordinator: LogFile
    tasks: tuple[LogFile, ...]
    """Sorted by attempt, then by task."""


def file_of(path: Path) -> LogFile:
    """Return the file of a task. Raises EventLogError unless its name is `<attempt>-<task>.jsonl`."""
    named = _TASK_FILE.fullmatch(path.name)
    if named is None:
        raise EventLogError(path.name, 0, "expected a name like 1-count-0.jsonl: attempt and task")
    return LogFile(path, named[2], int(named[1]))


def find(folder: Path) -> EventLog:
    """Find the files of the event log in `folder`.

    Raises EventLogError if the folder or the coordinator's file is missing, or another file has a wrong name.
    """
    if not folder.is_dir():
        raise EventLogError(str(folder), 0, "expected the folder of an event log; there is none")
    coordinator = folder / f"{COORDINATOR}.jsonl"
    if not coordinator.is_file():
        raise EventLogError(
            str(folder), 0, f"expected {coordinator.name} in it; run the job with event_log=True"
        )
    tasks = []
    for path in folder.glob("*.jsonl"):
        if path == coordinator:
            continue
        tasks.append(file_of(path))
    ordered = sorted(tasks, key=lambda file: (file.attempt, file.task))
    return EventLog(LogFile(coordinator, COORDINATOR, 0), tuple(ordered))
