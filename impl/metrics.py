"""What a run measures of itself: by task, while it runs, and by checkpoint, in a file that stays.

A worker measures its alignments and its snapshots and tells them with its acknowledgement; its heartbeat
tells how many records it has handled and how many bytes wait at its inputs. The driver keeps what was told
last, and writes a line for every completed checkpoint into `metrics.jsonl`.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from impl.state.durable import append_line

FILE = "metrics.jsonl"
_REMEMBERED = 16


@dataclass(frozen=True, slots=True)
class SnapshotMeasures:
    """One task's part in one checkpoint."""

    alignment_ms: float = 0.0
    """From the first barrier to the last; 0 for a source, and for a task with one channel."""
    writing_ms: float = 0.0
    """Encoding and writing the snapshot, beside the processing."""
    bytes: int = 0
    """Of the snapshot, with the records that were in flight."""


@dataclass(frozen=True, slots=True)
class TaskMeasures:
    """What a task has told last. `buffered`: bytes that have come and wait at its inputs."""

    records: int = 0
    buffered: int = 0
    snapshot: SnapshotMeasures = field(default_factory=SnapshotMeasures)


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
        """Of all snapshots."""
        return sum(one.bytes for one in self.tasks.values())


class Stopwatch:
    """The measurements of one subtask. Barriers come in its own thread, snapshots in the writer's."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: dict[int, float] = {}
        self._aligned: dict[int, float] = {}
        self._written: dict[int, tuple[float, int]] = {}

    def barrier(self, checkpoint: int) -> None:
        """A barrier has come: perhaps it is the last of its checkpoint."""
        now = self._clock()
        first = self._first.setdefault(checkpoint, now)
        self._aligned[checkpoint] = (now - first) * 1_000
        for known in (self._first, self._aligned):
            if len(known) > _REMEMBERED:
                del known[min(known)]  # it was aborted: nobody will ask

    def written(self, checkpoint: int, began: float, size: int) -> None:
        """A snapshot of `size` bytes is durable; its writing has begun at `began`."""
        self._written[checkpoint] = (self._clock() - began) * 1_000, size
        if len(self._written) > _REMEMBERED:
            del self._written[min(self._written)]

    def now(self) -> float:
        """Seconds of the clock."""
        return self._clock()

    def told(self, checkpoint: int) -> dict[str, Any]:
        """What the acknowledgement tells."""
        self._first.pop(checkpoint, None)
        writing, size = self._written.pop(checkpoint, (0.0, 0))
        aligned = self._aligned.pop(checkpoint, 0.0)
        return asdict(SnapshotMeasures(round(aligned, 3), round(writing, 3), size))


class JobMetrics:
    """What the driver has been told, and the file. Used by one thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tasks: dict[str, TaskMeasures] = {}
        self._open: dict[int, dict[str, SnapshotMeasures]] = {}

    @property
    def tasks(self) -> Mapping[str, TaskMeasures]:
        """What each task has told last."""
        return dict(self._tasks)

    def begin_attempt(self) -> None:
        """Everything is counted anew."""
        self._tasks.clear()
        self._open.clear()

    def alive(self, task: str, records: int, buffered: int) -> None:
        """A heartbeat."""
        known = self._tasks.get(task, TaskMeasures())
        self._tasks[task] = TaskMeasures(records, buffered, known.snapshot)

    def acknowledged(self, task: str, checkpoint: int, measures: Mapping[str, Any]) -> None:
        """An acknowledgement tells its measures; it comes before the checkpoint can be complete."""
        snapshot = SnapshotMeasures(**measures)
        known = self._tasks.get(task, TaskMeasures())
        self._tasks[task] = TaskMeasures(known.records, known.buffered, snapshot)
        self._open.setdefault(checkpoint, {})[task] = snapshot
        if len(self._open) > _REMEMBERED:
            del self._open[min(self._open)]

    def completed(self, checkpoint: int, attempt: int, duration_ms: float) -> None:
        """A checkpoint is complete: its line is written."""
        tasks = self._open.pop(checkpoint, {})
        line = asdict(CheckpointMeasures(checkpoint, attempt, duration_ms, tasks))
        append_line(self._path, orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def read_metrics(path: Path) -> list[CheckpointMeasures]:
    """The checkpoints of a metrics file, in the order in which they were completed.

    A last line that a killed driver has left half is no checkpoint. Raises OSError.
    """
    found = []
    for line in path.read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        told = orjson.loads(line)
        tasks = {task: SnapshotMeasures(**one) for task, one in told.pop("tasks").items()}
        found.append(CheckpointMeasures(**told, tasks=tasks))
    return found
