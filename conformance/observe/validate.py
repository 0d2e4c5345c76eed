"""Trace validation: is a run's event log a run of the protocol, and what has it witnessed?

Every component of every task and attempt is replayed through the model, and the files are joined by what
caused what. The first event that no rule allows is named with its place, the rule and the guard that
refused it. A trace in which a required situation never came is UNDETERMINED, not green.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.observe.blame import FileReader, number, root
from conformance.observe.causes import Need, Reader
from conformance.observe.coordinator import CoordinatorReader
from conformance.observe.eventlog import EventLog, EventLogError, find
from conformance.observe.record import Record
from conformance.observe.replay import Rejected
from conformance.observe.run import Run, Settings
from conformance.observe.sink import orphaned
from conformance.observe.situations import REQUIRED, possible
from conformance.observe.task import TaskReader
from conformance.refusals.answer import RefusedAnswer
from conformance.verdict import Verdict
from model.components import WireError


@dataclass(frozen=True, slots=True)
class Rejection:
    """The event that no rule allows."""

    file: str
    line: int
    """From 1."""
    rules: tuple[str, ...]
    """The rules charged, the first one above all."""
    why: str
    """The guard that refused it, with its values."""
    event: str
    """The line as it was recorded."""
    refused: RefusedAnswer | None = None
    """The answer, where the model itself refused it."""
    waiting: tuple[str, ...] = ()
    """The next event of every file, where none can go on: its place, and the cause that it waits for."""

    def describe(self) -> str:
        """Place, rule and reason in one line."""
        return f"{self.file}:{self.line}: {self.rules[0]}: {self.why}"


@dataclass(frozen=True, slots=True)
class TraceResult:
    """What came of one log."""

    verdict: Verdict
    events: int
    """Component events that were replayed and agree."""
    attempts: int
    modes: frozenset[str]
    """The modes of the gates."""
    counted: int
    """Barriers whose record count was compared with the sender's: the cut was checked there."""
    situations: Mapping[str, int]
    missing: tuple[str, ...]
    """Required situations that never came."""
    rules: tuple[str, ...]
    """Rules that fired, sorted."""
    rejection: Rejection | None

    def describe(self) -> str:
        """The result in one line."""
        if self.rejection is not None:
            return self.rejection.describe()
        seen = sum(1 for count in self.situations.values() if count)
        bound = f"{self.events:,} events of {self.attempts} attempts accepted, {seen} situations witnessed"
        return f"{bound}; under-covered: no {', no '.join(self.missing)}" if self.missing else bound


def validate(
    folder: Path,
    settings: Settings | None = None,
    required: Collection[str] = REQUIRED,
    record: Record | None = None,
) -> TraceResult:
    """Validate the event log in `folder`.

    `settings`: how the coordinator was configured, where the log does not tell; `required`: the
    situations (`SITUATIONS`, `RARE`) without which the verdict is UNDETERMINED; `record` gets what was
    replayed. Raises EventLogError for a log that cannot be read.
    """
    log = find(folder)
    run = Run(record=record)
    run.witnessed.watch = None if record is None else record.witnessed
    run.witnessed.missing(required)  # a name that is none is an error now, not after the reading
    readers = _readers(run, log, settings or Settings())
    rejection = _read(run, readers)
    missing = run.witnessed.missing(possible(required, run.modes))
    verdict = Verdict.UNDETERMINED if missing else Verdict.CONFORMS
    return TraceResult(
        verdict=Verdict.DIVERGES if rejection else verdict,
        events=run.events,
        attempts=len(run.attempts),
        modes=frozenset(run.modes),
        counted=run.counted,
        situations=run.witnessed.counts(),
        missing=missing,
        rules=tuple(sorted(run.rules)),
        rejection=rejection,
    )


def _readers(run: Run, log: EventLog, settings: Settings) -> list[FileReader]:
    for file in log.tasks:
        run.logged.setdefault(file.task, []).append(file.attempt)
    sinks = {file.task for file in log.tasks if file.mentions("sink")}
    try:
        coordinator = CoordinatorReader(run, log.coordinator, settings)
    except WireError as odd:
        raise EventLogError(log.coordinator.name, 0, f"'configured': {odd}") from odd
    tasks = [TaskReader(run, file, coordinator.settings, file.task in sinks) for file in log.tasks]
    return [coordinator, *tasks]


def _read(run: Run, readers: list[FileReader]) -> Rejection | None:
    """Replay everything: the event that was rejected, if one was."""
    current = _Current()
    try:
        stuck = run.causes.run([current.watch(reader) for reader in readers])
    except Rejected as refused:
        return replace(_rejection(current.reader, refused.rules, refused.why), refused=refused.refused)
    if stuck:
        waiting = [(current.of(reader), need) for reader, need in stuck]
        named, need, why = root(waiting, run.causes)
        waiting.sort(key=lambda one: (one[0] is not named, one[0].file.name))
        told = tuple(f"{reader.file.name}:{number(reader)}: {need.why}" for reader, need in waiting)
        return replace(_rejection(named, need.rules, why), waiting=told)
    for reader in readers:
        left = reader.left_over() if isinstance(reader, TaskReader) else None
        if left is not None:
            return _rejection(reader, *left)
    lost = orphaned(run)
    if lost is not None:
        return _rejection(readers[0], *lost)
    for attempt, task, checkpoint in run.told:
        if (attempt, task, checkpoint) not in run.heard and task in run.sinks:
            run.witnessed.see("completion not heard")
    return None


_ODD_FIELDS = (KeyError, TypeError, AttributeError, IndexError, OverflowError, ValueError, WireError)


def odd_fields(reader: FileReader, odd: Exception) -> EventLogError:
    """The line that is being replayed lacks a field, or has one of another type."""
    line = reader.line
    named = line.fields.get("kind") or line.event.get("kind") if line is not None else "a line"
    why = f"expected the fields of {named!r:.60} as docs/event-log.md has them, {type(odd).__name__}: {odd}"
    return EventLogError(reader.file.name, number(reader), why[:300])


class _Watched:
    """A reader that says when it is reading."""

    def __init__(self, current: "_Current", reader: FileReader) -> None:
        self.reader = reader
        self._current = current

    def advance(self) -> Need | None:
        self._current.reader = self.reader
        try:
            return self.reader.advance()
        except (EventLogError, Rejected):
            raise
        except _ODD_FIELDS as odd:
            raise odd_fields(self.reader, odd) from odd


class _Current:
    """Which file is being read."""

    reader: FileReader

    def watch(self, reader: FileReader) -> _Watched:
        return _Watched(self, reader)

    def of(self, reader: Reader) -> FileReader:
        assert isinstance(reader, _Watched)
        return reader.reader


def _rejection(reader: FileReader, rules: tuple[str, ...], why: str) -> Rejection:
    line = reader.line
    if line is None:  # the file was read to its end
        return Rejection(reader.file.name, 0, rules, why, "")
    text = reader.file.path.read_bytes().splitlines()[line.number - 1]
    return Rejection(reader.file.name, line.number, rules, why, text.decode(errors="replace"))
