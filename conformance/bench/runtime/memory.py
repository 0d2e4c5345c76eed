"""Measures memory: under backpressure from a slow sink, the processes of the runtime must hardly grow.

The target: the resident memory of each process grows by at most `TARGET_PER_CENT`.
"""

import time
from pathlib import Path

import numpy as np

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure, Report
from conformance.bench.runtime.driver import OURS, driving
from conformance.bench.runtime.scale import Scale

TARGET_PER_CENT = 5.0
_NAME = "memory of a long run"
_SAMPLE_SECONDS = 1.0
_MIN_SHARE = 0.6
"""A process counts if it has more than this share of the samples. Other processes ran only for a part."""
_MIN_PROCESSES = 8
"""Minimum number of lasting processes: the driver, the JVM, Spark's Python daemon and five Python workers."""

Points = list[tuple[float, float]]
"""Samples of one process: seconds since the start, and resident memory in MB (10**6 bytes)."""


def measure(folder: Path, scale: Scale) -> Report:
    """Run unthrottled sources into a slow sink, and sample the memory of every process each second.

    `folder`: for logs and output. Raises MeasurementError if fewer than `_MIN_PROCESSES` run to the end.
    """
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
        while not driver.has_answered(_SAMPLE_SECONDS):
            at = round(time.monotonic() - began, 1)
            for pid, (name, size) in driver.memory().items():
                series.setdefault((pid, name), []).append((at, round(size / 1e6, 2)))
        result = driver.answered()
    most = max(map(len, series.values()))
    lasting = {one: points for one, points in series.items() if len(points) > most * _MIN_SHARE}
    if len(lasting) < _MIN_PROCESSES:
        raise MeasurementError(
            f"expected at least {_MIN_PROCESSES} processes, found {sorted(lasting)}; see the logs in {folder}"
        )
    grown = [_growth(points) for points in lasting.values()]
    worst = max(grown)
    return Report(
        "memory",
        "Memory under backpressure",
        "The sources are not throttled, and the sink takes 10 ms for every batch of 1,000 rows. In "
        f"{scale.slow_seconds:.0f} s the job had {result['rows']:,} rows and {len(result['checkpoints'])} "
        f"checkpoints. The resident memory of all {len(lasting)} processes was read each second",
        [
            Figure(f"{_NAME}: growth of the process that grew most", "%", [worst], TARGET_PER_CENT,
                   at_most=True,
                   note="mean of the last fifth of the time, compared with the fifth after the warm-up"),
            Figure("all processes together, at the end", "MB", [sum(one[-1][1] for one in lasting.values())]),
        ],
        {f"{name} {number}": points
         for number, ((_, name), points) in enumerate(sorted(lasting.items()), 1)},
    )  # fmt: skip


def _growth(points: Points) -> float:
    """Growth of the mean memory from the second fifth of the samples to the last, in per cent.

    The first fifth is the warm-up.
    """
    sizes = np.array([size for _, size in points])
    fifth = max(1, len(sizes) // 5)
    early, late = sizes[fifth : 2 * fifth].mean(), sizes[-fifth:].mean()
    return float((late - early) / early * 100)
