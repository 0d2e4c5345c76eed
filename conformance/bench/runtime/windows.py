"""Divides the time of one job at full load into windows with a checkpoint and windows without one, in turn.

The speed of a machine changes within seconds, so windows are short, and neighbours are compared. They come in
pairs, and each pair has the opposite order of the pair before, so that a drift affects both kinds alike. All
costs of a checkpoint fall into its window: the checkpoint is triggered at the beginning, and the next window
begins only when the checkpoint is complete and the sink has committed its output. A window without a
checkpoint leaves one update for each changed key to the next checkpoint. Every window changes nearly all
keys, so that checkpoint writes no more updates than any other.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

from conformance.bench.benchmark import MeasurementError
from conformance.bench.runtime.endless import rows_read
from conformance.bench.runtime.processes import has_ended, spent, tree
from impl.connectors.parquet_progress import newest_whole_checkpoint
from impl.running_job import RunningJob

WINDOW_SECONDS = 0.5
"""Minimum length of a window."""
_WARM_PAIRS = 5
"""Number of first pairs that are excluded, because a job's first checkpoints cost several times as much."""
_LONGEST_SECONDS = 60.0
_LOOK_SECONDS = 0.005


class Window(NamedTuple):
    """The rows of one window and their cost."""

    checkpoint: bool
    cpu: float
    """Processor seconds of all processes."""
    rows: int
    seconds: float


class Windows:
    """Measures the windows of one job. `counts`: its source's counts of rows. `committed`: its output."""

    def __init__(self, running: RunningJob, counts: Path, committed: Path) -> None:
        self._running = running
        self._counts = counts
        self._committed = committed
        self._counted = 0
        self._processes = _running()

    def pairs(self, pairs: int) -> Iterator[Window]:
        """Yield the two windows of each pair, one with a checkpoint and one without, after a warm-up.

        Raises MeasurementError if a process has started or ended meanwhile, or a count of rows is wrong.
        """
        for number in range(-_WARM_PAIRS, pairs):
            for checkpoint in (True, False) if number % 2 else (False, True):
                window = self._measured(checkpoint=checkpoint)
                if number >= 0:
                    yield window
        if (now := {one.pid for one in _running()}) != {one.pid for one in self._processes}:
            raise MeasurementError(f"expected the processes {self._processes}, now there are {sorted(now)}")

    def _measured(self, *, checkpoint: bool) -> Window:
        began, cpu, rows = self._now()
        taken = 0
        if checkpoint:
            taken = self._running.checkpoint(seconds=_LONGEST_SECONDS)
        time.sleep(max(0.0, began + WINDOW_SECONDS - time.perf_counter()))
        self._wait_for_commit(taken)
        ended, cpu_then, rows_then = self._now()
        if not self._counted <= rows < rows_then:
            raise MeasurementError(f"rows were counted to {self._counted:,}, {rows:,} and {rows_then:,}")
        self._counted = rows_then
        return Window(checkpoint, cpu_then - cpu, rows_then - rows, ended - began)

    def _wait_for_commit(self, checkpoint: int) -> None:
        """Wait until the output of the checkpoint is committed. In most cases this is already so."""
        until = time.perf_counter() + _LONGEST_SECONDS
        while (newest_whole_checkpoint(self._committed) or 0) < checkpoint:
            if time.perf_counter() > until:
                raise MeasurementError(f"checkpoint {checkpoint} is complete and its output not committed")
            time.sleep(_LOOK_SECONDS)

    def _now(self) -> tuple[float, float, int]:
        return time.perf_counter(), sum(spent(self._processes).values()), rows_read(self._counts)


def _running() -> list[psutil.Process]:
    return [one for one in tree() if not has_ended(one)]
