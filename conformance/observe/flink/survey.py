"""What a first look over a log finds: the job's tasks, its gates, its executions, and the release's wording.

A log that cannot be judged is refused here, with what to do: its loggers were not at their levels, its
beginning is missing, its release is too old, it tells of several jobs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from conformance.observe.flink import grammar
from conformance.observe.flink.errors import (
    MissingLevelsError,
    ReleaseTooOldError,
    SeveralJobsError,
    TruncatedLogError,
    UnjudgedError,
)
from conformance.observe.flink.grammar import Said

_RUNTIME = "org.apache.flink.runtime"
_STREAMING = "org.apache.flink.streaming.runtime"
_NEEDED = {
    grammar.TRIGGER: (f"{_RUNTIME}.checkpoint", "DEBUG"),
    grammar.ACK: (f"{_RUNTIME}.checkpoint", "DEBUG"),
    grammar.START: (f"{_STREAMING}.tasks", "DEBUG"),
    grammar.SNAPSHOT: (f"{_STREAMING}.tasks", "DEBUG"),
    grammar.STORING: (f"{_STREAMING}.tasks", "DEBUG"),
    grammar.EXECUTION: (f"{_RUNTIME}.executiongraph", "INFO"),
    grammar.DEPLOYED: (f"{_RUNTIME}.executiongraph", "INFO"),
    grammar.JOB: (f"{_RUNTIME}.executiongraph", "INFO"),
}
"""Kinds of lines without which nothing can be judged, the logger that writes them, and its level."""
_GATE = (f"{_STREAMING}.io", "DEBUG")


class Release(NamedTuple):
    """How the release that wrote the log behaves and what it tells, where releases differ."""

    name: str
    asks_all_tasks: bool
    """A checkpoint starts only if every task runs; up to 1.13 only those that are triggered have to."""
    after_finish: bool
    """Checkpoints go on when tasks have finished, and an ended channel counts as aligned."""
    remembers: int
    """How many aborts a task remembers; 0: as many as checkpoints may be pending at once."""
    tells_broadcast: bool
    """A task says that it broadcasts a barrier."""
    tells_heard: bool
    """A task says that news of a completion reached it, also when it is no news."""


class Execution(NamedTuple):
    """One execution of a task."""

    task: str
    attempt: int

    @property
    def thread(self) -> str:
        """The name of its thread, by which its own lines name it."""
        return f"{self.task}#{self.attempt}"


class Survey(NamedTuple):
    """The job as its log shows it."""

    job: str
    release: Release
    tasks: tuple[str, ...]
    """`name (2/4)`, in the order of scheduling."""
    sources: frozenset[str]
    """The tasks without an input gate."""
    channels: dict[str, tuple[str, ...]]
    """By task: its channels `gate.index`, in their order."""
    executions: dict[str, Execution]
    """By id."""
    by_thread: dict[str, str]
    """Ids by the name of the thread."""
    started: frozenset[tuple[str, int]]
    """Executions (by thread) and the checkpoints that they have started."""
    last_started: dict[str, int]
    """By execution (thread): the highest checkpoint that it started."""
    last_barrier: dict[tuple[str, str], int]
    """By execution and channel: the line of the last barrier."""
    finished: frozenset[str]
    """Executions (by thread) that finished."""
    completed: frozenset[int]
    """Checkpoints that the log tells completed."""
    failed: frozenset[int]
    """Checkpoints that the log tells failed."""

    def absent(self, thread: str, checkpoint: int) -> dict[str, tuple[list[str], bool]]:
        """By other vertex: executions of that attempt that finished without starting `checkpoint`.

        With each whether other executions of the vertex did start it.
        """
        vertex, attempt = vertex_of(thread), thread.rpartition("#")[2]
        found: dict[str, tuple[list[str], bool]] = {}
        for other in sorted(self.by_thread):
            if vertex_of(other) == vertex or other.rpartition("#")[2] != attempt:
                continue
            lacking, present = found.get(vertex_of(other), ([], False))
            if (other, checkpoint) in self.started:
                present = True
            elif other in self.finished:
                lacking = [*lacking, other]
            found[vertex_of(other)] = lacking, present
        return {name: (lacking, present) for name, (lacking, present) in found.items() if lacking}


def vertex_of(task: str) -> str:
    """The task's name without its number."""
    return task.rpartition(" (")[0]


def survey(said: Sequence[Said]) -> Survey:
    """Look over what was said. Raises FlinkLogError and UnjudgedError."""
    seen = {line.kind for line in said}
    if grammar.OLD in seen:
        line = next(line for line in said if line.kind == grammar.OLD)
        raise ReleaseTooOldError(
            f"line {line.number}: this wording is of a release before 1.13, whose lines do not all say which "
            "checkpoint they are about; expected a log of Flink 1.13 or newer"
        )
    _beginning(said)
    _levels(seen)
    _judged(said)
    job = _one_job(said)
    executions, tasks = _executions(said)
    channels = _channels(said)
    gated = {vertex_of(task) for task in channels}
    sources = frozenset(task for task in tasks if vertex_of(task) not in gated)
    if not gated and len({vertex_of(task) for task in tasks}) > 1:
        logger, level = _GATE
        raise MissingLevelsError(_advice([f"{logger} at {level}"]))
    return Survey(
        job=job,
        release=release_of(said, seen),
        tasks=tasks,
        sources=sources,
        channels=channels,
        executions=executions,
        by_thread={execution.thread: name for name, execution in executions.items()},
        started=frozenset((line.task, line.checkpoint) for line in said if line.kind == grammar.START),
        last_started=_last_started(said),
        last_barrier={(line.task, line.detail): line.number for line in said if line.kind == grammar.BARRIER},
        finished=frozenset(
            line.task for line in said if line.kind == grammar.TASK and line.detail.endswith(">FINISHED")
        ),
        completed=frozenset(line.checkpoint for line in said if line.kind == grammar.COMPLETED),
        failed=frozenset(line.checkpoint for line in said if line.kind == grammar.FAILED),
    )


def _levels(seen: set[str]) -> None:
    missing = sorted(
        {f"{logger} at {level}" for kind, (logger, level) in _NEEDED.items() if kind not in seen}
    )
    if missing:
        raise MissingLevelsError(_advice(missing))


def _advice(missing: list[str]) -> str:
    return (
        f"no line of {', '.join(missing)}: expected these loggers at these levels in one log of the job "
        "manager and of all task managers; set logger.<name>.name and logger.<name>.level in "
        "log4j.properties, run the job until a checkpoint has completed, and concatenate the logs"
    )


def _beginning(said: Sequence[Said]) -> None:
    """Something must tell of the job's start before anything tells of a checkpoint."""
    for line in said:
        if line.kind == grammar.RESTORED or (line.kind == grammar.JOB and line.detail.startswith("CREATED>")):
            return
        if line.checkpoint >= 0:
            raise TruncatedLogError(
                f"line {line.number}: expected the log to begin before the job ran, this line is of "
                f"checkpoint {line.checkpoint} and nothing before it tells of the start; prepend the older "
                "files of a rolled log (cat job.log.1 job.log | barrierspec trace flink -)"
            )


def _one_job(said: Sequence[Said]) -> str:
    jobs = sorted({line.detail.partition(" ")[0] for line in said if line.kind == grammar.TRIGGER})
    if len(jobs) > 1:
        raise SeveralJobsError(
            f"expected the log of one job, it tells of {len(jobs)}: {', '.join(jobs)}; run one job on a "
            "cluster of its own, or cut the log between them"
        )
    return jobs[0]


def _executions(said: Sequence[Said]) -> tuple[dict[str, Execution], tuple[str, ...]]:
    executions: dict[str, Execution] = {}
    tasks: dict[str, None] = {}
    for line in said:
        if line.kind == grammar.DEPLOYED:
            executions[line.execution] = Execution(line.task, int(line.detail))
        elif line.kind == grammar.EXECUTION:
            tasks[line.task] = None
        elif line.kind in {grammar.BARRIER, grammar.TASK} and line.execution not in executions:
            task, _, attempt = line.task.rpartition("#")
            executions[line.execution] = Execution(task, int(attempt))
    return executions, tuple(tasks)


def _channels(said: Sequence[Said]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for line in said:
        if line.kind == grammar.BARRIER:
            found.setdefault(line.task.rpartition("#")[0], set()).add(line.detail)
    return {
        task: tuple(sorted(channels, key=lambda channel: [int(part) for part in channel.split(".")]))
        for task, channels in found.items()
    }


def _last_started(said: Sequence[Said]) -> dict[str, int]:
    highest: dict[str, int] = {}
    for line in said:
        if line.kind == grammar.START:
            highest[line.task] = max(highest.get(line.task, -1), line.checkpoint)
    return highest


def release_of(said: Sequence[Said], seen: set[str]) -> Release:
    """What the wording of a log tells of its release; `seen` are the kinds of its lines."""
    typed = any(line.kind == grammar.TRIGGER and "{" in line.detail for line in said)
    heard, broadcast = grammar.HEARD in seen, grammar.BROADCAST in seen
    old = "1.14" if heard else "1.13"
    new = "1.16 or newer" if broadcast else "1.15 or newer"
    return Release(
        name=new if typed else old,
        asks_all_tasks=typed or heard,
        after_finish=typed or (heard and _goes_on(said)),
        remembers=0 if broadcast else 128,
        tells_broadcast=broadcast,
        tells_heard=heard,
    )


def _goes_on(said: Sequence[Said]) -> bool:
    """A checkpoint was triggered while an execution had finished, so that this is on in a log of 1.14.

    By default it is off there. While it is off, the coordinator refuses the request and logs no trigger.
    """
    finished = False
    for line in said:
        if line.kind == grammar.EXECUTION:
            before, _, state = line.detail.partition(">")
            finished = (finished and before != "CREATED") or state == "FINISHED"
        elif line.kind == grammar.TRIGGER and finished:
            return True
    return False


def _judged(said: Sequence[Said]) -> None:
    """Refuse what the replay has no rule for."""
    for line in said:
        if line.kind == grammar.TRACKED:
            raise UnjudgedError(
                f"line {line.number}: the job runs at least once; only aligned gates are replayed"
            )
        if line.kind == grammar.SNAPSHOT and line.detail == "true":
            raise UnjudgedError(
                f"line {line.number}: checkpoint {line.checkpoint} is unaligned; only aligned gates are "
                "replayed"
            )
        if line.kind == grammar.TRIGGER and "avepoint" in line.detail.replace("SAVEPOINT", "savepoint"):
            stops = any(word in line.detail for word in ("SUSPEND", "TERMINATE", "Suspend", "Terminate"))
            if stops or "{" not in line.detail:
                raise UnjudgedError(
                    f"line {line.number}: checkpoint {line.checkpoint} is a stop-with-savepoint, or a "
                    "savepoint of 1.14 or older; of savepoints only plain ones from 1.15 on are replayed"
                )
