"""Compares the keyed aggregation with that of Structured Streaming. They take turns on the same files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure, Report
from conformance.bench.runtime import native, word_counts
from conformance.bench.runtime.driver import NATIVE, OURS, Driver, driving
from conformance.bench.runtime.scale import Scale

CHECKPOINT_TARGET_MS = 150.0
TARGETS = {word_counts.ROW: 1.5, word_counts.ARROW: 4.0}
"""By API: the target, as times as fast as Structured Streaming, with state in memory."""
INTERVAL_MS = 500
_CALIBRATED_ON = 4
"""The divisor of the number of rows for the run that warms up Java and finds the size of a micro-batch."""
VARIANTS = (
    (word_counts.ROW, "memory"),
    (word_counts.ARROW, "memory"),
    (word_counts.ROW, "rocksdb"),
    (word_counts.ARROW, "rocksdb"),
)
TITLES = {word_counts.ROW: "row API", word_counts.ARROW: "Arrow batch API"}
Result = dict[str, Any]


def measure(folder: Path, scale: Scale) -> Report:
    """Measure each variant once in every repetition. Raises MeasurementError.

    Every output is compared with the exact answer.
    """
    source = word_counts.files(folder, scale.rows)
    exact = word_counts.exact(source)
    found: dict[object, list[Result]] = {one: [] for one in (NATIVE, *VARIANTS)}
    with driving(OURS, folder / OURS) as ours, driving(NATIVE, folder / NATIVE) as other:
        files = _calibrated(other, word_counts.files(folder, scale.rows // _CALIBRATED_ON), folder)
        _ours(ours, word_counts.ROW, "memory", source, folder, exact)  # warms up ours too
        for _ in range(scale.times):
            found[NATIVE].append(_native(other, source, folder, files, exact))
            for api, backend in VARIANTS:
                found[api, backend].append(_ours(ours, api, backend, source, folder, exact))
    return Report(
        "throughput",
        "Keyed aggregation compared with Structured Streaming",
        f"Each job counts and sums by word {scale.rows:,} rows of {word_counts.KEYS:,} words, which are in "
        f"{scale.rows // word_counts.ROWS_A_FILE} Parquet files. Ours has checkpoints every {INTERVAL_MS} "
        f"ms; Structured Streaming has its RocksDB store and {files} files a micro-batch. The jobs took "
        "turns, and each output was equal to the exact answer",
        _figures(found, scale.rows),
    )


def _figures(found: dict[object, list[Result]], rows: int) -> list[Figure]:
    base = found[NATIVE]
    batch = f"{sum(one['batch_ms'] for one in base) / len(base):.0f} ms a micro-batch"
    figures = [Figure("Structured Streaming", "M rows/s", _rates(base, rows), note=batch)]
    for api, backend in VARIANTS:
        ours = found[api, backend]
        name = f"{TITLES[api]}, {backend}"
        ratios = [b["seconds"] / m["seconds"] for b, m in zip(base, ours, strict=True)]
        compared = f"throughput, {name}, compared with Structured Streaming"
        figures.append(Figure(name, "M rows/s", _rates(ours, rows)))
        figures.append(
            Figure(compared, "times as fast", ratios, TARGETS[api] if backend == "memory" else None)
        )
    for title, runs in (("Structured Streaming", base), *((TITLES[a], found[a, b]) for a, b in VARIANTS[:2])):
        spent = [one["cpu"] / rows * 1e6 for one in runs]
        figures.append(Figure(f"processor time, {title}", "s per M rows", spent))
    for api, backend in VARIANTS[:2]:
        lasted = [ms for one in found[api, backend] for ms in one["checkpoints"]]
        name = f"checkpoint under full load, {TITLES[api]}"
        figures.append(Figure(name, "ms", lasted, CHECKPOINT_TARGET_MS, at_most=True))
    return figures


def _rates(runs: list[Result], rows: int) -> list[float]:
    return [rows / one["seconds"] / 1e6 for one in runs]


def _calibrated(driver: Driver, source: Path, folder: Path) -> int:
    """Warm up Java. Returns the number of files with which a micro-batch lasts one checkpoint interval."""
    files = 2
    for _ in range(3):
        result = driver.run(source=str(source), output=str(folder / "out-native"), files_a_batch=files)
        files = max(1, round(files * INTERVAL_MS / result["batch_ms"]))
    return files


def _native(driver: Driver, source: Path, folder: Path, files: int, exact: word_counts.Totals) -> Result:
    output = folder / "out-native"
    result = driver.run(source=str(source), output=str(output), files_a_batch=files)
    return _checked(result, "Structured Streaming", lambda: native.answer(output), exact)


def _ours(
    driver: Driver, api: str, backend: str, source: Path, folder: Path, exact: word_counts.Totals
) -> Result:
    output = folder / "out-ours"
    result = driver.run(
        job="words", api=api, backend=backend, source=str(source), output=str(output), interval_ms=INTERVAL_MS
    )
    return _checked(result, f"{api}, {backend}", lambda: word_counts.answer(output), exact)


def _checked(
    result: Result, who: str, answer: Callable[[], word_counts.Totals], exact: word_counts.Totals
) -> Result:
    try:
        right = answer() == exact
    except ValueError as wrong:
        raise MeasurementError(f"{who}: {wrong}") from wrong
    if not right:
        raise MeasurementError(f"{who}: the output is not the exact answer; its speed is not reported")
    return result
