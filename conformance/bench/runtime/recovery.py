"""Measures the recovery after a worker was killed: the time from the signal to the first new record."""

from pathlib import Path

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure, Report
from conformance.bench.runtime import word_counts
from conformance.bench.runtime.driver import OURS, driving
from conformance.bench.runtime.scale import Scale
from conformance.bench.runtime.slow_jobs import BETWEEN_KILLS_SECONDS
from conformance.bench.runtime.throughput import INTERVAL_MS

TARGET_SECONDS = 3.0
_RATE = 200_000


def measure(folder: Path, scale: Scale) -> Report:
    """Run one job, in which workers are killed `scale.kills` times. Raises MeasurementError."""
    rows = int(_RATE * scale.kills * (BETWEEN_KILLS_SECONDS + TARGET_SECONDS))
    source = word_counts.files(folder, rows)
    exact = word_counts.exact(source)
    output = folder / "out-recovery"
    with driving(OURS, folder / OURS) as driver:
        result = driver.run(
            job="words",
            api=word_counts.ROW,
            source=str(source),
            output=str(output),
            interval_ms=INTERVAL_MS,
            rows_per_second=_RATE,
            kills=scale.kills,
        )
    if word_counts.answer(output) != exact:
        raise MeasurementError("the output is not the exact answer; the recoveries are not reported")
    if not result["killed"] or len(result["killed"]) != result["attempts"] - 1:
        raise MeasurementError(
            f"{len(result['killed'])} workers were killed, in {result['attempts']} attempts"
        )
    took = [first - at for at, first in zip(result["killed"], result["first_records"][1:], strict=True)]
    return Report(
        "recovery",
        "Recovery after a killed worker",
        f"A random worker gets SIGKILL, {len(took)} times in one job of the row API that reads {_RATE:,} "
        "rows a second. The time lasts from the signal to the first record of the next attempt. The output "
        "is exact",
        [Figure("recovery, from SIGKILL to the first new record", "s", took, TARGET_SECONDS, at_most=True)],
    )
