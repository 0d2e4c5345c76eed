"""Builds the state of a replay at a cut from the lines of the last checkpoint before it.

A replay begins after the last checkpoint but one, with no pending checkpoint and no message on its way. It
reads the lines up to the cut. Facts that these lines do not show, such as aborts that a task remembers, are
assumed to be absent. The assumed state is used only if the replay of the earlier part reaches an equal state.
"""

import re

from conformance.observe.coordinator import CoordinatorReader
from conformance.observe.cuts.places import Cut
from conformance.observe.eventlog import EventLog, LogFile, Span
from conformance.observe.lines.line import Line
from conformance.observe.run_state import NotQuietError, Run, Settings
from conformance.observe.task import TaskReader

_MOST_STATUSES = 10_000
"""Maximum number of lines that are searched, from the start of an attempt, for tasks that become RUNNING."""
_MOST_FIRST = 16
"""Maximum number of lines of the runtime that are read at the beginning of a task's file."""
_PRE_COMMIT = "pre_commit"


class Parts:
    """The readers of a replay, and the state that they share."""

    def __init__(self, run: Run, coordinator: CoordinatorReader, tasks: list[TaskReader]) -> None:
        self.run = run
        self.coordinator = coordinator
        self.tasks = tasks


def new_run(log: EventLog) -> Run:
    """A new `Run` whose `logged_attempts` lists the files of the log."""
    run = Run()
    for file in log.tasks:
        run.logged_attempts.setdefault(file.task, []).append(file.attempt)
    return run


def assumed(log: EventLog, settings: Settings, cut: Cut) -> Parts:
    """The readers of the coordinator and of the attempt's tasks at the cut.

    Raises NotQuietError if a checkpoint or message is under way at the cut, and the errors of a replay.
    """
    run = new_run(log)
    coordinator = CoordinatorReader(run, log.coordinator, settings)
    started, *statuses = _first(log.coordinator, cut.started, _MOST_STATUSES, "trigger")
    coordinator.begin_at(started, statuses, cut.completed, cut.restores)
    restored = run.attempts[cut.attempt].restored
    tasks = []
    for file in log.tasks:
        if file.attempt != cut.attempt:
            continue
        if restored is not None:
            _restore_offset(run, log, file, restored)
        is_sink = file.mentions("sink")
        reader = TaskReader(run, file, coordinator.settings, is_sink)
        for line in _first(file, Span(), _MOST_FIRST, None):
            if line.component is None and reader.replay(line) is not None:
                raise NotQuietError(f"{file.name} waits at its beginning")
        reader.begin_at(cut.before.checkpoint, _transaction(file, cut) if is_sink else None)
        tasks.append(reader)
    for one in (coordinator, *tasks):
        begin, end = (at.places[one.file.name] for at in (cut.before, cut.last))
        one.grows = True
        one.read(Span(begin.begin, end.begin, begin.lines), shaped=run.is_shaped)
    if run.causes.run([coordinator, *tasks]):
        raise NotQuietError(f"lines before {cut.last.checkpoint} wait for others")
    return Parts(run, coordinator, tasks)


def _first(file: LogFile, span: Span, most: int, until: str | None) -> list[Line]:
    """At most `most` lines of `span`, before the first line of kind `until`.

    If `until` is None: the lines before the first event of a gate or subtask. Raises NotQuietError if there
    is no such line.
    """
    found: list[Line] = []
    for line in file.lines(span=span):
        if len(found) == most or (until is None and line.component in {"gate", "subtask"}):
            break
        if until is not None and found and line.kind in {until, "attempt_started"}:
            break
        found.append(line)
    if not found:
        raise NotQuietError(f"{file.name} has no lines at its beginning")
    return found


def _transaction(file: LogFile, cut: Cut) -> int:
    """The transaction that the sink pre-commits for the last checkpoint."""
    begin, end = (at.places[file.name] for at in (cut.before, cut.last))
    for line in file.lines(span=Span(begin.begin, end.begin, begin.lines)):
        for effect in line.effects:
            transaction = effect.get("transaction")
            if line.component == "sink" and effect["kind"] == _PRE_COMMIT and type(transaction) is int:
                return transaction
    raise NotQuietError(f"{file.name} pre-commits nothing for {cut.last.checkpoint}")


def _restore_offset(run: Run, log: EventLog, file: LogFile, restored: int) -> None:
    """Set the offset that an earlier attempt of the source has logged at the restored checkpoint, if any."""
    pattern = re.compile(
        rb'\{"kind": ?"broadcast_barrier", ?"checkpoint": ?%d\}.*"offset": ?(\d+)' % restored
    )
    for earlier in log.tasks:
        if earlier.task == file.task and earlier.attempt < file.attempt:
            found = pattern.search(earlier.path.read_bytes())
            if found is not None:
                run.offsets[file.task, restored] = int(found[1])
