"""Memory while a slow sink holds everything back: no process may grow."""

import time
from pathlib import Path

import numpy as np

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure, Report
from conformance.bench.runtime.driver import OURS, driving
from conformance.bench.runtime.scale import Scale

BAR_PER_CENT = 5.0
_NAME = "memory of a long run"
_LOOK_SECONDS = 1.0
_LASTING = 0.6
"""A process is watched if it was there for so much of the time: not one that only helped to start."""
_PROCESSES = 8
"""The driver, Java, Python's daemon and five workers."""

Points = list[tuple[float, float]]


def measure(folder: Path, scale: Scale) -> Report:
    """Let sources run as fast as they go into a slow sink, and look at every process each second."""
    series: dict[tuple[int, str], Points] = {}
    with driving(OURS, folder / OURS) as driver:
        driver.begin(
            job="slow",
            rows=10**12,
            batch_rows=1_000,
            channel_batches=4,
            unaligned=False,
            output=str(folder / "out-memory"),
            stop_after=scale.slow_seconds,
        )
        began = time.monotonic()
        while not driver.has_answered(_LOOK_SECONDS):
            at = round(time.monotonic() - began, 1)
            for pid, (name, size) in driver.memory().items():
                series.setdefault((pid, name), []).append((at, round(size / 1e6, 2)))
        result = driver.answered()
    most = max(map(len, series.values()))
    lasting = {one: points for one, points in series.items() if len(points) > most * _LASTING}
    if len(lasting) < _PROCESSES:
        raise MeasurementError(f"expected to watch {_PROCESSES} processes, found {sorted(lasting)}")
    grown = [_growth(points) for points in lasting.values()]
    worst = max(grown)
    return Report(
        "memory",
        "Memory under back-pressure",
        f"Sources as fast as they go, a sink that takes 10 ms for every batch of 1,000 rows, for "
        f"{scale.slow_seconds:.0f} s: {result['rows']:,} rows, {len(result['checkpoints'])} checkpoints; the "
        f"resident memory of all {len(lasting)} processes each second",
        [
            Figure(f"{_NAME}: growth of the process that grew most", "%", [worst], BAR_PER_CENT, at_most=True,
                   note="mean of the last fifth of the time beside that of the fifth after the warm-up"),
            Figure("all processes together, at the end", "MB", [sum(one[-1][1] for one in lasting.values())]),
        ],
        {f"{name} {number}": points
         for number, ((_, name), points) in enumerate(sorted(lasting.items()), 1)},
    )  # fmt: skip


def _growth(points: Points) -> float:
    """Per cent, from the fifth of the time after the warm-up to the last."""
    sizes = np.array([size for _, size in points])
    fifth = max(1, len(sizes) // 5)
    early, late = sizes[fifth : 2 * fifth].mean(), sizes[-fifth:].mean()
    return float((late - early) / early * 100)
