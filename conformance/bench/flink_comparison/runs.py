"""Runs a job of one contestant in a process that stays from run to run."""

import shutil
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from conformance.bench.benchmark import MeasurementError
from conformance.bench.flink_comparison import rows
from conformance.bench.flink_comparison.contestants import FLINK, ONE_CORE, OURS, PYFLINK, Contestant
from conformance.bench.flink_comparison.processes import Flink, installed, order_of
from conformance.bench.runtime import word_counts
from conformance.bench.runtime.driver import Driver, launch_of
from conformance.bench.runtime.processes import spent_in_all

ORDER_SECONDS: Final = 300.0
"""Maximum time in seconds of one run. A contestant that takes longer runs no more."""
INTERVAL_MS: Final = 500
FILES_A_BATCH: Final = 3
"""A micro-batch of Structured Streaming has 600,000 rows and lasts about one interval of our checkpoints."""


class TooSlowError(MeasurementError):
    """A run did not end within ORDER_SECONDS."""


@dataclass
class Runs:
    """The processes that run the jobs, each started when it is first needed."""

    folder: Path
    stack: ExitStack
    slow: list[str] = field(default_factory=list)
    """The names of contestants that took longer than ORDER_SECONDS."""
    _drivers: dict[str, Driver] = field(default_factory=dict)
    _flink: Flink | None = None

    @property
    def flink(self) -> Flink:
        """Flink, installed when it is first needed."""
        self._flink = self._flink or installed()
        return self._flink

    def driver(self, kind: str) -> Driver:
        """The process of a kind, started if it does not run."""
        if kind not in self._drivers:
            launch = None
            if kind == FLINK:
                launch = self.flink.java(self.folder / kind)
            elif kind == PYFLINK:
                launch = self.flink.pyflink(self.folder / kind)
            elif kind == ONE_CORE:
                launch = launch_of(OURS, self.folder / kind, cores=(0,))
            self._drivers[kind] = Driver(kind, self.folder / kind, launch)
            self.stack.callback(self._drivers[kind].close)
        return self._drivers[kind]

    def carry_out(self, kind: str, order: dict[str, Any]) -> tuple[float, float]:
        """Run an order in the process of a kind. Returns its seconds and its processor seconds.

        Raises TooSlowError, and MeasurementError if the order fails.
        """
        driver = self.driver(kind)
        pid = driver.processes()[0].pid
        before = spent_in_all(pid)
        driver.begin(**order)
        if not driver.has_answered(ORDER_SECONDS):
            driver.kill()
            del self._drivers[kind]
            raise TooSlowError(f"{kind} did not end in {ORDER_SECONDS:.0f} s")
        seconds: float = driver.answered()["seconds"]
        return seconds, spent_in_all(pid) - before

    def run(self, contestant: Contestant, size: int, rate: float = 0.0) -> tuple[float, float, Path]:
        """Run a contestant on `size` rows. Returns its seconds, processor seconds and output folder.

        `rate`: rows a second; 0: as fast as it can.
        """
        source = word_counts.files(self.folder, size)
        return self.run_on(source, contestant, rate)

    def run_on(self, source: Path, contestant: Contestant, rate: float = 0.0) -> tuple[float, float, Path]:
        """As `run`, on the Parquet files in a folder."""
        output = self.folder / f"out-{contestant.kind}"
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        output.with_suffix(".begun").mkdir(exist_ok=True)
        match contestant.kind:
            case "ours" | "one-core":
                order: dict[str, Any] = {
                    "job": "words", "api": contestant.api, "backend": contestant.backend,
                    "source": str(source), "output": str(output), "interval_ms": INTERVAL_MS,
                }  # fmt: skip
                if rate:
                    order |= {"rows_per_second": rate, "begun": str(output.with_suffix(".begun"))}
            case "native":
                order = {"source": str(source), "output": str(output), "files_a_batch": FILES_A_BATCH}
            case _:
                places = {"source": str(rows.binary(source)), "output": str(output / "committed")}
                places["begun"] = str(output.with_suffix(".begun"))
                settings = self.flink.settings(contestant, output)
                order = order_of(contestant, settings, **places, rows_per_second=rate)
        seconds, cpu = self.carry_out(contestant.kind, order)
        return seconds, cpu, output
