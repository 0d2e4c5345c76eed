"""One job at full load, in whose time windows with a checkpoint and windows without one take turns.

A machine's speed wanders within seconds, so windows are short and neighbours are compared. They come in
pairs, each in another order than the one before, so that what drifts falls on both alike. What a
checkpoint causes falls into its window: it is triggered at the beginning, and the next window begins when
the checkpoint is complete and the sink has committed it. What a window without one leaves behind are the
updates of its keys, one for each that has changed, as after any interval in which they all change: the
checkpoint after it writes no more of them than every other.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

from conformance.bench.benchmark import MeasurementError
from conformance.bench.runtime.endless import rows_read
from conformance.bench.runtime.processes import has_ended, spent, tree
from impl.connectors.frontier import frontier
from impl.running_job import RunningJob

WINDOW_SECONDS = 0.5
"""Minimum length of a window: the interval of the checkpoints."""
_WARM_PAIRS = 5
"""Pairs that are excluded: the first checkpoints of a job cost several times as much as later ones."""
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
    """The windows of one job. `counts`: of its source; `committed`: the directory of its sink."""

    def __init__(self, running: RunningJob, counts: Path, committed: Path) -> None:
        self._running = running
        self._counts = counts
        self._committed = committed
        self._counted = 0
        self._processes = _running()

    def pairs(self, pairs: int) -> Iterator[Window]:
        """Two windows of each pair, one with a checkpoint and one without, after some to get warm.

        Raises MeasurementError if a process has come or gone meanwhile.
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
        """Waits until the output of the checkpoint is committed, which is mostly long before."""
        until = time.perf_counter() + _LONGEST_SECONDS
        while (frontier(self._committed) or 0) < checkpoint:
            if time.perf_counter() > until:
                raise MeasurementError(f"checkpoint {checkpoint} is complete and its output not committed")
            time.sleep(_LOOK_SECONDS)

    def _now(self) -> tuple[float, float, int]:
        return time.perf_counter(), sum(spent(self._processes).values()), rows_read(self._counts)


def _running() -> list[psutil.Process]:
    return [one for one in tree() if not has_ended(one)]
