"""A job in a few lines: a source, keyed processing, a sink, and how it checkpoints.

    result = (
        Job("flights")
        .source("flights", CsvInput(path, to_rows), parallelism=2)
        .key_by(lambda row: row[0])
        .aggregate("count", CountFlights(), parallelism=4)
        .sink("sink", ParquetOutput(folder, schema), parallelism=2)
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=500))
        .execute("local[8]", output)
    )

A declaration is a value: every step answers a new one. Nothing runs before `execute`, which raises
`ConfigError` for a job that cannot work, before it starts Spark.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from impl.config import CheckpointConfig, ConfigError, ExecutionConfig, RestartConfig
from impl.faults import KILL_EXECUTOR, FaultPlan
from impl.functions import AggregateFunction, Aggregating, ProcessFunction
from impl.plan import KeySelector, Plan, Role, Stage
from impl.spark.operators import ParquetOutput
from impl.spark.runtime import JobPaths, JobResult, OnProgress, Progress, run_job
from impl.spark.session import spark_session
from impl.spark.sources import CsvInput, Input, JsonLinesInput, ParquetInput, RateInput

__all__ = [
    "CsvInput",
    "Job",
    "JobPaths",
    "JobResult",
    "JsonLinesInput",
    "KeyedJob",
    "OnProgress",
    "ParquetInput",
    "ParquetOutput",
    "Progress",
    "RateInput",
]

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Job:
    """A job under declaration. Its stages are a line: one source, any processing, one sink."""

    name: str
    checkpoints: CheckpointConfig = field(default_factory=CheckpointConfig)
    restarts: RestartConfig = field(default_factory=RestartConfig)
    execution: ExecutionConfig = field(default_factory=ExecutionConfig)
    stages: tuple[Stage, ...] = ()

    def source(self, name: str, source: Input, parallelism: int = 1) -> "Job":
        """Begin with a source; each of its subtasks reads one partition."""
        if self.stages:
            raise ConfigError(f"a job has one source, and {self.stages[0].name!r} is it; {name!r} came too")
        return self._with(Stage(name, Role.SOURCE, source, parallelism))

    def key_by(self, key_selector: KeySelector) -> "KeyedJob":
        """Send every row to the subtask of its key. The key must be hashable, with a `repr` of its own."""
        return KeyedJob(self, key_selector)

    def sink(self, name: str, sink: ParquetOutput, parallelism: int = 1) -> "Job":
        """End with a transactional sink; batches reach its subtasks in turn."""
        return self._with(Stage(name, Role.SINK, sink, parallelism))

    def with_checkpoints(self, config: CheckpointConfig) -> "Job":
        """Checkpoint like this."""
        return replace(self, checkpoints=config)

    def with_restarts(self, config: RestartConfig) -> "Job":
        """Restart like this."""
        return replace(self, restarts=config)

    def with_execution(self, config: ExecutionConfig) -> "Job":
        """Run within these bounds."""
        return replace(self, execution=config)

    def plan(self) -> Plan:
        """The plan of the finished declaration. Raises `ConfigError` if it is none."""
        roles = [stage.role for stage in self.stages]
        if len(roles) < 2 or roles[0] is not Role.SOURCE or roles[-1] is not Role.SINK:
            named = " -> ".join(stage.name for stage in self.stages) or "nothing"
            raise ConfigError(f"a job goes from a source to a sink; {self.name!r} has {named}")
        return Plan(self.name, self.stages)

    def execute(
        self,
        master: str,
        output: Path,
        *,
        faults: Sequence[FaultPlan] = (),
        event_log: bool = False,
        on_progress: OnProgress | None = None,
        resume: bool = False,
        spark: "SparkSession | None" = None,
    ) -> JobResult:
        """Run the job on a Spark master and wait for its end.

        Under `output` come `checkpoints`, `spark.log` and, with `event_log`, `events`. `faults` strike as
        planned; `resume` goes on from the checkpoints that an earlier run has left there; a session
        given as `spark` is used and left open. Raises `SparkRuntimeError`s: see `impl.spark.errors`.
        """
        plan = self.plan()
        known = {*plan.ids(), *(stage.name for stage in plan.stages)}
        for fault in faults:
            if fault.task is not None and fault.task not in known:
                raise ConfigError(
                    f"a fault is planned for {fault.task!r}; the tasks are {', '.join(plan.ids())}"
                )
            if fault.action == KILL_EXECUTOR and master.startswith("local["):
                raise ConfigError(
                    f"{KILL_EXECUTOR} needs executors of their own; {master} runs everything in the driver"
                )
        paths = JobPaths(
            checkpoints=output / "checkpoints",
            events=output / "events" if event_log else None,
            spark_log=output / "spark.log",
        )

        def run(session: "SparkSession") -> JobResult:
            return run_job(
                session,
                master,
                plan,
                self.checkpoints,
                self.restarts,
                self.execution,
                paths,
                faults,
                on_progress,
                resume,
            )

        if spark is not None:
            return run(spark)
        with spark_session(master, paths.spark_log, self.name) as session:
            return run(session)

    def _with(self, stage: Stage) -> "Job":
        if not _NAME.fullmatch(stage.name) or stage.name in [one.name for one in self.stages]:
            raise ConfigError(
                f"a stage takes a name of its own, of letters, digits and _, not {stage.name!r}"
            )
        if stage.parallelism < 1:
            raise ConfigError(f"{stage.name!r} takes a parallelism of at least 1, not {stage.parallelism}")
        if self.stages and self.stages[-1].role is Role.SINK:
            raise ConfigError(f"{stage.name!r} cannot follow the sink {self.stages[-1].name!r}")
        if not self.stages and stage.role is not Role.SOURCE:
            raise ConfigError(f"a job begins with a source, not with {stage.name!r}")
        return replace(self, stages=(*self.stages, stage))


@dataclass(frozen=True)
class KeyedJob:
    """A job whose rows go to the subtasks of their keys: keyed processing has to follow."""

    job: Job
    key_selector: KeySelector

    def process(self, name: str, function: ProcessFunction, parallelism: int = 1) -> Job:
        """Run a function over each row and the state of its key."""
        return self.job._with(Stage(name, Role.PROCESS, function, parallelism, self.key_selector))

    def aggregate(self, name: str, function: AggregateFunction[Any], parallelism: int = 1) -> Job:
        """Keep an aggregate for each key; every row emits the result that it has led to."""
        return self.process(name, Aggregating(function), parallelism)
