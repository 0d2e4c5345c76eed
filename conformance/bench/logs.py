"""Measures the rates at which logs of Flink jobs are parsed and replayed."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from conformance.bench.benchmark import Benchmark, MeasurementError, Run

LOGS = Path(__file__).parents[2] / "tests" / "observe" / "logs"
TIMES = 3
"""The number of times that a run reads each log."""


def log_benchmarks() -> Iterator[Benchmark]:
    """Yield the measurements on the logs of Flink jobs in this checkout. An installed package has no logs."""
    logs = sorted(LOGS.glob("*.log.gz"))
    if not logs:
        return
    setting = f"{len(logs)} logs of 1.13.6 to 2.2.1"
    yield Benchmark(
        "Flink logs, parsed", "lines/s", 100_000, f"{setting}, unpacked, parsed", partial(_parsed, logs)
    )
    yield Benchmark(
        "Flink logs, replayed",
        "events/s",
        20_000,
        f"{setting}, already parsed, every line compared with the model",
        partial(_replayed, logs),
    )


def _parsed(logs: list[Path]) -> Run:
    from conformance.observe.flink import read_lines
    from conformance.observe.flink.validate import parse

    begun, own, amount = time.perf_counter(), time.process_time(), 0
    for log in logs * TIMES:
        lines = read_lines(str(log))
        parse(lines)
        amount += len(lines)
    return Run(amount, time.perf_counter() - begun, time.process_time() - own)


def _replayed(logs: list[Path]) -> Run:
    from conformance.observe.flink import Settings, read_lines
    from conformance.observe.flink.reading import read_log
    from conformance.observe.flink.survey import survey
    from conformance.observe.flink.validate import replayed

    read = [read_log(read_lines(str(log))) for log in logs * TIMES]
    begun, own, amount = time.perf_counter(), time.process_time(), 0
    for log in read:
        result = replayed(log, survey(log.lines), Settings(), ())
        if result.rejection is not None:
            raise MeasurementError(result.rejection.describe())
        amount += result.replayed
    return Run(amount, time.perf_counter() - begun, time.process_time() - own)
