"""Trace validation: whether an event log is a run of the protocol, and which situations it witnesses.

The model replays every component of every task and attempt. An event of one file may have its cause in
another file; `causes` reads the files in an order in which each cause comes first. The first event that the
protocol forbids is reported with file, line, rule and reason. A trace without a required situation is
UNDETERMINED.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.observe.causes import FileReader
from conformance.observe.coordinator import CoordinatorReader
from conformance.observe.eventlog import EventLog, EventLogError, find
from conformance.observe.record import Record
from conformance.observe.replay import Rejected
from conformance.observe.run_state import Run, Settings, without_collection
from conformance.observe.sink import orphaned
from conformance.observe.situations import REQUIRED, SITUATIONS, possible, under_covered
from conformance.observe.task import TaskReader
from conformance.observe.waiting_events import root
from conformance.refusals.refused_answer import RefusedAnswer
from conformance.verdict import Verdict
from model.components import WireError


@dataclass(frozen=True, slots=True)
class Rejection:
    """The first event that the protocol forbids."""

    file: str
    line: int
    """The number of the line, from 1."""
    rules: tuple[str, ...]
    """The charged rules; the first is the primary one."""
    why: str
    """The condition that does not hold, with its values, in plain words."""
    event: str
    """The line as it was recorded; empty if the rejection is found at the end of a file."""
    refused: RefusedAnswer | None = None
    """Set if the model refuses the event or answers it with other effects; None if another check failed."""
    waiting: tuple[str, ...] = ()
    """If every file waits for a cause: the next event of each file, and the cause that is missing."""

    def describe(self) -> str:
        """File, line, rule and reason in one line."""
        return f"{self.file}:{self.line}: {self.rules[0]}: {self.why}"


@dataclass(frozen=True, slots=True)
class TraceResult:
    """The result for one log."""

    verdict: Verdict
    events: int
    """Number of events of components that agree with the model."""
    attempts: int
    modes: frozenset[str]
    """The modes of the gates."""
    cuts_compared: int
    """The number of barriers at which the receiver's record count was compared with the sender's.

    Where barriers overtake, the number of channels of complete checkpoints that were compared (UNAL-37).
    """
    situations: Mapping[str, int]
    missing: tuple[str, ...]
    """Required situations that did not occur."""
    rules: tuple[str, ...]
    """Rules that fired, sorted."""
    rejection: Rejection | None

    def describe(self) -> str:
        """The result in one line."""
        if self.rejection is not None:
            return self.rejection.describe()
        seen = sum(1 for name in SITUATIONS if self.situations.get(name))
        bound = (
            f"{self.events:,} events of {self.attempts} attempts accepted, {seen} of {len(SITUATIONS)} "
            "situations witnessed"
        )
        return f"{bound}; {under_covered(self.missing)}" if self.missing else bound


def validate(
    folder: Path,
    settings: Settings | None = None,
    required: Collection[str] = REQUIRED,
    record: Record | None = None,
    *,
    remember: bool = True,
) -> TraceResult:
    """Validate the event log in `folder`.

    `settings`: the coordinator's configuration, as far as the log does not record it. `required`: the
    situations (`SITUATIONS`, `RARE`) without which the verdict is UNDETERMINED. `record` receives every
    replayed event. `remember`: whether to cache steps of the model (`conformance.observe.memo`). The cache
    does not change the result. A log that is rejected with the cache is validated again without it, because
    the message shows the whole state, and a cached state lacks fields that do not influence the result.
    Raises EventLogError if the log cannot be read, ValueError if `required` has an unknown name.
    """
    result = _validated(folder, settings or Settings(), required, record, remember)
    if result.rejection is None or record is not None or not remember:
        return result
    whole = _validated(folder, settings or Settings(), required, None, remember=False)
    assert whole.rejection is not None, f"only cached steps reject {result.rejection.describe()}"
    places = [(one.file, one.line) for one in (result.rejection, whole.rejection)]
    assert places[0] == places[1], f"cached steps reject {places[0]}, the model {places[1]}"
    return whole


def _validated(
    folder: Path, settings: Settings, required: Collection[str], record: Record | None, remember: bool
) -> TraceResult:
    log = find(folder)
    run = Run(record=record, remember=remember)
    run.witnessed.watch = None if record is None else record.witnessed
    run.witnessed.missing(required)  # raises now, not after the replay, if a name is unknown
    readers = _readers(run, log, settings)
    with without_collection():
        rejection = _read(run, readers)
    run.add_up()
    return result_of(run, rejection, run.witnessed.missing(possible(required, run.modes)))


def result_of(run: Run, rejection: Rejection | None, missing: tuple[str, ...]) -> TraceResult:
    """The result of a run that was replayed. `missing`: the required situations that did not occur."""
    verdict = Verdict.UNDETERMINED if missing else Verdict.CONFORMS
    return TraceResult(
        verdict=Verdict.DIVERGES if rejection else verdict,
        events=run.events,
        attempts=len(run.attempts),
        modes=frozenset(run.modes),
        cuts_compared=run.cuts_compared,
        situations=run.witnessed.counts(),
        missing=missing,
        rules=tuple(sorted(run.rules)),
        rejection=rejection,
    )


def _readers(run: Run, log: EventLog, settings: Settings) -> list[FileReader]:
    for file in log.tasks:
        run.logged_attempts.setdefault(file.task, []).append(file.attempt)
    sinks = {file.task for file in log.tasks if file.mentions("sink")}
    try:
        coordinator = CoordinatorReader(run, log.coordinator, settings)
    except WireError as malformed:
        raise EventLogError(log.coordinator.name, 0, f"'configured': {malformed}") from malformed
    tasks = [TaskReader(run, file, coordinator.settings, file.task in sinks) for file in log.tasks]
    return [coordinator, *tasks]


MALFORMED_LINE = (KeyError, TypeError, AttributeError, IndexError, OverflowError, ValueError, WireError)


def _read(run: Run, readers: list[FileReader]) -> Rejection | None:
    """Replay all files. Returns the first rejection, or None."""
    try:
        stuck = run.causes.run(readers)
    except EventLogError:
        raise
    except Rejected as rejected:
        assert run.causes.reading is not None
        found = rejection_of(run.causes.reading, rejected.rules, rejected.why)
        return replace(found, refused=rejected.refused)
    except MALFORMED_LINE as malformed:
        assert run.causes.reading is not None
        raise malformed_line(run.causes.reading, malformed) from malformed
    if stuck:
        named, need, why = root(stuck, run.causes)
        stuck.sort(key=lambda one: (one[0] is not named, one[0].file.name))
        waiting = tuple(f"{reader.file.name}:{reader.number}: {need.why}" for reader, need in stuck)
        return replace(rejection_of(named, need.rules, why), waiting=waiting)
    for reader in readers:
        at_end = reader.end_rejection() if isinstance(reader, TaskReader) else None
        if at_end is not None:
            return rejection_of(reader, *at_end)
    lost = orphaned(run, run.sinks)
    if lost is not None:
        return rejection_of(readers[0], *lost)
    for (_, task), undelivered in run.undelivered.items():
        for _ in undelivered if task in run.sinks else ():
            run.witnessed.see("completion not delivered")
    return None


def malformed_line(reader: FileReader, malformed: Exception) -> EventLogError:
    """The error for a line with a missing field, or a field of a wrong type."""
    line = reader.line
    named = line.fields.get("kind") or line.event.get("kind") if line is not None else "a line"
    fields = f"the fields of {named!r:.60} as in docs/reference/event-log.md"
    why = f"expected {fields}, {type(malformed).__name__}: {malformed}"
    return EventLogError(reader.file.name, reader.number, why[:300])


def rejection_of(reader: FileReader, rules: tuple[str, ...], why: str) -> Rejection:
    """A rejection with the file and the current line of `reader`."""
    line = reader.line
    if line is None:  # the file was read to its end
        return Rejection(reader.file.name, 0, rules, why, "")
    text = reader.file.path.read_bytes().splitlines()[line.number - 1]
    return Rejection(reader.file.name, line.number, rules, why, text.decode(errors="replace"))
