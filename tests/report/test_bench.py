"""Measured rates: medians, bars, and work that is checked to be the same each time."""

import pytest

from conformance import cli
from conformance.bench import rates as bench
from conformance.bench.benchmark import ENOUGH_SECONDS, Benchmark, Measured, MeasurementError, Run
from conformance.commands.jobs.bench import document
from conformance.report.measured import rates


def works(*runs):
    """Work that takes what these runs say, one after the other."""
    left = iter(runs)
    return lambda: next(left)


def benchmark(*runs, bar=100):
    return Benchmark("thinking", "thoughts/s", bar, "a quiet room", works(*runs))


def test_the_median_is_judged():
    slow, usual, fast = Run(100, 2.0, 0.5), Run(100, 1.0, 0.4), Run(100, 0.5, 0.2)

    measured = benchmark(slow, usual, fast).measure(3)

    assert measured.rates == (50.0, 100.0, 200.0)
    assert (measured.rate, measured.own_rate, measured.met) == (100.0, 250.0, True)
    assert benchmark(slow, usual, fast, bar=101).measure(3).met is False
    assert benchmark(slow, bar=None).measure(1).met is None


def test_a_long_measurement_is_not_repeated():
    assert benchmark(Run(10, ENOUGH_SECONDS, None)).measure(5).rates == (10 / ENOUGH_SECONDS,)


def test_work_that_changes_is_no_measurement():
    with pytest.raises(MeasurementError, match=r"expected the same work each time, got \[99, 100\]"):
        benchmark(Run(100, 1.0, 1.0), Run(99, 1.0, 1.0)).measure(2)


def test_the_table_and_the_file():
    rows = [
        Measured("explorer", "transitions/s", 250_000, 500_000, (300_000.0,), (400_000.0,), "a gate"),
        Measured("lock-step", "steps/s", 20_000, 600, (19_999.4, 19_998.0, 30_000.0), (), "walks"),
        Measured("TLC", "states/s", None, 10, (5.0,), (), "small"),
    ]

    table = rates(rows, "2 cores", 0.5, 2)

    lines = [line.split() for line in table.splitlines()]
    assert [
        "explorer",
        "300,000",
        "300,000",
        "300,000",
        "transitions/s",
        "250,000",
        "met",
        "400,000",
    ] in lines
    assert ["lock-step", "19,999", "19,998", "30,000", "steps/s", "20,000", "MISSED", "-"] in lines
    assert ["TLC", "5", "5", "5", "states/s", "-", "-"] in lines
    assert "  lock-step: 3 runs of 600: walks" in table
    written = document(rows)
    assert [(row["name"], row["median"], row["met"]) for row in written["measured"]] == [
        ("explorer", 300_000.0, True),
        ("lock-step", 19_999.4, False),
        ("TLC", 5.0, None),
    ]
    assert written["machine"]["cores"] >= 1


def test_what_is_measured_does_its_work():
    assert bench._exploration(channels=2, ids=3).amount == 564  # as TLC counts, two channels at handler level
    in_process = bench._walks_in_process(bench.ALIGNED, cases=20)
    assert 0 < in_process.amount < bench._walks_over_pipes(cases=20).amount


def test_the_explorer_is_measured_on_half_a_million_transitions():
    explorer = next(known for known in bench.benchmarks() if known.name == "explorer")

    assert explorer.bar == 250_000
    assert explorer.work().amount >= 500_000


def test_nothing_chosen_is_a_usage_error(capsys):
    assert cli.run(["bench", "--only", "horoscopes"]) == 64
