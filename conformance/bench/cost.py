"""What checkpoints cost: processor time of the same job with and without them, in pairs."""

from pathlib import Path

from conformance.bench import words
from conformance.bench.driver import OURS, Driver, driving
from conformance.bench.figures import Figure, Report, interval
from conformance.bench.scale import Scale
from conformance.bench.throughput import INTERVAL_MS, TITLES

BAR_PER_CENT = 5.0
_ROWS_TAKE_LONGER = 4
"""So many times fewer rows in the row API: a run of either lasts seconds, and the machine stays the same."""


def measure(folder: Path, scale: Scale) -> Report:
    """Pairs, each in another order than the one before. Raises MeasurementError."""
    figures = []
    with driving(OURS, folder / OURS) as driver:
        for api, rows in ((words.ROW, scale.rows // _ROWS_TAKE_LONGER), (words.ARROW, scale.rows)):
            source = words.files(folder, rows)
            _spent(driver, api, INTERVAL_MS, source, folder)
            pairs = [
                _pair(driver, api, source, folder, with_first=bool(one % 2)) for one in range(scale.pairs)
            ]
            more = [(taking - none) / none * 100 for taking, none in pairs]
            low, high = interval(more)
            told = f"95 % interval {low:.1f} to {high:.1f} %, {len(pairs)} pairs"
            figures.append(
                Figure(f"checkpoints, {TITLES[api]}", "% more", more, BAR_PER_CENT, at_most=True, told=told)
            )
            for name, column in (("with", 0), ("without", 1)):
                spent = [pair[column] / rows * 1e6 for pair in pairs]
                figures.append(Figure(f"{name} checkpoints, {TITLES[api]}", "s per M rows", spent))
    return Report(
        "cost",
        "What checkpoints cost",
        f"processor seconds of all processes, {scale.rows:,} rows of the keyed aggregation "
        f"({scale.rows // _ROWS_TAKE_LONGER:,} in the row API, which takes as long), "
        f"checkpoints every {INTERVAL_MS} ms beside none but the last, in pairs",
        figures,
    )


def _pair(driver: Driver, api: str, source: Path, folder: Path, *, with_first: bool) -> tuple[float, float]:
    """The processor seconds with and without checkpoints."""
    intervals = (INTERVAL_MS, words.NEVER_MS) if with_first else (words.NEVER_MS, INTERVAL_MS)
    spent = {one: _spent(driver, api, one, source, folder) for one in intervals}
    return spent[INTERVAL_MS], spent[words.NEVER_MS]


def _spent(driver: Driver, api: str, interval_ms: int, source: Path, folder: Path) -> float:
    output = str(folder / "out-cost")
    told = driver.run(job="words", api=api, source=str(source), output=output, interval_ms=interval_ms)
    cpu: float = told["cpu"]
    return cpu
