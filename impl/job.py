"""A job in a few lines: sources, processing, sinks, and how it checkpoints.

    result = (
        Job("flights")
        .source("flights", CsvInput(path, to_rows), parallelism=2)
        .key_by(lambda row: row[0])
        .aggregate("count", CountFlights(), parallelism=4)
        .sink("sink", ParquetOutput(folder, schema), parallelism=2)
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=500))
        .execute("local[8]", output)
    )

A declaration is a value: every step answers a new one. Streams may part and meet again (see `streams`); jobs
that share sources and stages are put together with `together_with`. Nothing runs before `execute`, which
raises `ConfigError` for a job that cannot work, before it starts Spark.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from impl.config import CheckpointConfig, ConfigError, ExecutionConfig, RestartConfig
from impl.connectors.parquet_sink import ParquetOutput
from impl.connectors.postgres_sink import PostgresOutput
from impl.connectors.sqlite_sink import SqliteOutput
from impl.faults import KILL_EXECUTOR, KILL_SERVER, FaultPlan
from impl.graph.plan import Edge, Plan, Role, Stage
from impl.graph.topology import require_runnable, require_stage
from impl.output_lock import locked
from impl.running import RunningJob
from impl.savepoints import REQUESTS, Savepoint, SavepointDesk
from impl.spark.results import JobPaths, JobResult, OnProgress, Progress, Start
from impl.spark.runtime import run_job
from impl.spark.session import spark_session
from impl.spark.worker.sources import CsvInput, Input, JsonLinesInput, ParquetInput, RateInput
from impl.streams import ConnectedStreams, End, KeyedStream, Stream

__all__ = [
    "ConnectedStreams",
    "CsvInput",
    "Job",
    "JobPaths",
    "JobResult",
    "JsonLinesInput",
    "KeyedStream",
    "OnProgress",
    "ParquetInput",
    "ParquetOutput",
    "PostgresOutput",
    "Progress",
    "RateInput",
    "RunningJob",
    "Savepoint",
    "SqliteOutput",
    "Stream",
]

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Job:
    """A job under declaration."""

    name: str
    checkpoints: CheckpointConfig = field(default_factory=CheckpointConfig)
    restarts: RestartConfig = field(default_factory=RestartConfig)
    execution: ExecutionConfig = field(default_factory=ExecutionConfig)
    stages: tuple[Stage, ...] = ()
    edges: tuple[Edge, ...] = ()

    def source(self, name: str, source: Input, parallelism: int = 1, splits: int | None = None) -> Stream:
        """Begin a stream. Its rows are cut into `splits` parts, which the subtasks share: one for each.

        More splits than subtasks leave room for a higher parallelism later.
        """
        return Stream(self.with_stage(Stage(name, Role.SOURCE, source, parallelism, splits)), (End(name),))

    def together_with(self, *others: "Job") -> "Job":
        """One job of several: a stage that they share runs once.

        Raises `ConfigError` if two stages have one name, or the jobs are not configured alike.
        """
        job = self
        for other in others:
            if job._settings() != other._settings():
                raise ConfigError(
                    f"jobs that are put together have one name and one configuration: {job._settings()}, "
                    f"and {other._settings()}; configure what came of putting them together"
                )
            for stage in other.stages:
                known = [one for one in job.stages if one.name == stage.name]
                if known and known[0] is not stage:
                    raise ConfigError(f"a stage takes a name of its own; there are two named {stage.name!r}")
            job = replace(
                job,
                stages=(*job.stages, *_new(other.stages, job.stages)),
                edges=(*job.edges, *_new(other.edges, job.edges)),
            )
        return job

    def with_stage(self, stage: Stage, edges: Sequence[Edge] = ()) -> "Job":
        """With one more stage, and the edges into it; streams call this."""
        if stage.name in [one.name for one in self.stages]:
            raise ConfigError(f"a stage takes a name of its own; there are two named {stage.name!r}")
        require_stage(stage, self.execution.max_parallelism)
        return replace(self, stages=(*self.stages, stage), edges=(*self.edges, *edges))

    def stage(self, name: str) -> Stage:
        """The stage of that name."""
        return next(one for one in self.stages if one.name == name)

    def _settings(self) -> tuple[object, ...]:
        return self.name, self.checkpoints, self.restarts, self.execution

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
        plan = Plan(self.name, self.stages, self.edges, self.execution.max_parallelism)
        require_runnable(plan)
        return plan

    def execute(
        self,
        master: str,
        output: Path,
        *,
        faults: Sequence[FaultPlan] = (),
        event_log: bool = False,
        on_progress: OnProgress | None = None,
        resume: bool = False,
        from_savepoint: Path | None = None,
        allow_non_restored_state: bool = False,
        spark: "SparkSession | None" = None,
    ) -> JobResult:
        """Run the job on a Spark master and wait for its end. `impl.driver.supervise` outlives drivers.

        Under `output` come `checkpoints`, `spark.log` and, with `event_log`, `events`. `faults` strike as
        planned; `resume` goes on from the checkpoints that an earlier run has left there, `from_savepoint`
        from a savepoint, wherever it lies: both also with other parallelisms, and with
        `allow_non_restored_state` without the state of stages that are no more; a session given as `spark`
        is used and left open. Raises `ConfigError` if both are asked for, `OutputInUseError` if a job runs
        into `output`, other `SparkRuntimeError`s: see `impl.spark.errors`, and `StateError`s for a savepoint
        that is none.
        """
        return self.drive(
            master,
            output,
            start_of(resume=resume, from_savepoint=from_savepoint),
            faults,
            event_log,
            on_progress,
            spark,
            from_savepoint=from_savepoint,
            allow_non_restored_state=allow_non_restored_state,
        )

    def start(
        self,
        master: str,
        output: Path,
        *,
        faults: Sequence[FaultPlan] = (),
        event_log: bool = False,
        on_progress: OnProgress | None = None,
        resume: bool = False,
        from_savepoint: Path | None = None,
        allow_non_restored_state: bool = False,
        spark: "SparkSession | None" = None,
    ) -> RunningJob:
        """As `execute`, but it does not wait: savepoints can be taken of the job while it runs."""
        start = start_of(resume=resume, from_savepoint=from_savepoint)
        desk = SavepointDesk(output / REQUESTS)

        def run() -> JobResult:
            return self.drive(
                master,
                output,
                start,
                faults,
                event_log,
                on_progress,
                spark,
                from_savepoint=from_savepoint,
                desk=desk,
                allow_non_restored_state=allow_non_restored_state,
            )

        return RunningJob(self.name, run, desk)

    def drive(
        self,
        master: str,
        output: Path,
        start: Start,
        faults: Sequence[FaultPlan] = (),
        event_log: bool = False,
        on_progress: OnProgress | None = None,
        spark: "SparkSession | None" = None,
        struck: Path | None = None,
        *,
        from_savepoint: Path | None = None,
        desk: SavepointDesk | None = None,
        allow_non_restored_state: bool = False,
    ) -> JobResult:
        """What `execute` does, with everything that a driver may have to be told."""
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
            if fault.action == KILL_SERVER and not any(
                isinstance(output, PostgresOutput) for output in plan.outputs()
            ):
                raise ConfigError(f"{KILL_SERVER} needs a PostgresOutput; this job writes elsewhere")
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
                start,
                struck,
                allow_non_restored_state,
                from_savepoint,
                desk or SavepointDesk(output / REQUESTS),
            )

        with locked(output, supersedes=start in (Start.RESUMED, Start.TAKEN_OVER)):
            if spark is not None:
                return run(spark)
            with spark_session(master, paths.spark_log, self.name) as session:
                return run(session)


def start_of(*, resume: bool, from_savepoint: Path | None) -> Start:
    """What a run begins with. Raises `ConfigError` if two beginnings are asked for."""
    if resume and from_savepoint is not None:
        raise ConfigError(
            "resume goes on from the newest checkpoint and from_savepoint from a savepoint; give one of them"
        )
    if from_savepoint is not None:
        return Start.SAVEPOINT
    return Start.RESUMED if resume else Start.ANEW


def _new(there: Sequence[Any], here: Sequence[Any]) -> list[Any]:
    """Those of `there` that are not the very same as one here."""
    return [one for one in there if not any(one is known for known in here)]
