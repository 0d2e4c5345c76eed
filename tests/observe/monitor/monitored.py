# ruff: noqa: E501 - one corruption a line
"""Corruptions of a log at INFO for the monitor: the altered place, and the expected report."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from conformance.observe.flink import grammar
from conformance.observe.flink.edits import (
    AcceptedLog,
    Edit,
    Edits,
    accepted_log,
    change,
    double,
    doubled,
    drop,
    move,
    removed,
    renumbered,
    replace,
)
from conformance.observe.flink.grammar import LogLine
from conformance.observe.flink.run_state import Settings
from conformance.observe.monitor.growing import Text
from conformance.observe.monitor.monitor import Monitor
from conformance.observe.monitor.reports import Alarm, Ended


class Watched(NamedTuple):
    alarms: list[Alarm]
    ended: list[Ended]
    monitor: Monitor


def watched(texts: Sequence[str], max_concurrent: int = 1) -> Watched:
    alarms: list[Alarm] = []
    ended: list[Ended] = []
    monitor = Monitor(alarms.append, ended.append, Settings(max_concurrent))
    for number, text in enumerate(texts, 1):
        monitor.read(Text("job.log", number, text))
    monitor.finish()
    return Watched(alarms, ended, monitor)


def at_info(log: AcceptedLog) -> list[str]:
    return [text for text in log.texts if " DEBUG " not in text]


class OfInfo(NamedTuple):
    """A corruption. The alarm must have one of these rules; without rules, a line is unreadable or missing."""

    name: str
    rules: tuple[str, ...]
    edits: Edits


def _inserted(after: str, text: Callable[[str, LogLine], str]) -> Edits:
    """Inserts, after each line of a kind, a line that is made from it."""

    def edits(log: AcceptedLog, random: Random) -> Iterator[Edit]:
        for line in log.of(after):
            if line.checkpoint != 0:
                made = text(log.text(line), line)
                yield Edit(f"{made[-60:]!r} after line {line.number}", line.number + 1, (made,))

    return edits


def _message(text: str, line: LogLine, message: str) -> str:
    """The text with another message about the same checkpoint, and optionally with another logger."""
    text = text.replace("CheckpointFailureManager", "CheckpointCoordinator")
    begin = max(text.find(f" {word}") for word in ("Completed", "Triggering", "Failed", "Restoring"))
    return text[: begin + 1] + message.format(number=line.checkpoint, job=line.job)


def _says(message: str) -> Callable[[str, LogLine], str]:
    return lambda text, line: _message(text, line, message)


def _altered(kind: str, to: Callable[[int], int], before: str = "heckpoint ", least: int = 3) -> Edits:
    def edits(log: AcceptedLog, random: Random) -> Iterator[Edit]:
        for line in log.of(kind):
            if line.checkpoint >= least:
                yield replace(log, line, f"{before}{line.checkpoint}", f"{before}{to(line.checkpoint)}")

    return edits


def _before_trigger(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    triggers = {line.checkpoint: line.number for line in log.of(grammar.TRIGGER)}
    return (move(log, triggers[line.checkpoint], line) for line in log.of(grammar.COMPLETED))


def _after_the_end(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    """A checkpoint is triggered after the job has finished or was cancelled."""
    last = list(log.of(grammar.TRIGGER))[-1]
    for line in log.of(grammar.JOB):
        if line.detail.partition(">")[2] in {"FINISHED", "CANCELED", "FAILED"}:
            text = log.text(last).replace(
                f"heckpoint {last.checkpoint} ", f"heckpoint {last.checkpoint + 1} ", 1
            )
            yield Edit(f"a trigger after line {line.number}", line.number + 1, (text,))


def _state(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    for line in log.of(grammar.JOB):
        text = log.text(line)
        yield change(
            line, text.replace(f" to {line.detail.partition('>')[2]}", " to QUIET", 1), "an unknown state"
        )


def _garbled(kind: str, old: str, new: str) -> Edits:
    return lambda log, random: (
        change(line, log.text(line).replace(old, new, 1), f"{old!r} is now {new!r}")
        for line in log.of(kind)
        if old in log.text(line)
    )


def _cut(kind: str, behind: str, more: int) -> Edits:
    def edits(log: AcceptedLog, random: Random) -> Iterator[Edit]:
        for line in log.of(kind):
            text = log.text(line)
            yield change(line, text[: text.index(behind) + len(behind) + more], "the line is cut")

    return edits


def _execution(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    for line in log.of(grammar.EXECUTION):
        if not line.detail.startswith("CREATED>"):
            yield replace(log, line, line.execution, f"{line.execution[:-1]}7"[::-1])


def _task_name(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    for line in log.of(grammar.EXECUTION):
        if not line.detail.startswith("CREATED>"):
            yield replace(log, line, line.task, f"x{line.task}")


def _completion_removed(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    """A completion is removed. Another checkpoint follows before the job changes its state."""
    following = dict(zip(log.lines, log.lines[1:], strict=False))
    for line in log.of(grammar.COMPLETED):
        if line in following and following[line].kind == grammar.TRIGGER:
            yield drop(line)


_RUNS = "INITIALIZING>RUNNING"

OF_INFO = (
    OfInfo("a trigger with an id used before", ("COORD-02",), renumbered(grammar.TRIGGER, -1, "checkpoint ")),
    OfInfo("a trigger doubled", ("COORD-02",), doubled(grammar.TRIGGER)),
    OfInfo("a trigger removed", ("COORD-07",), removed(grammar.TRIGGER, beside=grammar.COMPLETED)),
    OfInfo("a trigger with a far greater id", ("COORD-02",), _altered(grammar.TRIGGER, lambda n: n + 500)),
    OfInfo("a trigger after the end of the job", ("COORD-12",), _after_the_end),
    OfInfo("a completion doubled", ("COORD-07",), doubled(grammar.COMPLETED)),
    OfInfo("a completion of another id", ("COORD-07",), _altered(grammar.COMPLETED, lambda n: n + 500)),
    OfInfo("a completion of an older id", ("COORD-07",), _altered(grammar.COMPLETED, lambda n: n - 1)),
    OfInfo("a completion before its trigger", ("COORD-07",), _before_trigger),
    OfInfo("a completion removed", ("COORD-03",), _completion_removed),
    OfInfo("a completion of an aborted checkpoint", ("COORD-07",), _inserted(
        grammar.FAILED, _says("Completed checkpoint {number} for job {job} (9 bytes, checkpointDuration=9 ms)."))),
    OfInfo("an expiry of a completed checkpoint", ("COORD-10",), _inserted(
        grammar.COMPLETED, _says("Checkpoint {number} of job {job} expired before completing."))),
    OfInfo("a decline of a completed checkpoint", ("COORD-09",), _inserted(
        grammar.COMPLETED, _says(f"Decline checkpoint {{number}} by task {'a' * 32} of job {{job}} at x."))),
    OfInfo("a failure of a completed checkpoint", ("COORD-09",), _inserted(
        grammar.COMPLETED, _says("Failed to trigger checkpoint {number} for job {job}."))),
    OfInfo("a late answer for a pending checkpoint", ("COORD-06",), _inserted(
        grammar.TRIGGER, _says("Received late message for now expired checkpoint attempt 9{number} from task "
                               f"{'a' * 32} of job {{job}} at x."))),
    OfInfo("a restore from an older checkpoint", ("ONCE-04",), renumbered(grammar.RESTORED, -1, "Checkpoint ")),
    OfInfo("a restore of one that never completed", ("ONCE-04",),
           _altered(grammar.RESTORED, lambda n: n + 500, "Checkpoint ")),
    OfInfo("a restore removed", ("ONCE-04",), removed(grammar.RESTORED, "Checkpoint")),
    OfInfo("a restore while the job runs", ("ONCE-04",), _inserted(
        grammar.COMPLETED, _says("Restoring job {job} from Checkpoint {number} @ 0 for {job} located at x."))),
    OfInfo("a failure of the job removed", ("COORD-12",), removed(grammar.JOB, "RUNNING>RESTARTING")),
    OfInfo("a restart of the job removed", ("COORD-12",), removed(grammar.JOB, "RESTARTING>RUNNING")),
    OfInfo("a task that never ran", ("COORD-01",), removed(grammar.EXECUTION, _RUNS)),
    OfInfo("a task's state doubled", ("COORD-01",), doubled(grammar.EXECUTION, _RUNS)),
    OfInfo("the beginning of an execution removed", (), removed(grammar.EXECUTION, "CREATED>SCHEDULED")),
    OfInfo("another execution", (), _execution),
    OfInfo("another task name", (), _task_name),
    OfInfo("a checkpoint that is no number", (), _garbled(grammar.COMPLETED, "heckpoint ", "heckpoint x")),
    OfInfo("a line cut within its message", (), _cut(grammar.TRIGGER, "Triggering check", 2)),
    OfInfo("a line cut within the id of its job", (), _cut(grammar.COMPLETED, "for job ", 9)),
    OfInfo("an unknown word", (), _garbled(grammar.TRIGGER, "Triggering", "Trigering")),
    OfInfo("an unknown state", (), _state),
    OfInfo("a garbled logger", (), _garbled(grammar.COMPLETED, "CheckpointCoordinator", "CheckpointCoordinatr")),
)  # fmt: skip


def info_log(texts: Sequence[str]) -> AcceptedLog:
    """The log at level INFO. The survey is that of the whole log."""
    whole = accepted_log(texts)
    kept = at_info(whole)
    numbers = {place: number for number, place in enumerate(
        (place for place, text in enumerate(texts, 1) if " DEBUG " not in text), 1)}  # fmt: skip
    lines = [line._replace(number=numbers[line.number]) for line in whole.lines if line.number in numbers]
    return AcceptedLog(kept, lines, whole.survey)


__all__ = ["OF_INFO", "OfInfo", "Watched", "at_info", "double", "drop", "info_log", "watched"]
