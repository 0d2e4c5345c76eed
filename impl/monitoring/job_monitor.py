"""The state of one job for the REST interface, from the declaration of the job to its end.

The job's thread calls `follow`, `sample` and `ended`. The threads of the interface call `view`. A thread
waits for another thread at most for the time of a copy.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final

from impl.config import JobConfig
from impl.graph.plan import Plan
from impl.metrics import JobMetrics, TaskMeasures
from impl.monitoring.checkpoint_statistics import CheckpointTracker, JobCheckpoints
from impl.monitoring.wall_clock import wall_seconds
from impl.spark.coordination.attempt import AttemptReport
from impl.state.locations import Where

INITIALIZING, RUNNING, RESTARTING = "INITIALIZING", "RUNNING", "RESTARTING"
"""The statuses of a job that has not ended, with Flink's names."""
SAMPLE_SECONDS: Final = 1.0
_SAMPLES: Final = 4
"""The minimum number of samples of a rate. It has more samples if it needs them to span two heartbeats."""


@dataclass(frozen=True, slots=True)
class FollowedJob:
    """The data of a running job that the monitor reads. `started_ms`: its start, in ms since 1970."""

    id: str
    started_ms: int
    attempts: Sequence[AttemptReport]
    """The attempts until now; their times are seconds since the start of the job."""
    checkpoints: CheckpointTracker
    metrics: JobMetrics


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of a subtask in the last seconds.

    `records` and `emitted` are records per second. The other rates are shares of the time, from 0 to 1.
    """

    records: float = 0.0
    emitted: float = 0.0
    busy: float = 0.0
    idle: float = 0.0
    backpressured: float = 0.0


@dataclass(frozen=True, slots=True)
class TaskView:
    """A subtask at one moment."""

    measures: TaskMeasures = field(default_factory=TaskMeasures)
    rates: Rates = field(default_factory=Rates)


@dataclass(frozen=True, slots=True)
class JobView:
    """The job at one moment. Times are in ms since 1970. `id` is empty before the first attempt."""

    id: str
    state: str
    now_ms: int
    started_ms: int = 0
    ended_ms: int = -1
    """The end of the job; -1 while the job runs."""
    attempts: tuple[AttemptReport, ...] = ()
    checkpoints: JobCheckpoints = field(default_factory=JobCheckpoints)
    tasks: Mapping[str, TaskView] = field(default_factory=dict)
    failure: str = ""
    """The reason why the job has failed or was ended; empty in all other cases."""


class JobMonitor:
    """The monitor of one job. `checkpoints`: the path or URI of its checkpoints."""

    def __init__(
        self,
        plan: Plan,
        config: JobConfig,
        checkpoints: Where,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = wall_seconds,
    ) -> None:
        self.plan = plan
        self.config = config
        self.checkpoint_folder = str(checkpoints)
        self._clock = clock
        self._wall_clock = wall_clock
        self._job: FollowedJob | None = None
        two_beats = 2 * config.execution.heartbeat_interval_ms / 1_000
        self._samples: deque[tuple[float, int, Mapping[str, TaskMeasures]]] = deque(
            maxlen=max(_SAMPLES, 1 + ceil(two_beats / SAMPLE_SECONDS))
        )
        """Samples: the time in s, the number of attempts, and the measurements by task."""
        self._end: tuple[str, int, str] | None = None
        """The final status, the time (ms since 1970) and the reason of the job's end; None before its end."""

    def follow(self, job: FollowedJob) -> None:
        """Begin to read the data of the running job."""
        self._job = job

    def sample(self) -> None:
        """Keep the measurements of the tasks if `SAMPLE_SECONDS` have passed since the last sample."""
        now = self._clock()
        if self._job is None or (self._samples and now - self._samples[-1][0] < SAMPLE_SECONDS):
            return
        self._samples.append((now, len(self._job.attempts), self._job.metrics.tasks))

    def ended(self, status: str, reason: str = "") -> None:
        """Record the final status of the job, and the reason if it failed or was ended."""
        self._end = status, self._wall_ms(), reason

    def view(self) -> JobView:
        """The job at this moment."""
        job, end, now = self._job, self._end, self._wall_ms()
        if job is None or not job.attempts:  # the job has not chosen the checkpoint to restore
            return JobView("", INITIALIZING if end is None else end[0], now)
        attempts = tuple(job.attempts)
        state, ended_ms, failure = (_state_of(attempts), -1, "") if end is None else end
        return JobView(
            id=job.id,
            state=state,
            now_ms=now,
            started_ms=job.started_ms,
            ended_ms=ended_ms,
            attempts=attempts,
            checkpoints=job.checkpoints.view(),
            tasks=self._tasks(len(attempts), job.metrics.tasks),
            failure=failure,
        )

    def _tasks(self, attempt: int, now: Mapping[str, TaskMeasures]) -> dict[str, TaskView]:
        before: Mapping[str, TaskMeasures] = next(
            (tasks for _, of_attempt, tasks in list(self._samples) if of_attempt == attempt), {}
        )
        return {
            task: TaskView(measures, rates_between(before.get(task, TaskMeasures()), measures))
            for task, measures in now.items()
        }

    def _wall_ms(self) -> int:
        return int(self._wall_clock() * 1_000)


def rates_between(before: TaskMeasures, now: TaskMeasures) -> Rates:
    """The rates of a subtask between two measurements, by its worker's clock. All 0 if no time has passed."""
    passed = now.load.running_ms - before.load.running_ms
    if passed <= 0:
        return Rates()
    idle = _share(now.load.idle_ms - before.load.idle_ms, passed)
    backpressured = _share(now.load.backpressured_ms - before.load.backpressured_ms, passed)
    return Rates(
        records=max(0.0, (now.records - before.records) * 1_000 / passed),
        emitted=max(0.0, (now.load.emitted - before.load.emitted) * 1_000 / passed),
        busy=_share(passed - (idle + backpressured) * passed, passed),
        idle=idle,
        backpressured=backpressured,
    )


def _share(part: float, whole: float) -> float:
    return min(1.0, max(0.0, part / whole))


def _state_of(attempts: Sequence[AttemptReport]) -> str:
    if not attempts:
        return INITIALIZING
    last = attempts[-1]
    if last.reason is None and last.failed is None and last.running is not None:
        return RUNNING
    return RESTARTING if len(attempts) > 1 or last.failed is not None else INITIALIZING
