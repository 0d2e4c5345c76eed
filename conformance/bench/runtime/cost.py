"""What checkpoints cost: processor time for a record with and without them, in windows of one job in turn."""

from collections.abc import Sequence
from pathlib import Path

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure, Report, interval
from conformance.bench.runtime import word_counts
from conformance.bench.runtime.driver import OURS, Driver, driving
from conformance.bench.runtime.scale import Scale
from conformance.bench.runtime.throughput import TITLES
from conformance.bench.runtime.windows import WINDOW_SECONDS, Window

BAR_PER_CENT = 5.0


def measure(folder: Path, scale: Scale) -> Report:
    """One job for each way to program it. Raises MeasurementError."""
    source = word_counts.files(folder, scale.rows)
    figures: list[Figure] = []
    with driving(OURS, folder / OURS) as driver:
        for api in (word_counts.ROW, word_counts.ARROW):
            figures += figures_of(TITLES[api], _windows(driver, api, source, folder, scale.pairs))
    return Report(
        "cost",
        "What checkpoints cost",
        "processor seconds of all processes for a million records of the keyed aggregation, in one job at "
        f"full load for each way to program it: windows of {WINDOW_SECONDS * 1e3:.0f} ms with a checkpoint, "
        "each beside one without, in turn before and after it. A window with a checkpoint ends no sooner "
        "than the checkpoint is complete and its output committed; what was read is counted to the row, and "
        "the output holds all of it",
        figures,
    )


def figures_of(title: str, windows: Sequence[Window]) -> list[Figure]:
    """What neighbouring windows come to, two by two, one of either kind."""
    pairs = [sorted(pair) for pair in zip(windows[::2], windows[1::2], strict=True)]  # the one without first
    spent = [[one.cpu / one.rows * 1e6 for one in pair] for pair in pairs]
    more = [(taking - none) / none * 100 for none, taking in spent]
    each = [(taking.cpu - none.cpu / none.rows * taking.rows) * 1e3 for none, taking in pairs]
    low, high = interval(more)
    told = f"95 % interval {low:.1f} to {high:.1f} %, {len(pairs)} pairs of windows"
    return [
        Figure(
            f"processor time that checkpoints add, {title}",
            "% more",
            more,
            BAR_PER_CENT,
            at_most=True,
            told=told,
        ),
        Figure(f"processor time of a checkpoint, {title}", "ms", each),
        Figure(f"processor time with checkpoints, {title}", "s per M rows", [taking for _, taking in spent]),
        Figure(f"processor time without checkpoints, {title}", "s per M rows", [none for none, _ in spent]),
    ]


def _windows(driver: Driver, api: str, source: Path, folder: Path, pairs: int) -> list[Window]:
    output = folder / "out-cost"
    told = driver.run(
        job="words",
        api=api,
        source=str(source),
        output=str(output),
        counts=str(output / "counts"),
        interval_ms=None,
        pairs=pairs,
    )
    counted = sum(count for count, _ in word_counts.answer(output).values())
    if told["attempts"] != 1 or counted != told["rows"]:
        raise MeasurementError(
            f"{told['rows']:,} rows were read in {told['attempts']} attempts, and the output holds "
            f"{counted:,}; nothing is told of such a run"
        )
    return [Window(*one) for one in told["windows"]]
