"""A job for its monitor, without Spark: two counting subtasks, a test clock, an optional server."""

from pathlib import Path

import pyarrow as pa

from impl.config import CheckpointConfig, ExecutionConfig, JobConfig, RestartConfig
from impl.connectors import ParquetOutput
from impl.core import CheckpointType
from impl.graph.plan import Chained, Edge, Partitioning, Plan, Role, Stage
from impl.metrics import JobMetrics, SnapshotMeasures, TaskLoad
from impl.monitoring.checkpoint_statistics import Acknowledgement, CheckpointStatistics, CheckpointTracker
from impl.monitoring.job_monitor import FollowedJob, JobMonitor
from impl.monitoring.rest_answers import RestAnswers
from impl.spark.coordination.attempt import AttemptReport

OUTPUT = ParquetOutput(Path("nothing is written there"), pa.schema({"n": pa.int64()}))
ID = "5eed"


def plan_of(name="words", count="count", chained="check"):
    """A source, two subtasks that count with a function chained after them, and a sink."""
    stages = (
        Stage("in", Role.SOURCE, None),
        Stage(count, Role.PROCESS, None, 2, chained=(Chained(chained, None),)),
        Stage("out", Role.SINK, OUTPUT),
    )
    edges = (Edge("in", count, Partitioning.HASH, key_selector=len), Edge(count, "out"))
    return Plan(name, stages, edges)


class MonitoredJob:
    """A job that has started 1,000 s after the epoch."""

    def __init__(self, plan=None, execution=None, **checkpoints):
        self.plan = plan or plan_of()
        settings = CheckpointConfig(**{"checkpointing_interval_ms": 500, **checkpoints})
        config = JobConfig(settings, RestartConfig(), execution or ExecutionConfig())
        self.now = 0.0
        self.monitor = JobMonitor(
            self.plan, config, Path("run/checkpoints"), lambda: self.now, lambda: 1_000 + self.now
        )
        self.answers = RestAnswers(self.monitor)
        self.tracker = CheckpointTracker()
        self.metrics = JobMetrics(Path("unwritten"))
        self.attempts = [AttemptReport(1, None, 0.0)]

    def start(self):
        self.monitor.follow(FollowedJob(ID, 1_000_000, self.attempts, self.tracker, self.metrics))
        return self

    def run(self):
        """Reports that all subtasks run."""
        self.start()
        self.attempts[-1].running = self.now
        self.heartbeat(1, 0, 0.0, 0.0)
        return self

    def heartbeat(self, running_ms, records, idle_ms, backpressured_ms, tasks=None):
        for task in tasks or self.plan.ids():
            load = TaskLoad(2 * records, running_ms, idle_ms, backpressured_ms)
            self.metrics.alive(task, records, 7, load)

    def fail(self, reason, restored=None):
        self.attempts[-1].reason, self.attempts[-1].failed = reason, self.now
        number = self.attempts[-1].attempt + 1
        self.metrics.begin_attempt()
        self.attempts.append(AttemptReport(number, restored, self.now))

    def trigger(self, checkpoint, kind=CheckpointType.CHECKPOINT, attempt=1):
        at = int(1_000 * (1_000 + self.now))
        self.tracker.triggered(CheckpointStatistics(checkpoint, kind, attempt, at, len(self.plan.ids())))

    def acknowledge(self, checkpoint, *tasks, unaligned=False):
        measures = SnapshotMeasures(12.4, 3.6, 100, 1.2, unaligned)
        for task in tasks or self.plan.ids():
            at = int(1_000 * (1_000 + self.now))
            self.tracker.acknowledged(checkpoint, task, Acknowledgement(at, 100, 150, measures))

    def complete(self, checkpoint, kind=CheckpointType.CHECKPOINT, folder=""):
        self.trigger(checkpoint, kind)
        self.now += 0.02
        self.acknowledge(checkpoint)
        self.tracker.completed(checkpoint, 25.0, folder)

    def get(self, path=""):
        return self.answers.answer(f"/jobs/{ID}{path}")
