"""The declaration of a job: sources, processing, sinks, and how it checkpoints.

    result = (
        Job("flights")
        .source("flights", CsvInput(path, to_rows), parallelism=2)
        .key_by(lambda row: row[0])
        .aggregate("count", CountFlights(), parallelism=4)
        .sink("sink", ParquetOutput(folder, schema), parallelism=2)
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=500))
        .execute("local[8]", output)
    )

A declaration is a value: every step returns a new one. Streams may fork and be connected again (see
`streams`); jobs that share sources and stages are combined with `together_with`. Nothing runs before
`execute` or `start`. For a job that cannot work, `execute` raises `ConfigError` before it starts Spark; after
`start`, `RunningJob.result` does.
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
from impl.connectors.parquet_sink import ParquetOutput
from impl.connectors.postgres_sink import PostgresOutput
from impl.connectors.sqlite_sink import SqliteOutput
from impl.faults import Action, FaultLedger, FaultPlan
from impl.graph.plan import Chained, Edge, Plan, Role, Stage
from impl.graph.topology import require_runnable, require_stage
from impl.monitoring.job_monitor import JobMonitor
from impl.monitoring.rest_answers import RestAnswers
from impl.monitoring.rest_server import LOCALHOST, served
from impl.output_lock import locked
from impl.running import RunningJob
from impl.savepoints import REQUESTS, Savepoint, SavepointRequests
from impl.spark.faults.driver import FaultyParts
from impl.spark.results import JobPaths, JobResult, OnProgress, Progress, RunSettings, Start
from impl.spark.runtime import JobParts, run_job
from impl.spark.session import spark_session
from impl.spark.worker.sources import CsvInput, Input, JsonLinesInput, ParquetInput, RateInput
from impl.state import StateError
from impl.state.locations import CHECKPOINTS, Where, location_of, note_place, noted_place
from impl.streams import ConnectedStreams, End, KeyedStream, Stream

__all__ = [
    "ConnectedStreams",
    "CsvInput",
    "JobPaths",
    "JobResult",
    "JsonLinesInput",
    "KafkaEnd",
    "KafkaInput",
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
    """The options of one run; each may be left out."""

    faults: Sequence[FaultPlan]
    """The faults to inject."""
    event_log: bool
    on_progress: OnProgress | None
    """Called several times a second."""
    resume: bool
    """The newest checkpoint in the output folder is restored, also at other parallelisms."""
    from_savepoint: Path | str | None
    """A savepoint, or a retained checkpoint such as `chk-7`, in any folder or object store is restored; a
    savepoint also at other parallelisms."""
    claim_mode: str
    """Who owns the original. NO_CLAIM, the default: its user. CLAIM: the job, which deletes the original
    when its copy is subsumed. Flink's `execution.state-recovery.claim-mode`."""
    checkpoints: Path | str | None
    """A folder, or a URI such as `s3://bucket/flights`, in place of `checkpoints` in the output folder."""
    allow_non_restored_state: bool
    """State of stages that the job no longer has is dropped."""
    rest_port: int | None
    """The port of a web page of the running job, and of its REST interface; 0: a free one, which the file
    `rest.url` in the output folder names. None, the default: there is none. Flink's `rest.port`."""
    rest_bind_address: str
    """The address of that page: `localhost` by default. Flink's `rest.bind-address`."""
    spark: "SparkSession | None"
    """A session that is used and left open."""


@dataclass(frozen=True)
class Job:
    """A job under declaration."""

    name: str
    checkpoints: CheckpointConfig = field(default_factory=CheckpointConfig)
    restarts: RestartConfig = field(default_factory=RestartConfig)
    execution: ExecutionConfig = field(default_factory=ExecutionConfig)
    stages: tuple[Stage, ...] = ()
    edges: tuple[Edge, ...] = ()

    def source(
        self, name: str, source: Input | KafkaInput, parallelism: int = 1, splits: int | None = None
    ) -> Stream:
        """Begin a stream. The source is read in `splits` parts, which the subtasks share; None: one for each.

        More splits than subtasks allow a higher parallelism later. A `KafkaInput` takes no `splits`: the
        partitions of its topics are shared, by any number of subtasks.
        """
        if splits is not None and isinstance(source, KafkaInput):
            raise ConfigError(f"{name!r} reads the partitions of its topics; leave `splits` out")
        return Stream(self.with_stage(Stage(name, Role.SOURCE, source, parallelism, splits)), (End(name),))

    def together_with(self, *others: "Job") -> "Job":
        """Combine jobs into one: a stage that they share runs once.

        Raises `ConfigError` if two stages have one name, or the jobs are not configured alike.
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
        """The job with one more stage, and the edges into it."""
        if stage.name in [one.name for one in self.stages]:
            raise ConfigError(f"expected a name for each stage, two are named {stage.name!r}; rename one")
        require_stage(stage, self.execution.max_parallelism)
        return replace(self, stages=(*self.stages, stage), edges=(*self.edges, *edges))

    def with_chained(self, stage: Stage, link: Chained) -> "Job":
        """The job with one more function in the subtasks of `stage`."""
        longer = replace(stage, chained=(*stage.chained, link))
        require_stage(replace(longer, name=link.name), self.execution.max_parallelism)
        return replace(self, stages=tuple(longer if one is stage else one for one in self.stages))

    def stage(self, name: str) -> Stage:
        """The stage of that name."""
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
        """The plan of the job. Raises `ConfigError` if it cannot run."""
        plan = Plan(self.name, self.stages, self.edges, self.execution.max_parallelism)
        require_runnable(plan)
        return plan

    def execute(self, master: str, output: Path, **options: Unpack[RunOptions]) -> JobResult:
        """Run the job on a Spark master and wait for its end.

        `impl.driver.supervise` also replaces dead drivers. Makes `checkpoints`, `spark.log` and, with
        `event_log`, `events` in `output`. With the option `checkpoints`, the checkpoints are in that place
        instead, and savepoints in its folder `savepoints`. Raises `ConfigError` for a job or options that
        cannot work, `OutputInUseError` if another job writes into `output`, other `SparkRuntimeError`s (see
        `impl.spark.errors`), `ConnectorError` for an output that cannot work, and `StateError`s for a
        checkpoint or savepoint that cannot be restored.
        """
        return self.drive(master, output, settings_of(options))

    def start(self, master: str, output: Path, **options: Unpack[RunOptions]) -> RunningJob:
        """As `execute`, but returns at once: savepoints can be taken of the job while it runs.

        Raises `ConfigError` for options that cannot work; `RunningJob.result` raises all other errors.
        """
        requests = SavepointRequests(output / REQUESTS)
        settings = replace(settings_of(options), requests=requests)
        return RunningJob(self.name, output, lambda: self.drive(master, output, settings), requests)

    def drive(self, master: str, output: Path, settings: RunSettings) -> JobResult:
        """As `execute`, with all settings of a run."""
        plan = self.plan()
        for fault in settings.faults:
            _require_possible(fault, plan, master)
        paths = JobPaths(
            output=output,
            checkpoints=checkpoints_of(output, settings),
            events=output / "events" if settings.event_log else None,
            spark_log=output / "spark.log",
        )
        if settings.requests is None:
            settings = replace(settings, requests=SavepointRequests(output / REQUESTS))
        config = JobConfig(self.checkpoints, self.restarts, self.execution)
        ledger = FaultLedger(settings.faults, settings.fault_record)
        parts = FaultyParts(ledger, paths.checkpoints) if settings.faults else JobParts()
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
                required=settings.start is not Start.TAKEN_OVER,  # the job matters more than its page
            ),
            nullcontext(settings.spark)
            if settings.spark is not None
            else spark_session(master, paths.spark_log, self.name) as session,
        ):
            note_place(output, paths.checkpoints)
            result = run_job(session, master, plan, config, paths, settings, parts)
        return replace(result, faults=ledger.happened)


def _require_possible(fault: FaultPlan, plan: Plan, master: str) -> None:
    """Raise `ConfigError` for a fault that cannot happen to this job."""
    known = {*plan.ids(), *(stage.name for stage in plan.stages)}
    if fault.task is not None and fault.task not in known:
        raise ConfigError(f"a fault is planned for {fault.task!r}; the tasks are {', '.join(plan.ids())}")
    if fault.action == Action.KILL_EXECUTOR and master.startswith("local["):
        raise ConfigError(
            f"{Action.KILL_EXECUTOR} needs executors of their own; {master} runs everything in the driver"
        )
    if fault.action == Action.KILL_SERVER and not any(
        isinstance(one, PostgresOutput) for one in plan.outputs()
    ):
        raise ConfigError(f"{Action.KILL_SERVER} needs a PostgresOutput; this job writes elsewhere")


def settings_of(options: RunOptions) -> RunSettings:
    """The settings of a run.

    Raises `ConfigError` for an unknown option and for `resume` together with `from_savepoint`.
    """
    known = RunOptions.__annotations__
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ConfigError(f"the options of a run are {', '.join(known)}; got also {unknown}; leave those out")
    given: dict[str, Any] = {**options, "faults": tuple(options.get("faults", ()))}
    resume, savepoint = given.pop("resume", False), given.get("from_savepoint")
    if resume and savepoint is not None:
        raise ConfigError(
            "resume restores the newest checkpoint and from_savepoint a savepoint; give one of them"
        )
    claim = given.get("claim_mode", NO_CLAIM)
    if claim not in CLAIM_MODES or (claim == CLAIM and savepoint is None):
        raise ConfigError(
            f"claim_mode takes {' or '.join(CLAIM_MODES)}, and CLAIM takes from_savepoint, got {claim!r}; "
            "give both, or leave it out"
        )
    for option in ("from_savepoint", "checkpoints"):
        if given.get(option) is not None:
            given[option] = _usable_place(option, given[option])
    _require_rest(given)
    start = Start.SAVEPOINT if savepoint is not None else Start.RESUMED if resume else Start.ANEW
    return RunSettings(start, **given)


def _require_rest(given: Mapping[str, object]) -> None:
    """Raise ConfigError for an address that no page can have."""
    port, address = given.get("rest_port"), given.get("rest_bind_address", LOCALHOST)
    if port is not None and (isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65_535):
        raise ConfigError(f"rest_port takes an int from 0 to 65535, or None, not {port!r}")
    if not isinstance(address, str) or not address:
        raise ConfigError(f"rest_bind_address takes a name or an IP address of this host, not {address!r}")


def _usable_place(option: str, where: object) -> Where:
    """The place of an option. Raises `ConfigError` unless every worker can reach it."""
    if not isinstance(where, Path | str):
        raise ConfigError(f"{option} takes a Path or a URI, not {where!r}")
    try:
        place = location_of(where).where
    except StateError as odd:
        raise ConfigError(f"{option}: {odd}") from odd
    if str(place).startswith("memory://"):
        raise ConfigError(f"{option} takes a place that other processes reach, not {where}; name another one")
    return place


def checkpoints_of(output: Path, settings: RunSettings) -> Where:
    """Where the checkpoints of a run are: a resumed one finds those of the earlier run."""
    if settings.checkpoints is not None:
        return settings.checkpoints
    noted = noted_place(output) if settings.start is Start.RESUMED else None
    return noted or output / CHECKPOINTS


def _require_same_chain(one: Stage, other: Stage) -> None:
    """Raise ConfigError if two branches chain other functions to one stage."""
    if one.logic is other.logic and one.chained != other.chained:
        ends = [", ".join(repr(link.name) for link in stage.chained) or "nothing" for stage in (one, other)]
        raise ConfigError(
            f"the stream parts at {one.name!r}, and has {ends[0]} chained to it in one branch and {ends[1]} "
            "in another: every row of a stage goes through all functions that are chained to it. Part the "
            "stream behind the last of them, or use forward() in place of chained()"
        )


def _new(others: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """The members of `others` that are not the same object as one of `known`."""
    return [one for one in others if not any(one is other for other in known)]
