"""Measures the validation of many jobs' event logs in process and on Spark: events a second, and memory.

The measurement records one job, and uses copies of its log as the logs of many jobs. All validations must
give the same result.
"""

import shutil
import time
from pathlib import Path

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure, Report
from conformance.bench.recorded_job import recorded
from conformance.bench.runtime.processes import resident
from conformance.bench.runtime.scale import Scale
from conformance.parts.trace import Watched, judged
from conformance.parts.traces import judged_on_spark, logs_under
from impl.spark.session import spark_session

MASTERS = ("local[1]", "local[2]")
_ROWS = 50_000
_WARM = 20
"""Number of logs that are validated before the time counts, so that every worker has imported its modules."""


def measure(folder: Path, scale: Scale) -> Report:
    """Measure in this process, then on Spark with one and two tasks at once. Raises MeasurementError."""
    jobs = _copied(recorded(folder, _ROWS), folder / "traces", scale.jobs)
    logs = logs_under([jobs])
    begun = time.perf_counter()
    expected = judged(logs, _silent)
    alone = time.perf_counter() - begun
    if any(finding.rule for finding in expected.findings):
        raise MeasurementError(f"a log was rejected: {expected.findings[0].line}")
    figures = [Figure("in process", "events/s", [expected.events / alone])]
    rates = {}
    for master in MASTERS:
        with spark_session(master, folder / "traces.log", "bench") as spark:
            judged_on_spark(logs[:_WARM], spark, _silent)
            begun = time.perf_counter()
            watched = judged_on_spark(logs, spark, _silent)
            seconds = time.perf_counter() - begun
            held = max((size for name, size in resident().values() if "python" in name), default=0)
        _same(watched, expected)
        rates[master] = watched.events / seconds
        note = f"{seconds:.1f} s; the largest worker held {held / 1e6:,.0f} MB at the end"
        figures.append(Figure(f"Spark on {master}", "events/s", [rates[master]], note=note))
    both = [rates[MASTERS[1]] / rates[MASTERS[0]]]
    name = "events validated a second, Spark on local[2] compared with local[1]"
    figures.append(Figure(name, "times as many", both, 1.0))
    shutil.rmtree(jobs)
    return Report(
        "traces",
        "Traces of many jobs",
        f"The event logs of {scale.jobs:,} jobs are copies of the log of one recorded job, with "
        f"{expected.events:,} events in all. Each run compared {expected.cuts:,} cuts. The start of Spark is "
        "not counted",
        figures,
    )


def _copied(log: Path, folder: Path, times: int) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    for number in range(times):
        shutil.copytree(log, folder / f"job-{number:05}")
    return folder


def _same(watched: Watched, expected: Watched) -> None:
    if watched != expected:
        raise MeasurementError(f"Spark came to {watched.bound()}, the process to {expected.bound()}")


def _silent(what: str) -> None:
    del what
