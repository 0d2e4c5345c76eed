"""The validation of the lines of a log between two cuts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from conformance.observe.causes import FileReader
from conformance.observe.coordinator import CoordinatorReader
from conformance.observe.cuts.assumed import Parts, assumed, new_run
from conformance.observe.cuts.places import Cut
from conformance.observe.eventlog import EventLog, Span, find
from conformance.observe.run_state import Attempt, NotQuietError, Run, Settings, without_collection
from conformance.observe.task import TaskReader


class PartRange(NamedTuple):
    """One part of a log: the input of a process that validates it."""

    folder: Path
    settings: Settings
    begin: Cut | None
    """None: the beginning of the log."""
    end: Cut | None
    """None: the end of the log."""


@dataclass
class Validated:
    """The result of validating a part. It is used only if `is_whole`."""

    is_whole: bool = False
    """Whether every line was accepted, and no checkpoint or message was under way at the cuts."""
    begin: object = None
    """The state that was assumed at the beginning of the part; None at the beginning of the log."""
    end: object = None
    """The state that the replay has reached at the end of the part; None at the end of the log."""
    events: int = 0
    cuts_compared: int = 0
    situations: Counter[str] = field(default_factory=Counter)
    rules: set[str] = field(default_factory=set)
    modes: set[str] = field(default_factory=set)
    attempts: dict[int, Attempt] = field(default_factory=dict)
    attempts_with_completion: set[int] = field(default_factory=set)
    taken_over_sinks: set[tuple[int, str]] = field(default_factory=set)
    sends_one_per_record: dict[str, bool] = field(default_factory=dict)
    """As in `Run`, by the lines of this part. If two parts differ, the log is validated sequentially."""
    sinks: set[str] = field(default_factory=set)
    undelivered: dict[tuple[int, str], int] = field(default_factory=dict)
    """By attempt and task: the number of completed checkpoints of which the task was never notified."""


def state_at(parts: Parts, cut: Cut) -> object:
    """All data that influences the replay after the cut. Equal data gives an equal replay.

    Raises NotQuietError if a checkpoint or message is under way at the cut.
    """
    run, checkpoint, attempt = parts.run, cut.last.checkpoint, cut.attempt
    if run.causes.in_flight(attempt):
        raise NotQuietError(f"a message of attempt {attempt} is on its way after checkpoint {checkpoint}")
    if any(left for (number, _), left in run.undelivered.items() if number == attempt):
        raise NotQuietError(f"a task does not know yet that checkpoint {checkpoint} is complete")
    if checkpoint in run.savepoints:
        raise NotQuietError(f"{checkpoint} is a savepoint: a later attempt may restore an older checkpoint")
    restored = run.attempts[attempt].restored
    return (
        max(run.attempts),
        run.attempts[attempt],
        [sorted(one for one in ids if one >= checkpoint) for ids in (run.completed, run.savepoints)],
        sorted(one for one in run.taken_over_checkpoints if one >= checkpoint),
        {at: one for at, one in run.offsets.items() if at[1] >= checkpoint or at[1] == restored},
        parts.coordinator.at_cut(checkpoint),
        sorted((one.file.name, one.at_cut(checkpoint)) for one in parts.tasks if one.file.attempt == attempt),
    )


def validated(bounds: PartRange) -> Validated:
    """Validate one part. Raises the errors of a replay for a rejected or malformed line."""
    found, log = Validated(), find(bounds.folder)
    with without_collection():
        try:
            parts = _begun(log, bounds)
            if bounds.begin is not None:
                found.begin = state_at(parts, bounds.begin)
                _forget_counts(parts.run)
            _continue(parts, log, bounds)
            readers: Sequence[FileReader] = [parts.coordinator, *parts.tasks]
            if parts.run.causes.run(readers) or any(_rejects(one) for one in parts.tasks if not one.grows):
                return found
            if bounds.end is not None:
                found.end = state_at(parts, bounds.end)
        except NotQuietError:
            return found
    _fill(found, parts.run)
    return found


def _begun(log: EventLog, bounds: PartRange) -> Parts:
    if bounds.begin is not None:
        return assumed(log, bounds.settings, bounds.begin)
    run = new_run(log)
    return Parts(run, CoordinatorReader(run, log.coordinator, bounds.settings), [])


def _continue(parts: Parts, log: EventLog, bounds: PartRange) -> None:
    """Replay the lines of the part. Files of later attempts belong to later parts."""
    before = -1 if bounds.begin is None else bounds.begin.attempt
    known = {reader.file.name for reader in parts.tasks}
    sinks = {file.task for file in log.tasks if file.mentions("sink")}
    for file in log.tasks:
        if file.name not in known and file.attempt > before:
            is_sink = file.task in sinks
            if bounds.end is None or file.attempt <= bounds.end.attempt:
                parts.tasks.append(TaskReader(parts.run, file, parts.coordinator.settings, is_sink))
    for reader in (parts.coordinator, *parts.tasks):
        name = reader.file.name
        begin = Span() if bounds.begin is None else bounds.begin.last.places.get(name, Span())
        end = None if bounds.end is None else bounds.end.last.places.get(name)
        reader.grows = end is not None
        reader.read(begin._replace(end=None if end is None else end.begin), shaped=parts.run.is_shaped)


def _rejects(reader: TaskReader) -> bool:
    return reader.end_rejection() is not None


def _forget_counts(run: Run) -> None:
    """Set the counts to zero: the part before has counted the lines before the cut."""
    run.add_up()
    run.events = run.cuts_compared = 0
    run.rules.clear()
    run.witnessed.clear()


def _fill(found: Validated, run: Run) -> None:
    run.add_up()
    found.is_whole = True
    found.events, found.cuts_compared = run.events, run.cuts_compared
    found.situations = Counter(run.witnessed.counts())
    found.rules, found.modes = run.rules, run.modes
    found.attempts = run.attempts
    found.attempts_with_completion = run.attempts_with_completion
    found.taken_over_sinks = run.taken_over_sinks
    found.sends_one_per_record = run.sends_one_per_record
    found.sinks = set(run.sinks)
    found.undelivered = {at: len(left) for at, left in run.undelivered.items() if left}
