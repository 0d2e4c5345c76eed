"""The measurements of a run: by task while the job runs, and by checkpoint in a file.

A worker measures its alignments and its snapshots, and sends these measurements with its acknowledgement. Its
heartbeat has the number of records, the bytes that wait at its inputs, and the time that its thread has
waited. The driver keeps the newest measurements of each task. It writes a line for each completed checkpoint
into `metrics.jsonl`.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import orjson

from impl.state.durable import append_line

FILE = "metrics.jsonl"
_REMEMBERED = 16


@dataclass(frozen=True, slots=True)
class SnapshotMeasures:
    """The measurements of one task's snapshot for one checkpoint."""

    alignment_ms: float = 0.0
    """The time from the first barrier to the last one; 0 for a source, and for a task with one channel."""
    writing_ms: float = 0.0
    """The time of the asynchronous part of the snapshot, which encodes and writes the state."""
    bytes: int = 0
    """The size of the snapshot in bytes, including its in-flight data."""
    synchronous_ms: float = 0.0
    """The time of the synchronous part of the snapshot, in which the subtask processes no record."""
    unaligned: bool = False
    """Whether the subtask has sent its barrier as an overtaking barrier."""


@dataclass(frozen=True, slots=True)
class TaskLoad:
    """How the thread of a subtask has spent its time in this attempt, in ms.

    The thread is idle while it waits for input, and backpressured while it waits because an output is full.
    Otherwise it is busy. `emitted`: the number of records that the subtask has emitted, each counted once.
    """

    emitted: int = 0
    running_ms: float = 0.0
    """The time since the subtask has begun to run."""
    idle_ms: float = 0.0
    backpressured_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class TaskMeasures:
    """The newest measurements of a task. `buffered`: the number of bytes that wait at its inputs."""

    records: int = 0
    buffered: int = 0
    snapshot: SnapshotMeasures = field(default_factory=SnapshotMeasures)
    load: TaskLoad = field(default_factory=TaskLoad)
    finished: bool = False


@dataclass(frozen=True, slots=True)
class CheckpointMeasures:
    """The measurements of a completed checkpoint.

    `duration_ms`: the time from its trigger to its publication. `tasks`: the measurements by task.
    """

    checkpoint: int
    attempt: int
    duration_ms: float
    tasks: Mapping[str, SnapshotMeasures]

    @property
    def alignment_ms(self) -> float:
        """The longest alignment of a task, in ms."""
        return max((one.alignment_ms for one in self.tasks.values()), default=0.0)

    @property
    def bytes(self) -> int:
        """The size of all snapshots together, in bytes."""
        return sum(one.bytes for one in self.tasks.values())


class WaitingTime:
    """Measures the time that one thread spends in `with` blocks of this object. Any thread may read it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._state: tuple[float, float | None] = (0.0, None)
        """The seconds of the ended waits, and the beginning of the present wait; None if there is none."""

    def __enter__(self) -> None:
        self._state = (self._state[0], self._clock())

    def __exit__(self, *exception: object) -> None:
        before, since = self._state
        assert since is not None
        self._state = (before + self._clock() - since, None)

    @property
    def ms(self) -> float:
        """The time of all waits until now, in ms."""
        before, since = self._state
        return round((before if since is None else before + self._clock() - since) * 1_000, 1)


class Stopwatch:
    """The measurements of one subtask. Its thread reports barriers; the writer's thread reports snapshots."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: dict[int, float] = {}
        self._aligned: dict[int, float] = {}
        self._written: dict[int, tuple[float, int]] = {}
        self._taken: dict[int, float] = {}
        self._overtaking: set[int] = set()

    def barrier(self, checkpoint: int) -> None:
        """Record the arrival of a barrier. The last barrier of a checkpoint ends its alignment."""
        now = self._clock()
        first = self._first.setdefault(checkpoint, now)
        self._aligned[checkpoint] = (now - first) * 1_000
        for known in (self._first, self._aligned):
            if len(known) > _REMEMBERED:
                del known[min(known)]  # the oldest checkpoint was aborted

    def taken(self, checkpoint: int, began: float) -> None:
        """Record that the synchronous part of a snapshot has ended. `began`: its start, by `now`."""
        self._taken[checkpoint] = (self._clock() - began) * 1_000
        if len(self._taken) > _REMEMBERED:
            del self._taken[min(self._taken)]

    def overtakes(self, checkpoint: int) -> None:
        """Record that the subtask sends the barrier of `checkpoint` as an overtaking barrier."""
        self._overtaking.add(checkpoint)
        if len(self._overtaking) > _REMEMBERED:
            self._overtaking.remove(min(self._overtaking))

    def written(self, checkpoint: int, began: float, size: int) -> None:
        """Record that a snapshot of `size` bytes is durable. `began`: the start of its writing, by `now`."""
        self._written[checkpoint] = (self._clock() - began) * 1_000, size
        if len(self._written) > _REMEMBERED:
            del self._written[min(self._written)]

    def now(self) -> float:
        """The time of the clock, in s."""
        return self._clock()

    def measures(self, checkpoint: int) -> SnapshotMeasures:
        """The measurements of a checkpoint, which this call removes from the stopwatch."""
        self._first.pop(checkpoint, None)
        writing, size = self._written.pop(checkpoint, (0.0, 0))
        aligned, taken = self._aligned.pop(checkpoint, 0.0), self._taken.pop(checkpoint, 0.0)
        unaligned = checkpoint in self._overtaking
        self._overtaking.discard(checkpoint)
        return SnapshotMeasures(round(aligned, 3), round(writing, 3), size, round(taken, 3), unaligned)


class JobMetrics:
    """The newest measurements of every task, and the metrics file.

    One thread calls the methods. Any thread may read `tasks`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tasks: dict[str, TaskMeasures] = {}
        self._open: dict[int, dict[str, SnapshotMeasures]] = {}

    @property
    def tasks(self) -> Mapping[str, TaskMeasures]:
        """The newest measurements, by task."""
        return dict(self._tasks)

    def begin_attempt(self) -> None:
        """Begin an attempt: remove the measurements of the earlier attempt."""
        self._tasks.clear()
        self._open.clear()

    def alive(self, task: str, records: int, buffered: int, load: TaskLoad | None = None) -> None:
        """Record the measurements of a heartbeat. `load` None keeps the last known load."""
        known = self._tasks.get(task, TaskMeasures())
        self._tasks[task] = TaskMeasures(records, buffered, known.snapshot, load or known.load)

    def finished(self, task: str, records: int, load: TaskLoad) -> None:
        """Record the last measurements of a task, which has finished."""
        known = self._tasks.get(task, TaskMeasures())
        self._tasks[task] = TaskMeasures(records, 0, known.snapshot, load, finished=True)

    def acknowledged(self, task: str, checkpoint: int, snapshot: SnapshotMeasures) -> None:
        """Record the measurements of an acknowledgement, for the line of `checkpoint`."""
        known = self._tasks.get(task, TaskMeasures())
        self._tasks[task] = replace(known, snapshot=snapshot)
        self._open.setdefault(checkpoint, {})[task] = snapshot
        if len(self._open) > _REMEMBERED:
            del self._open[min(self._open)]

    def completed(self, checkpoint: int, attempt: int, duration_ms: float) -> None:
        """Write the line of a completed checkpoint into the metrics file."""
        tasks = self._open.pop(checkpoint, {})
        line = asdict(CheckpointMeasures(checkpoint, attempt, duration_ms, tasks))
        append_line(self._path, orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def read_metrics(path: Path) -> list[CheckpointMeasures]:
    """The measurements of the checkpoints of a metrics file, in the order of their completion.

    Ignores an incomplete last line, which a killed driver may leave. Raises OSError if the file is not
    readable.
    """
    found = []
    for line in path.read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        values = orjson.loads(line)
        tasks = {task: SnapshotMeasures(**one) for task, one in values.pop("tasks").items()}
        found.append(CheckpointMeasures(**values, tasks=tasks))
    return found
