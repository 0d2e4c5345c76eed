"""Runs the subtasks of a job as processes of this host, without Spark, so that a driver starts in a second.

Most rounds with a frozen driver use this module, because they start many drivers. Its `ProcessSession` has
the methods of a Spark Connect session that the runtime calls: all partitions run at once, and can be killed.
Driver, workers, checkpoints and sinks are the same as in every job.

    python -m conformance.torture.frozen_drivers.processes [--spark] FOLDER

This command runs the job that is stored in FOLDER. With `--spark`, the job runs in a real Spark session.
"""

import contextlib
import multiprocessing
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from impl.driver import DriverJob, pack_outcome
from impl.spark.channels.addresses import LOOPBACK
from impl.spark.worker.worker import SparkTask

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[6]"
PROGRAM = "conformance.torture.frozen_drivers.processes"
ON_SPARK = "--spark"
_PRELOADED = [
    "impl.spark.faults.worker",
    "impl.job",
    "impl.jobs.numbers",
    "psycopg",
    "pyarrow.parquet",
    "pyspark",
]
Function = Callable[[Iterator[Any]], Iterator[Any]]


class ProcessesFailedError(Exception):
    """The process of a partition was killed, or ended with an error."""


class _Settings:
    def get(self, name: str, default: str | None = None) -> str | None:
        """The value of a setting: loopback for the driver's host, and the default for all other settings."""
        return LOOPBACK if name == "spark.driver.host" else default


@dataclass(frozen=True)
class _Context:
    partition: int

    def partitionId(self) -> int:  # noqa: N802 - Spark's name
        """The number of the partition that this process runs."""
        return self.partition


@dataclass
class _Partitions:
    session: "ProcessSession"
    count: int
    function: Function | None = None

    def mapInArrow(self, function: Function, schema: str, *, barrier: bool) -> "_Partitions":  # noqa: N802
        """Set the function that each partition runs."""
        return _Partitions(self.session, self.count, function)

    def collect(self) -> list[Any]:
        """Run every partition in its own process, and wait until all have ended."""
        self.session.run(self.function, self.count)
        return []


class ProcessSession:
    """The part of a Spark session that `impl.spark.runtime` uses."""

    conf = _Settings()

    def __init__(self) -> None:
        self._starting = multiprocessing.get_context("forkserver")
        self._starting.set_forkserver_preload(_PRELOADED)
        self._tags = threading.local()
        self._running: dict[str, list[BaseProcess]] = {}

    def as_spark(self) -> "SparkSession":
        """This object, typed as the session that the runtime expects."""
        return cast("SparkSession", self)

    def range(self, start: int, end: int, step: int, partitions: int) -> _Partitions:
        """Set the number of partitions; the range itself is not used."""
        return _Partitions(self, partitions)

    def addTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        """Set the tag by which `interruptTag` finds the processes that this thread starts."""
        self._tags.name = tag

    def interruptTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        """Kill the processes of a tag, even frozen ones."""
        for process in self._running.get(tag, []):
            with contextlib.suppress(ValueError):
                process.kill()

    def run(self, function: Function | None, count: int) -> None:
        """Run `function` in `count` processes. Raises `ProcessesFailedError`."""
        from pyspark import cloudpickle

        if not isinstance(function, SparkTask):
            return  # the runtime only tests whether so many partitions can run at once: they can
        packed = cloudpickle.dumps(function)
        started: list[BaseProcess] = [
            self._starting.Process(target=_partition, args=(packed, partition), daemon=True)
            for partition in range(count)
        ]
        self._running[getattr(self._tags, "name", "")] = started
        for process in started:
            process.start()
        for process in started:
            process.join()
        ended = [process.exitcode for process in started]
        if any(ended):
            raise ProcessesFailedError(f"the processes of the partitions ended with {ended}")


def _partition(packed: bytes, partition: int) -> None:
    from pyspark import TaskContext

    TaskContext._taskContext = cast("TaskContext", _Context(partition))
    function: Function = pickle.loads(packed)
    for _ in function(iter(())):
        continue


def main(folder: Path, *, on_spark: bool) -> None:
    """Run the job in `folder` to its end, and write its result or its error into the folder."""
    driver_job: DriverJob = pickle.loads((folder / "job").read_bytes())
    if not on_spark:
        settings = replace(driver_job.settings, spark=ProcessSession().as_spark())
        driver_job = replace(driver_job, master=MASTER, settings=settings)
    (folder / "result.tmp").write_bytes(pack_outcome(driver_job))
    os.replace(folder / "result.tmp", folder / "result")


if __name__ == "__main__":
    from conformance.torture.frozen_drivers import processes

    processes.main(Path(sys.argv[-1]), on_spark=ON_SPARK in sys.argv)
