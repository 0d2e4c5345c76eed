"""The declaration of a job: sources, processing, sinks, and the settings of its checkpoints.

    result = (
        Job("flights")
        .source("flights", CsvInput(path, to_rows), parallelism=2)
        .key_by(lambda row: row[0])
        .aggregate("count", CountFlights(), parallelism=4)
        .sink("sink", ParquetOutput(folder, schema), parallelism=2)
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=500))
        .execute("local[8]", output)
    )

A declaration is an immutable value: every method returns a new declaration. One stream may have several
next stages, and streams may be connected (`streams`). `together_with` combines jobs that share sources and
stages. Nothing runs before `execute` or `start`. For a job that cannot run, `execute` raises `ConfigError`
before it starts Spark. After `start`, `RunningJob.result` raises this error.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from impl.config import (
    CLAIM,
    CLAIM_MODES,
    NO_CLAIM,
    CheckpointConfig,
    ConfigError,
    ExecutionConfig,
    JobConfig,
    RestartConfig,
)
from impl.connectors.kafka.declaration import KafkaEnd, KafkaInput, KafkaRecord, KafkaStart
from impl.connectors.kafka.sink import KafkaMessage, KafkaOutput
from impl.connectors.parquet_sink import ParquetOutput
from impl.connectors.postgres_sink import PostgresOutput
from impl.connectors.sqlite_sink import SqliteOutput
from impl.faults import Action, FaultLedger, FaultPlan
from impl.graph.plan import Chained, Edge, Plan, Role, Stage
from impl.graph.plan_checks import require_runnable, require_stage
from impl.monitoring.job_monitor import JobMonitor
from impl.monitoring.rest_answers import RestAnswers
from impl.monitoring.rest_server import LOCALHOST, served
from impl.output_lock import locked
from impl.running_job import RunningJob
from impl.savepoints import REQUESTS, Savepoint, SavepointRequests
from impl.spark.faults.driver import FaultyRuntimeFactory
from impl.spark.job_result import JobResult
from impl.spark.run_settings import JobPaths, OnProgress, Progress, RunSettings, Start, checkpoints_of
from impl.spark.runtime import RuntimeFactory, run_job
from impl.spark.session import spark_session
from impl.spark.worker.sources import CsvInput, Input, JsonLinesInput, ParquetInput, RateInput
from impl.state import StateError
from impl.state.locations import Where, absolute, forget, location_of, record_checkpoint_folder
from impl.streams import ConnectedStreams, End, KeyedStream, Stream

__all__ = [
    "ConnectedStreams",
    "CsvInput",
    "JobPaths",
    "JobResult",
    "JsonLinesInput",
    "KafkaEnd",
    "KafkaInput",
    "KafkaMessage",
    "KafkaOutput",
    "KafkaRecord",
    "KafkaStart",
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


class RunOptions(TypedDict, total=False):
    """The options of one run. Every option may be left out."""

    faults: Sequence[FaultPlan]
    """The faults to inject."""
    event_log: bool
    """Whether the run writes event logs (`eventlog`) into the folder `events` of the output folder."""
    on_progress: OnProgress | None
    """A function that the driver calls several times a second with a `Progress`."""
    resume: bool
    """Whether the run restores the newest checkpoint of the output folder. A stage may have another
    parallelism than in the earlier run."""
    from_savepoint: Path | str | None
    """The savepoint, or the retained checkpoint such as `chk-7`, that the run restores. It may be in any
    folder or object store. With a savepoint, a stage may have another parallelism than in the savepoint."""
    claim_mode: str
    """The owner of the restored savepoint. NO_CLAIM, the default: the user. CLAIM: the job, which deletes the
    savepoint when its copy is subsumed. Flink's `execution.state-recovery.claim-mode`."""
    checkpoints: Path | str | None
    """The location of the checkpoints, a folder or a URI such as `s3://bucket/flights`. None, the default:
    the folder `checkpoints` in the output folder."""
    allow_non_restored_state: bool
    """Whether the run drops the restored state of stages that the job no longer has."""
    rest_port: int | None
    """The port of the REST interface and of the web page of the running job. 0: a free port, and the file
    `rest.url` in the output folder has the address. None, the default: no REST interface. Flink's
    `rest.port`."""
    rest_bind_address: str
    """The address of the REST interface, by default `localhost`. Flink's `rest.bind-address`."""
    spark: "SparkSession | None"
    """The session that the run uses and leaves open. None, the default: the run makes a session."""


@dataclass(frozen=True)
class Job:
    """The declaration of a job: its name, its configuration, its stages and the edges between them."""

    name: str
    checkpoints: CheckpointConfig = field(default_factory=CheckpointConfig)
    restarts: RestartConfig = field(default_factory=RestartConfig)
    execution: ExecutionConfig = field(default_factory=ExecutionConfig)
    stages: tuple[Stage, ...] = ()
    edges: tuple[Edge, ...] = ()

    def source(
        self, name: str, source: Input | KafkaInput, parallelism: int = 1, splits: int | None = None
    ) -> Stream:
        """Add a source; returns the stream of its rows.

        `splits`: the number of splits of the source, which its subtasks share; None: one for each subtask. A
        subtask without a split reads nothing. A later run keeps the number of splits. A `KafkaInput` takes no
        `splits`, because any number of subtasks share the partitions of its topics. Raises `ConfigError` if a
        `KafkaInput` has `splits`, if the job has a stage of this name, or if a value is not valid.
        """
        if splits is not None and isinstance(source, KafkaInput):
            raise ConfigError(
                f"{name!r}: expected no `splits` for a KafkaInput, got {splits}; leave `splits` out, because "
                "the subtasks share the partitions of the topics"
            )
        return Stream(self.with_stage(Stage(name, Role.SOURCE, source, parallelism, splits)), (End(name),))

    def together_with(self, *others: "Job") -> "Job":
        """Combine jobs into one job. A stage that several of the jobs share runs once.

        Raises `ConfigError` if two different stages have the same name, or if the jobs differ in their name
        or configuration.
        """
        job = self
        for other in others:
            if job._settings() != other._settings():
                raise ConfigError(
                    f"expected jobs of one name and one configuration, got {job._settings()} and "
                    f"{other._settings()}; configure the combined job"
                )
            for stage in other.stages:
                known = [one for one in job.stages if one.name == stage.name]
                if known and known[0] is not stage:
                    _require_same_chain(known[0], stage)
                    raise ConfigError(
                        f"expected a name for each stage, two are named {stage.name!r}; rename one"
                    )
            job = replace(
                job,
                stages=(*job.stages, *_new(other.stages, job.stages)),
                edges=(*job.edges, *_new(other.edges, job.edges)),
            )
        return job

    def with_stage(self, stage: Stage, edges: Sequence[Edge] = ()) -> "Job":
        """The job with one more stage and the edges into this stage.

        Raises `ConfigError` if the job has a stage of this name, or if the stage is not valid.
        """
        if stage.name in [one.name for one in self.stages]:
            raise ConfigError(f"expected a name for each stage, two are named {stage.name!r}; rename one")
        require_stage(stage, self.execution.max_parallelism)
        return replace(self, stages=(*self.stages, stage), edges=(*self.edges, *edges))

    def with_chained(self, stage: Stage, link: Chained) -> "Job":
        """The job with one more function in the subtasks of `stage`.

        Raises `ConfigError` if the function is not valid.
        """
        longer = replace(stage, chained=(*stage.chained, link))
        require_stage(replace(longer, name=link.name), self.execution.max_parallelism)
        return replace(self, stages=tuple(longer if one is stage else one for one in self.stages))

    def stage(self, name: str) -> Stage:
        """The stage with this name, which must exist."""
        return next(one for one in self.stages if one.name == name)

    def _settings(self) -> tuple[object, ...]:
        return self.name, self.checkpoints, self.restarts, self.execution

    def with_checkpoints(self, config: CheckpointConfig) -> "Job":
        """The job with this configuration of its checkpoints."""
        return replace(self, checkpoints=config)

    def with_restarts(self, config: RestartConfig) -> "Job":
        """The job with this configuration of its restarts."""
        return replace(self, restarts=config)

    def with_execution(self, config: ExecutionConfig) -> "Job":
        """The job with this configuration of its execution."""
        return replace(self, execution=config)

    def plan(self) -> Plan:
        """The plan of the job. Raises `ConfigError` if the job cannot run."""
        plan = Plan(self.name, self.stages, self.edges, self.execution.max_parallelism)
        require_runnable(plan)
        return plan

    def execute(self, master: str, output: Path, **options: Unpack[RunOptions]) -> JobResult:
        """Run the job on a Spark master, wait for its end, and return its result.

        The run makes `checkpoints`, `spark.log` and, with `event_log`, `events` in the folder `output`. With
        the option `checkpoints`, the checkpoints are in the location that it names, and the savepoints in the
        folder `savepoints` of this location. `impl.driver.supervise` does the same, and also replaces a
        driver that is killed.

        Raises `ConfigError` for a job or options that cannot work, `OutputInUseError` if another job writes
        into `output`, and other `SparkRuntimeError`s (`impl.spark.errors`). Raises `ConnectorError` for a
        sink that cannot work, and a `StateError` for a checkpoint or savepoint that cannot be restored.
        """
        return self.drive(master, output, settings_of(options))

    def start(self, master: str, output: Path, **options: Unpack[RunOptions]) -> RunningJob:
        """Start the job in a thread of this process; returns at once. The arguments are those of `execute`.

        Raises `ConfigError` for options that cannot work; `RunningJob.result` raises all other errors.
        """
        requests = self._requests(output)
        settings = replace(settings_of(options), requests=requests)
        return RunningJob(self.name, output, lambda: self.drive(master, output, settings), requests)

    def _requests(self, output: Path) -> SavepointRequests:
        return SavepointRequests(output / REQUESTS, may_suspend=not self.checkpoints.is_in_memory)

    def drive(self, master: str, output: Path, settings: RunSettings) -> JobResult:
        """Run the job with all settings of a run, and return its result. Raises what `execute` raises."""
        output = output.absolute()  # the working folder of an executor is another one
        if settings.from_savepoint is not None:
            settings = replace(settings, from_savepoint=absolute(settings.from_savepoint))
        plan, config = self.plan(), JobConfig(self.checkpoints, self.restarts, self.execution)
        for fault in settings.faults:
            _require_possible(fault, plan, master)
        paths = JobPaths(
            output=output,
            checkpoints=absolute(checkpoints_of(output, settings, self.checkpoints)),
            events=output / "events" if settings.event_log else None,
            spark_log=output / "spark.log",
        )
        if settings.requests is None:
            settings = replace(settings, requests=self._requests(output))
        ledger = FaultLedger(settings.faults, settings.fault_record)
        factory = FaultyRuntimeFactory(ledger, paths.checkpoints) if settings.faults else RuntimeFactory()
        monitor = JobMonitor(plan, config, paths.checkpoints)
        if settings.rest_port is not None:
            settings = replace(settings, monitor=monitor)
        with (
            locked(output, supersedes=settings.start in (Start.RESUMED, Start.TAKEN_OVER)),
            served(
                RestAnswers(monitor),
                settings.rest_port,
                settings.rest_bind_address,
                output,
                required=settings.start is not Start.TAKEN_OVER,  # better a job without a page than no job
            ),
            nullcontext(settings.spark)
            if settings.spark is not None
            else spark_session(master, paths.spark_log, self.name) as session,
        ):
            record_checkpoint_folder(output, paths.checkpoints)
            try:
                result = run_job(session, master, plan, config, paths, settings, factory)
            finally:
                forget(paths.checkpoints)
        return replace(result, faults=ledger.happened)


def _require_possible(fault: FaultPlan, plan: Plan, master: str) -> None:
    """Raise `ConfigError` for a fault that cannot happen to this job."""
    known = {*plan.ids(), *(stage.name for stage in plan.stages)}
    if fault.task is not None and fault.task not in known:
        raise ConfigError(
            f"a fault is planned for {fault.task!r}, which is no task of the job; name one of "
            f"{', '.join(plan.ids())}, or a stage"
        )
    if fault.action == Action.KILL_EXECUTOR and master.startswith("local["):
        raise ConfigError(
            f"{Action.KILL_EXECUTOR} needs executors in processes of their own, but {master} runs everything "
            "in the driver's process; use another master or another action"
        )
    if fault.action == Action.KILL_HOST and not master.startswith("spark://"):
        raise ConfigError(
            f"{Action.KILL_HOST} needs a standalone cluster, but the master is {master}; use another "
            "master or another action"
        )
    if fault.action == Action.KILL_SERVER and not any(
        isinstance(one, PostgresOutput) for one in plan.outputs()
    ):
        raise ConfigError(
            f"{Action.KILL_SERVER} needs a PostgresOutput, but this job has none; use another action"
        )


def settings_of(options: RunOptions) -> RunSettings:
    """The settings of a run, from its options.

    Raises `ConfigError` for an unknown option, for a value that an option does not take, for `resume`
    together with `from_savepoint`, and for `claim_mode` CLAIM without `from_savepoint`.
    """
    known = RunOptions.__annotations__
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ConfigError(f"the options of a run are {', '.join(known)}; got also {unknown}; leave those out")
    given: dict[str, Any] = {**options, "faults": tuple(options.get("faults", ()))}
    resume, savepoint = given.pop("resume", False), given.get("from_savepoint")
    if resume and savepoint is not None:
        raise ConfigError(
            "resume restores the newest checkpoint, and from_savepoint a savepoint; give only one of them"
        )
    claim = given.get("claim_mode", NO_CLAIM)
    if claim not in CLAIM_MODES or (claim == CLAIM and savepoint is None):
        raise ConfigError(
            f"claim_mode takes {' or '.join(CLAIM_MODES)}, and CLAIM needs from_savepoint, got {claim!r}; "
            "give both, or leave claim_mode out"
        )
    for option in ("from_savepoint", "checkpoints"):
        if given.get(option) is not None:
            given[option] = _usable_location(option, given[option])
    _require_rest(given)
    start = Start.SAVEPOINT if savepoint is not None else Start.RESUMED if resume else Start.ANEW
    return RunSettings(start, **given)


def _require_rest(given: Mapping[str, object]) -> None:
    """Raise ConfigError if the port or the address of the REST interface is not valid."""
    port, address = given.get("rest_port"), given.get("rest_bind_address", LOCALHOST)
    if port is not None and (isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65_535):
        raise ConfigError(f"rest_port takes an int from 0 to 65535, or None, not {port!r}")
    if not isinstance(address, str) or not address:
        raise ConfigError(f"rest_bind_address takes a name or an IP address of this host, not {address!r}")


def _usable_location(option: str, where: object) -> Where:
    """The path or URI that `option` names. Raises `ConfigError` unless other processes can reach it."""
    if not isinstance(where, Path | str):
        raise ConfigError(f"{option} takes a Path or a URI, not {where!r}")
    try:
        usable = location_of(where).where
    except StateError as odd:
        raise ConfigError(f"{option}: {odd}") from odd
    if str(usable).startswith(("memory://", "jobmanager://")):
        raise ConfigError(
            f"{option} takes a path or a URI that other processes can reach, not {where}; name another one"
        )
    return usable


def _require_same_chain(one: Stage, other: Stage) -> None:
    """Raise ConfigError if two branches of a stream chain different functions to the same stage."""
    if one.logic is other.logic and one.chained != other.chained:
        ends = [", ".join(repr(link.name) for link in stage.chained) or "nothing" for stage in (one, other)]
        raise ConfigError(
            f"the stream has two branches behind {one.name!r}: one branch chains {ends[0]} to it, the other "
            f"chains {ends[1]}. Every row of a stage passes all functions that are chained to the stage. "
            "Begin the branches behind the last chained function, or use forward() in place of chained()"
        )


def _new(others: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """The members of `others` that are not in `known`, compared as objects (`is`)."""
    return [one for one in others if not any(one is other for other in known)]
