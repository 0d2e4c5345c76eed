"""Surveys a log before its replay: the job's tasks, gates and executions, and the release.

A log that cannot be judged raises an error here: a logger was not at its level, the beginning is missing,
the release is too old, or the log has lines of several jobs.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from conformance.observe.flink import grammar
from conformance.observe.flink.errors import (
    MissingLevelsError,
    ReleaseTooOldError,
    SeveralJobsError,
    TruncatedLogError,
    UnjudgedError,
)
from conformance.observe.flink.grammar import LogLine

ByKind = Mapping[str, Sequence[LogLine]]
_REASONS_OF_THE_MODEL = ("suspend", "expired", "subsumed", "declined")
"""Words in the reasons of failures that the model itself gives."""


class Release(NamedTuple):
    """How the release that wrote the log behaves, and what it logs, where releases differ."""

    name: str
    all_tasks_must_run: bool
    """Whether a checkpoint starts only if every task runs. Up to 1.13 only the triggered ones have to."""
    after_finish: bool
    """Whether checkpoints continue after tasks have finished, and an ended channel counts as aligned."""
    remembered_aborts: int
    """The number of aborts that a task remembers; 0: the maximum number of pending checkpoints."""
    logs_broadcast: bool
    """Whether a task logs that it broadcasts a barrier."""
    logs_received: bool
    """Whether a task logs each notification of a completion that it receives, even a repeated one."""


class Execution(NamedTuple):
    """One execution of a task."""

    task: str
    attempt: int

    @property
    def thread(self) -> str:
        """The name of its thread, which the lines of the execution show."""
        return f"{self.task}#{self.attempt}"


class Survey(NamedTuple):
    """The job as its log shows it. A *thread* is the name `name (2/4)#1` of an execution's thread."""

    job: str
    release: Release
    tasks: tuple[str, ...]
    """`name (2/4)`, in the order of scheduling."""
    sources: AbstractSet[str]
    """The tasks without an input gate."""
    channels: dict[str, tuple[str, ...]]
    """By task: its channels `gate.index`, in their order."""
    executions: dict[str, Execution]
    """By id of the execution."""
    by_thread: dict[str, str]
    """By thread: the id of its execution."""
    started: AbstractSet[tuple[str, int]]
    """Threads and the checkpoints that they started."""
    last_started: dict[str, int]
    """By thread: the highest checkpoint that it started."""
    last_barrier: dict[tuple[str, str], int]
    """By thread and channel: the number of the line of the last barrier."""
    finished: AbstractSet[str]
    """The threads whose execution finished."""
    completed: AbstractSet[int]
    """The checkpoints that the log reports as completed."""
    failed: AbstractSet[int]
    """The checkpoints that the log reports as failed."""
    unfinalized: AbstractSet[int]
    """The checkpoints that failed for a reason that the model itself never gives."""

    def absent(self, thread: str, checkpoint: int) -> dict[str, tuple[list[str], bool]]:
        """By vertex, without that of `thread`: the threads of this attempt that finished without starting
        `checkpoint`, and whether other threads of the vertex have started it.
        """
        vertex, attempt = vertex_of(thread), thread.rpartition("#")[2]
        lacking: dict[str, list[str]] = defaultdict(list)
        present: set[str] = set()
        for other in sorted(self.by_thread):
            name = vertex_of(other)
            if name == vertex or other.rpartition("#")[2] != attempt:
                continue
            if (other, checkpoint) in self.started:
                present.add(name)
            elif other in self.finished:
                lacking[name].append(other)
        return {name: (threads, name in present) for name, threads in lacking.items()}


def vertex_of(task: str) -> str:
    """The task's name without its number."""
    return task.rpartition(" (")[0]


def survey(lines: Sequence[LogLine]) -> Survey:
    """Survey the lines of a log. Raises FlinkLogError; UnjudgedError if the replay has no rule for a line."""
    of: dict[str, list[LogLine]] = defaultdict(list)
    for line in lines:
        of[line.kind].append(line)
    _refuse_old(of)
    _refuse_without_beginning(lines)
    missing = sorted({needed for kind, needed in grammar.NEEDED.items() if not of[kind]})
    _refuse_without(missing)
    _refuse_unjudged(of)
    jobs = sorted({line.job for line in of[grammar.TRIGGER]})
    if len(jobs) > 1:
        raise SeveralJobsError(
            f"expected the log of one job, it is of {len(jobs)}: {', '.join(jobs)}; run one job on a "
            "cluster of its own, or cut the log between them"
        )
    tasks = tuple(dict.fromkeys(line.task for line in of[grammar.EXECUTION]))
    channels: dict[str, set[str]] = defaultdict(set)
    for line in of[grammar.BARRIER]:
        channels[line.task.rpartition("#")[0]].add(line.detail)
    gated = {vertex_of(task) for task in channels}
    if not gated and len({vertex_of(task) for task in tasks}) > 1:
        _refuse_without(["org.apache.flink.streaming.runtime.io at DEBUG"])
    executions = {
        line.execution: Execution(line.task.rpartition("#")[0], int(line.task.rpartition("#")[2]))
        for line in (*of[grammar.BARRIER], *of[grammar.TASK])
    } | {line.execution: Execution(line.task, int(line.detail)) for line in of[grammar.DEPLOYED]}
    starts = sorted((line.task, line.checkpoint) for line in of[grammar.START])
    return Survey(
        job=jobs[0],
        release=release_of(lines),
        tasks=tasks,
        sources=frozenset(task for task in tasks if vertex_of(task) not in gated),
        channels={task: tuple(sorted(found, key=_place)) for task, found in channels.items()},
        executions=executions,
        by_thread={execution.thread: name for name, execution in executions.items()},
        started=frozenset(starts),
        last_started=dict(starts),
        last_barrier={(line.task, line.detail): line.number for line in of[grammar.BARRIER]},
        finished=frozenset(line.task for line in of[grammar.TASK] if line.detail.endswith(">FINISHED")),
        completed=frozenset(line.checkpoint for line in of[grammar.COMPLETED]),
        failed=frozenset(line.checkpoint for line in of[grammar.FAILED]),
        unfinalized=frozenset(line.checkpoint for line in of[grammar.FAILED] if has_other_reason(line)),
    )


def has_other_reason(line: LogLine) -> bool:
    """Whether the line of a failure gives a reason that the model itself never gives."""
    return bool(line.detail) and not any(word in line.detail.lower() for word in _REASONS_OF_THE_MODEL)


def _place(channel: str) -> list[int]:
    return [int(part) for part in channel.split(".")]


def _refuse_old(of: ByKind) -> None:
    for line in of[grammar.OLD]:
        raise ReleaseTooOldError(
            f"line {line.number}: this wording is of a release before 1.13, whose lines do not all name "
            "their checkpoint; expected a log of Flink 1.13 or newer"
        )


def _refuse_without_beginning(lines: Sequence[LogLine]) -> None:
    """Raises TruncatedLogError if a line names a checkpoint before a line shows the start of the job."""
    for line in lines:
        if line.kind in {grammar.STORED, grammar.ID_RESET, grammar.RESTORED}:
            return
        if line.kind == grammar.JOB and line.detail.startswith("CREATED>"):
            return
        if line.checkpoint >= 0:
            raise TruncatedLogError(
                f"line {line.number}: expected the log to begin before the job ran, this line is of "
                f"checkpoint {line.checkpoint} and no line before it is of the start; prepend the older "
                "files of a rolled log (cat job.log.1 job.log | barrierspec trace flink -)"
            )


def _refuse_without(missing: Sequence[str]) -> None:
    if missing:
        raise MissingLevelsError(
            f"no line of {', '.join(missing)}: expected these loggers at these levels in one log of the job "
            "manager and of all task managers; set logger.<name>.name and logger.<name>.level in "
            "log4j.properties, run the job until a checkpoint has completed, and concatenate the logs"
        )


def _refuse_unjudged(of: ByKind) -> None:
    for kind in (grammar.TRACKED, grammar.SNAPSHOT, grammar.TRIGGER):
        for line in of[kind]:
            why = unjudged(line)
            if why:
                raise UnjudgedError(f"line {line.number}: {why}")


def unjudged(line: LogLine) -> str:
    """The reason why a log with this line is not replayed; empty if there is none."""
    if line.kind == grammar.TRACKED:
        return "the job runs at least once; only aligned gates are replayed"
    if line.kind == grammar.SNAPSHOT and line.detail == "true":
        return f"checkpoint {line.checkpoint} is unaligned; only aligned gates are replayed"
    detail = line.detail.lower() if line.kind == grammar.TRIGGER else ""
    if "savepoint" in detail and ("suspend" in detail or "terminate" in detail or "{" not in detail):
        return (
            f"checkpoint {line.checkpoint} is a stop-with-savepoint, or a savepoint of 1.14 or older; of "
            "savepoints only plain ones from 1.15 on are replayed"
        )
    return ""


def release_of(lines: Sequence[LogLine]) -> Release:
    """Infer the release from the wording of a log."""
    kinds = {line.kind for line in lines}
    received, broadcast = grammar.COMPLETION_RECEIVED in kinds, grammar.BROADCAST in kinds
    typed = any("{" in line.detail for line in lines if line.kind == grammar.TRIGGER)
    old = "1.14" if received else "1.13"
    new = "1.16 or newer" if broadcast else "1.15 or newer"
    return Release(
        name=new if typed else old,
        all_tasks_must_run=typed or received,
        after_finish=typed or (received and _triggers_after_finish(lines)),
        remembered_aborts=0 if broadcast else 128,
        logs_broadcast=broadcast,
        logs_received=received,
    )


def _triggers_after_finish(lines: Sequence[LogLine]) -> bool:
    """Whether a checkpoint was triggered after an execution had finished.

    In 1.14 this needs an option, which is off by default: the coordinator then refuses the request and logs
    no trigger.
    """
    finished = False
    for line in lines:
        if line.kind == grammar.EXECUTION:
            before, _, state = line.detail.partition(">")
            finished = (finished and before != "CREATED") or state == "FINISHED"
        elif line.kind == grammar.TRIGGER and finished:
            return True
    return False
