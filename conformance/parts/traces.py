"""Validates the event logs of many jobs on Spark: one log at a time on each core.

Spark shuffles the folders of the logs among many more tasks than there are cores, so that no core gets all
long logs at the end. A task validates its logs one after the other, exactly as without Spark. It returns one
row: the sums, and the first refused event of each refused job. So a worker has the state of one log at a time
in memory, and the driver only the results.

Every executor must be able to read the folders. On a cluster they must be in a shared file system.
"""

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from conformance.observe.cuts.joined import outcome
from conformance.observe.cuts.part import PartRange, Validated
from conformance.observe.eventlog import COORDINATOR
from conformance.parts.trace import Watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOGS_A_TASK = 8
"""The maximum number of logs of a task. Spark reports progress by tasks, and repeats tasks that are lost."""


def logs_under(folders: Sequence[Path]) -> list[Path]:
    """The event logs in these folders and below them; those of one folder are sorted by path.

    A folder without an event log is a part of the result, so that reading it reports the error.
    """
    found: list[Path] = []
    for folder in folders:
        inside = [
            Path(place) for place, _, files in os.walk(folder) if f"{COORDINATOR}.jsonl" in files
        ]  # fmt: skip
        found += sorted(inside) or [folder]
    return found


def judged_on_spark(logs: Sequence[Path], spark: "SparkSession", progress: Callable[[str], None]) -> Watched:
    """Validate each log separately on Spark, and check the required situations, as `trace.judged` does.

    `progress` is called with the number of logs and of tasks.
    """
    tasks = -(-len(logs) // LOGS_A_TASK)
    progress(f"{len(logs):,} logs in {tasks:,} tasks")
    folders = pa.table({"log": [str(log.absolute()) for log in logs]})
    frame = spark.createDataFrame(folders).repartition(tasks).mapInArrow(_judged, "watched binary")
    watched = Watched()
    for part in frame.toArrow().column("watched").to_pylist():
        watched.join(pickle.loads(part))
    watched.findings = tuple(sorted(watched.findings, key=lambda found: (found.file, found.line)))
    watched.close()
    return watched


def parts_on_spark(ranges: Sequence[PartRange], spark: "SparkSession") -> list[Validated]:
    """Validate the parts of one log, each by one task."""
    rows = pa.table({"place": range(len(ranges)), "part": [pickle.dumps(one) for one in ranges]})
    frame = spark.createDataFrame(rows).repartitionByRange(len(ranges), "place")
    found = frame.mapInArrow(_validated, "place long, part binary").toArrow()
    parts = dict(zip(found.column("place").to_pylist(), found.column("part").to_pylist(), strict=True))
    return [pickle.loads(parts[place]) for place in range(len(ranges))]


def _validated(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The parts of one task, each in one row."""
    for batch in batches:
        parts = [pickle.dumps(outcome(pickle.loads(part))) for part in batch.column("part").to_pylist()]
        yield pa.RecordBatch.from_pydict({"place": batch.column("place"), "part": parts})


def _judged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The results of the logs of one task, in one row."""
    watched = Watched()
    for batch in batches:
        for log in batch.column("log").to_pylist():
            watched.add(Path(log))
    yield pa.RecordBatch.from_pydict({"watched": [pickle.dumps(watched)]})
