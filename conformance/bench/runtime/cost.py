"""Measures the cost of checkpoints: processor time of a record in windows with and without a checkpoint."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure, Report
from conformance.bench.runtime import word_counts
from conformance.bench.runtime.driver import OURS, Driver, driving
from conformance.bench.runtime.scale import Scale
from conformance.bench.runtime.throughput import TITLES
from conformance.bench.runtime.windows import WINDOW_SECONDS, Window

TARGET_PER_CENT = 5.0
IMPOSSIBLE = 0.1
"""If a window has less than this share of the median processor time of a row, its count of rows is wrong."""


def measure(folder: Path, scale: Scale) -> Report:
    """Measure one job for each API. Raises MeasurementError."""
    source = word_counts.files(folder, scale.rows)
    windows: dict[str, list[Window]] = {}
    with driving(OURS, folder / OURS) as driver:
        for api in (word_counts.ROW, word_counts.ARROW):
            windows[TITLES[api]] = _windows(driver, api, source, folder, scale.pairs)
    return Report(
        "cost",
        "What checkpoints cost",
        "The unit is processor seconds of all processes for a million records of the keyed aggregation. Each "
        "API has one job at full load. A pair is a window of "
        f"{WINDOW_SECONDS * 1e3:.0f} ms with a checkpoint and one without, in turn before and after it. A "
        "window with a checkpoint ends when the checkpoint is complete and its output committed. Every row "
        "that was read is counted, and the output contains all of them",
        [figure for title, found in windows.items() for figure in figures_of(title, found)],
        raw=windows,
    )


def figures_of(title: str, windows: Sequence[Window]) -> list[Figure]:
    """The figures of pairs of neighbouring windows, one of them with a checkpoint and one without.

    A pair is excluded if a window took less than a tenth of the median processor time of a row. Its count of
    rows is wrong, because it began at 0 instead of the number of rows read before.
    """
    pairs = [sorted(pair) for pair in zip(windows[::2], windows[1::2], strict=True)]  # no checkpoint first
    least = IMPOSSIBLE * median(one.cpu / one.rows for one in windows)
    valid = [pair for pair in pairs if all(one.cpu / one.rows >= least for one in pair)]
    wrong = len(pairs) - len(valid)
    note = f"{wrong} of {len(pairs)} pairs excluded: a count of rows began at 0" if wrong else ""
    spent = [[one.cpu / one.rows * 1e6 for one in pair] for pair in valid]
    more = [(taking - none) / none * 100 for none, taking in spent]
    each = [(taking.cpu - none.cpu / none.rows * taking.rows) * 1e3 for none, taking in valid]
    name, unit = "processor time", "s per M rows"
    return [
        Figure(
            f"{name} that checkpoints add, {title}", "% more", more, TARGET_PER_CENT, at_most=True, note=note
        ),
        Figure(f"{name} of a checkpoint, {title}", "ms", each, note=note),
        Figure(f"{name} with checkpoints, {title}", unit, [taking for _, taking in spent], note=note),
        Figure(f"{name} without checkpoints, {title}", unit, [none for none, _ in spent], note=note),
    ]


def _windows(driver: Driver, api: str, source: Path, folder: Path, pairs: int) -> list[Window]:
    output = folder / "out-cost"
    result = driver.run(
        job="words",
        api=api,
        source=str(source),
        output=str(output),
        counts=str(output / "counts"),
        interval_ms=None,
        pairs=pairs,
    )
    counted = sum(count for count, _ in word_counts.answer(output).values())
    if result["attempts"] != 1 or counted != result["rows"]:
        raise MeasurementError(
            f"{result['rows']:,} rows were read in {result['attempts']} attempts, and the output holds "
            f"{counted:,}; such a run is not reported"
        )
    return [Window(*one) for one in result["windows"]]
