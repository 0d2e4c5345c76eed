"""Measured rates: medians, targets, and a check that the measured work is the same each time."""

import json

import pytest

from conformance import cli, machine
from conformance.bench import suite_rates as bench
from conformance.bench.benchmark import ENOUGH_SECONDS, Benchmark, MeasurementError, Run


def works(*runs):
    """A measurement whose repetitions give these results, one after the other."""
    left = iter(runs)
    return lambda: next(left)


def benchmark(*runs, target=100):
    return Benchmark("explorer", "states/s", target, "a small gate", works(*runs))


def test_the_median_is_compared_with_the_target():
    slow, usual, fast = Run(100, 2.0, 0.5), Run(100, 1.0, 0.4), Run(100, 0.5, 0.2)

    measured = benchmark(slow, usual, fast).measure(3)

    assert measured.samples == [50.0, 100.0, 200.0]
    assert measured.summary().median == 100.0
    assert measured.note == "3 runs of 100: a small gate; 250 a second of processor time"
    assert measured.summary().met
    assert not benchmark(slow, usual, fast, target=101).measure(3).summary().met
    assert benchmark(slow, target=None).measure(1).summary().met is None


def test_a_long_measurement_is_not_repeated():
    assert benchmark(Run(10, ENOUGH_SECONDS, None)).measure(5).samples == [10 / ENOUGH_SECONDS]


def test_a_measurement_fails_if_its_work_changes():
    with pytest.raises(MeasurementError, match=r"expected the same work each time, got \[99, 100\]"):
        benchmark(Run(100, 1.0, 1.0), Run(99, 1.0, 1.0)).measure(2)


def test_the_command_prints_and_stores_rates(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bench, "benchmarks", lambda: iter([benchmark(Run(100, 2.0, None))]))
    assert cli.run(["bench", "--only", "explorer", "--repeat", "1", "--build", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "MISSED" in printed
    assert f"{machine.cores()} cores" in printed
    written = json.loads((tmp_path / "report" / "bench" / "rates.json").read_text())
    assert written["figures"][0] | {"note": ""} == {
        "name": "explorer", "unit": "states/s", "samples": [50.0], "target": 100, "at_most": False,
        "note": "",
    }  # fmt: skip
    assert "cores" in written["machine"]


def test_measured_work_has_the_expected_result():
    assert bench._exploration(channels=2, ids=3).amount == 564  # as TLC counts, two channels at handler level
    in_process = bench._walks_in_process(bench.ALIGNED, cases=20)
    assert 0 < in_process.amount < bench._walks_over_pipes(cases=20).amount


def test_the_explorer_is_measured_on_half_a_million_transitions():
    explorer = next(known for known in bench.benchmarks() if known.name == "explorer")

    assert explorer.target == 250_000
    assert explorer.work().amount >= 500_000


def test_nothing_chosen_is_a_usage_error(capsys):
    assert cli.run(["bench", "--only", "nothing of this name"]) == 64
