"""The measurements of a run: by task, while it runs, and by checkpoint, in a file.

A worker measures its alignments and its snapshots and sends them with its acknowledgement; its heartbeat has
the number of records, the bytes that wait at its inputs, and the time that it has waited. The driver keeps
the newest of each task, and writes a line for every completed checkpoint into `metrics.jsonl`.
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
    """One task's part in one checkpoint."""

    alignment_ms: float = 0.0
    """The time from the first barrier to the last; 0 for a source, and for a task with one channel."""
    writing_ms: float = 0.0
    """Encoding and writing the snapshot, beside the processing."""
    bytes: int = 0
    """The size of the snapshot, with the records that were in flight."""
    synchronous_ms: float = 0.0
    """The synchronous part of the snapshot: the subtask processes no record meanwhile."""
    unaligned: bool = False
    """Whether the subtask's barrier was sent as one that overtakes."""


@dataclass(frozen=True, slots=True)
class TaskLoad:
    """What the thread of a subtask has done in this attempt; times in ms.

    It is idle while it waits for input, and back-pressured while it waits for room in an output. Otherwise it
    is busy. `emitted`: records that it has sent on, each counted once.
    """

    emitted: int = 0
    running_ms: float = 0.0
    """Since it has begun to run."""
    idle_ms: float = 0.0
    backpressured_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class TaskMeasures:
    """The newest measurements of a task. `buffered`: bytes that wait at its inputs."""

    records: int = 0
    buffered: int = 0
    snapshot: SnapshotMeasures = field(default_factory=SnapshotMeasures)
    load: TaskLoad = field(default_factory=TaskLoad)
    finished: bool = False


@dataclass(frozen=True, slots=True)
class CheckpointMeasures:
    """A completed checkpoint: `duration_ms` from its trigger to its publication."""

    checkpoint: int
    attempt: int
    duration_ms: float
    tasks: Mapping[str, SnapshotMeasures]

    @property
    def alignment_ms(self) -> float:
        """The longest alignment."""
        return max((one.alignment_ms for one in self.tasks.values()), default=0.0)

    @property
    def bytes(self) -> int:
        """The size of all snapshots."""
        return sum(one.bytes for one in self.tasks.values())


class WaitingTime:
    """The time that one thread has waited, in a `with` block. Any other thread may read it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._state: tuple[float, float | None] = (0.0, None)
        """Seconds of the waits that have ended, and the beginning of the one that has not."""

    def __enter__(self) -> None:
        self._state = (self._state[0], self._clock())

    def __exit__(self, *exception: object) -> None:
        before, since = self._state
        assert since is not None
        self._state = (before + self._clock() - since, None)

    @property
    def ms(self) -> float:
        """Milliseconds until now."""
        before, since = self._state
        return round((before if since is None else before + self._clock() - since) * 1_000, 1)


class Stopwatch:
    """The measurements of one subtask. Its own thread reports barriers, the writer's thread snapshots."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: dict[int, float] = {}
        self._aligned: dict[int, float] = {}
        self._written: dict[int, tuple[float, int]] = {}
        self._taken: dict[int, float] = {}
        self._overtaking: set[int] = set()

    def barrier(self, checkpoint: int) -> None:
        """A barrier has come; the last one of its checkpoint ends the alignment."""
        now = self._clock()
        first = self._first.setdefault(checkpoint, now)
        self._aligned[checkpoint] = (now - first) * 1_000
        for known in (self._first, self._aligned):
            if len(known) > _REMEMBERED:
                del known[min(known)]  # it was aborted

    def taken(self, checkpoint: int, began: float) -> None:
        """The synchronous part of a snapshot has ended, which began at `began`."""
        self._taken[checkpoint] = (self._clock() - began) * 1_000
        if len(self._taken) > _REMEMBERED:
            del self._taken[min(self._taken)]

    def overtakes(self, checkpoint: int) -> None:
        """The barrier of the checkpoint is sent as one that overtakes."""
        self._overtaking.add(checkpoint)
        if len(self._overtaking) > _REMEMBERED:
            self._overtaking.remove(min(self._overtaking))

    def written(self, checkpoint: int, began: float, size: int) -> None:
        """A snapshot of `size` bytes is durable; its writing began at `began`."""
        self._written[checkpoint] = (self._clock() - began) * 1_000, size
        if len(self._written) > _REMEMBERED:
            del self._written[min(self._written)]

    def now(self) -> float:
        """Seconds of the clock."""
        return self._clock()

    def measures(self, checkpoint: int) -> SnapshotMeasures:
        """The measurements of a checkpoint, once."""
        self._first.pop(checkpoint, None)
        writing, size = self._written.pop(checkpoint, (0.0, 0))
        aligned, taken = self._aligned.pop(checkpoint, 0.0), self._taken.pop(checkpoint, 0.0)
        unaligned = checkpoint in self._overtaking
        self._overtaking.discard(checkpoint)
        return SnapshotMeasures(round(aligned, 3), round(writing, 3), size, round(taken, 3), unaligned)


class JobMetrics:
    """The newest measurements of every task, and the file. One thread writes; any thread may read `tasks`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tasks: dict[str, TaskMeasures] = {}
        self._open: dict[int, dict[str, SnapshotMeasures]] = {}

    @property
    def tasks(self) -> Mapping[str, TaskMeasures]:
        """The newest measurements, by task."""
        return dict(self._tasks)

    def begin_attempt(self) -> None:
        """Every count begins at 0."""
        self._tasks.clear()
        self._open.clear()

    def alive(self, task: str, records: int, buffered: int, load: TaskLoad | None = None) -> None:
        """A heartbeat. `load`: None if it is not known."""
        known = self._tasks.get(task, TaskMeasures())
        self._tasks[task] = TaskMeasures(records, buffered, known.snapshot, load or known.load)

    def finished(self, task: str, records: int, load: TaskLoad) -> None:
        """A task has finished; it sends nothing after."""
        known = self._tasks.get(task, TaskMeasures())
        self._tasks[task] = TaskMeasures(records, 0, known.snapshot, load, finished=True)

    def acknowledged(self, task: str, checkpoint: int, snapshot: SnapshotMeasures) -> None:
        """An acknowledgement; it comes before the checkpoint is complete."""
        known = self._tasks.get(task, TaskMeasures())
        self._tasks[task] = replace(known, snapshot=snapshot)
        self._open.setdefault(checkpoint, {})[task] = snapshot
        if len(self._open) > _REMEMBERED:
            del self._open[min(self._open)]

    def completed(self, checkpoint: int, attempt: int, duration_ms: float) -> None:
        """A checkpoint is complete: write its line."""
        tasks = self._open.pop(checkpoint, {})
        line = asdict(CheckpointMeasures(checkpoint, attempt, duration_ms, tasks))
        append_line(self._path, orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def read_metrics(path: Path) -> list[CheckpointMeasures]:
    """The checkpoints of a metrics file, in the order in which they were completed.

    An incomplete last line, which a killed driver has left, is ignored. Raises OSError.
    """
    found = []
    for line in path.read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        values = orjson.loads(line)
        tasks = {task: SnapshotMeasures(**one) for task, one in values.pop("tasks").items()}
        found.append(CheckpointMeasures(**values, tasks=tasks))
    return found
