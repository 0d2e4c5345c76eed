"""Runs measured jobs in separate processes (drivers), which keep their Spark session from run to run.

`python -m conformance.bench.runtime.driver ours|native FOLDER` reads from each line of its standard input an
order in JSON, and answers it with a line. The processor time of a run is that of the driver and of all its
descendants: Java, and every worker.
"""

import io
import os
import select
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson
import psutil

from conformance.bench.benchmark import MeasurementError
from conformance.bench.flink_comparison.paced_source import PacedInput
from conformance.bench.runtime import native, slow_jobs, word_counts
from conformance.bench.runtime.processes import resident, spent, tree
from conformance.bench.runtime.windows import Window, Windows
from conformance.own_process import own_process
from impl.config import RestartConfig
from impl.spark.session import spark_session

OURS, NATIVE = "ours", "native"
_START_SECONDS = 60.0


class Launch(NamedTuple):
    """The command of a driver process. `cores`: the cores that it may use; empty: all."""

    command: Sequence[str]
    environment: Mapping[str, str] = MappingProxyType({})
    cores: Sequence[int] = ()


def launch_of(kind: str, folder: Path, cores: Sequence[int] = ()) -> Launch:
    """The command that starts this module. `kind`: `ours` or `native`."""
    return Launch(own_process("conformance.bench.runtime.driver", kind, str(folder)), cores=cores)


class Driver:
    """A running driver process. `launch`: its command; None: that of `launch_of(kind, folder)`."""

    def __init__(self, kind: str, folder: Path, launch: Launch | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        launch = launch or launch_of(kind, folder)
        self._log = (folder / f"{kind}.log").open("wb")
        self._process = subprocess.Popen(
            launch.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **launch.environment},
        )
        if launch.cores:  # set before the process starts children, which inherit it
            psutil.Process(self._process.pid).cpu_affinity(list(launch.cores))
        self.begin()
        self.answered()

    def begin(self, **order: Any) -> None:  # noqa: ANN401 - JSON
        """Send an order, without waiting for its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(orjson.dumps(order) + b"\n")
        self._process.stdin.flush()

    def answered(self) -> dict[str, Any]:
        """Wait for the answer to the last order. Raises MeasurementError if it failed, or the driver died."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise MeasurementError(f"a driver has died; see {self._log.name}")
        result: dict[str, Any] = orjson.loads(line)
        if "failed" in result:
            raise MeasurementError(result["failed"])
        return result

    def has_answered(self, seconds: float) -> bool:
        """Wait up to `seconds` for the answer. Returns whether it has arrived."""
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], seconds)[0])

    def run(self, **order: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """Send an order and wait for its answer. Adds the processor time in seconds to it, as `cpu`.

        Raises MeasurementError as `answered`.
        """
        before = spent(self.processes())
        self.begin(**order)
        result = self.answered()
        after = spent(self.processes())
        return {**result, "cpu": sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())}

    def memory(self) -> dict[int, tuple[str, int]]:
        """By process id: the name of the process, and its resident memory in bytes."""
        return resident(self._process.pid)

    def processes(self) -> list[psutil.Process]:
        """The driver and all its descendants."""
        return tree(self._process.pid)

    def kill(self) -> None:
        """Kill the driver and all its descendants."""
        for one in reversed(self.processes()):
            with suppress(psutil.NoSuchProcess):
                one.kill()

    def close(self) -> None:
        """Close the driver's input, and wait for its end."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the driver was killed
            self._process.stdin.close()
        self._process.wait()
        self._log.close()


@contextmanager
def driving(kind: str, folder: Path, launch: Launch | None = None) -> Iterator[Driver]:
    """Yield a driver, and end it afterwards."""
    driver = Driver(kind, folder, launch)
    try:
        yield driver
    finally:
        driver.close()


# ------------------------------------------------------------ the process itself


def _ours(folder: Path) -> Iterator[Callable[[dict[str, Any]], dict[str, Any]]]:
    master = f"local[{slow_jobs.SLOTS}]"
    with spark_session(master, folder / "spark.log", "bench") as spark:

        def carry_out(order: dict[str, Any]) -> dict[str, Any]:
            output = Path(order.pop("output"))
            shutil.rmtree(output, ignore_errors=True)
            kind, kills = order.pop("job"), order.pop("kills", 0)
            stop_after = order.pop("stop_after", None)
            pairs = order.pop("pairs", 0)
            order |= {one: Path(order[one]) for one in ("source", "counts") if one in order}
            if begun := order.pop("begun", None):
                order["source"] = PacedInput(order["source"], Path(begun), order.pop("rows_per_second"))
            job = (word_counts.job if kind == "words" else slow_jobs.job)(output=output, **order)
            job = job.with_restarts(RestartConfig(attempts=kills))
            killer = slow_jobs.WorkerKiller(kills)
            began = time.perf_counter()
            running = job.start(master, output, spark=spark, on_progress=killer.look)
            windows: list[Window] = []
            if pairs and killer.runs.wait(_START_SECONDS):
                windows += Windows(running, order["counts"], output / "committed").pairs(pairs)
                running.stop()
            if stop_after is not None and killer.runs.wait(_START_SECONDS):
                threading.Event().wait(stop_after)
                running.stop()
            result = running.result()
            return {
                "seconds": time.perf_counter() - began,
                "rows": result.records,
                "checkpoints": [one.duration_ms for one in result.checkpoints],
                "attempts": len(result.attempts),
                "killed": killer.killed,
                "first_records": [one.first_record for one in result.attempts],
                "windows": list(map(tuple, windows)),
            }

        yield carry_out


def _native(folder: Path) -> Iterator[Callable[[dict[str, Any]], dict[str, Any]]]:
    spark = native.session()

    def carry_out(order: dict[str, Any]) -> dict[str, Any]:
        output = Path(order["output"])
        shutil.rmtree(output, ignore_errors=True)
        began = time.perf_counter()
        result = native.run(spark, Path(order["source"]), output, order["files_a_batch"])
        return {"seconds": time.perf_counter() - began, **result}

    yield carry_out
    spark.stop()


def main(kind: str, folder: Path) -> None:
    """Answer orders until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of Spark must not mix with the answers
    for carry_out in _ours(folder) if kind == OURS else _native(folder):
        for line in io.BufferedReader(io.FileIO(0)):
            order = orjson.loads(line)
            try:
                result = carry_out(order) if order else {}
            except Exception as failed:  # noqa: BLE001 - the parent raises it as MeasurementError
                result = {"failed": f"{type(failed).__name__}: {failed}"}
            answers.write(orjson.dumps(result) + b"\n")
            answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
