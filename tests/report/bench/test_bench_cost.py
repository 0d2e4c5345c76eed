"""The cost of checkpoints: its calculation, and the source without an end."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.bench.runtime import cost
from conformance.bench.runtime.endless import EndlessInput, rows_read
from conformance.bench.runtime.windows import Window
from tests.waiting import until


def test_neighbouring_windows_are_compared_two_by_two():
    """The machine is half as fast during the second pair. Rows that were not read have no cost."""
    without, taking = Window(False, 2.0, 1_000_000, 2.0), Window(True, 1.05, 500_000, 2.0)
    slower = (Window(True, 2.2, 500_000, 2.0), Window(False, 4.0, 1_000_000, 2.0))
    more, each, after, before = cost.figures_of("row API", [without, taking, *slower])
    assert more.samples == pytest.approx([5.0, 10.0])
    assert (more.target, more.at_most, more.note) == (5.0, True, "")
    assert more.summary().cells()[2:] == ("5.00 to 10.0, all 2", "at most 5.00", "MISSED")
    assert each.samples == pytest.approx([50, 200])
    assert after.samples == pytest.approx([2.1, 4.4])
    assert before.samples == pytest.approx([2.0, 4.0])


def test_checkpoints_without_a_cost_meet_the_target():
    alike = [Window(bool(number % 2), 2.0, 1_000_000, 2.0) for number in range(12)]
    assert cost.figures_of("row API", alike)[0].summary()[2:5] == (0, 0, 0)
    assert cost.figures_of("row API", alike)[0].summary().met


def test_a_pair_with_an_impossible_count_is_excluded_and_the_number_is_in_the_note():
    right = [Window(bool(number % 2), 1.02 if number % 2 else 1.0, 1_000_000, 0.5) for number in range(14)]
    wrong = [Window(False, 1.0, 1_000_000, 0.5), Window(True, 1.0, 1_600_000_000, 0.5)]
    figures = cost.figures_of("row API", right + wrong)
    assert [len(one.samples) for one in figures] == [7] * 4
    assert figures[0].samples == pytest.approx([2.0] * 7)
    assert {one.note for one in figures} == {"1 of 8 pairs excluded: a count of rows began at 0"}


def test_no_pair_is_excluded_while_every_count_is_possible():
    uneven = [Window(bool(at % 2), cpu, 1_000_000, 0.5) for at, cpu in enumerate((1.3, 1.0, 0.9, 0.2))]
    assert [len(one.samples) for one in cost.figures_of("row API", uneven)] == [2] * 4


@pytest.fixture
def folder(tmp_path):
    for number in range(3):
        pq.write_table(pa.table({"number": [2 * number, 2 * number + 1]}), tmp_path / f"{number}.parquet")
    return tmp_path


def read(source, times):
    return [one for _ in range(times) for one in source.read(1).column("number").to_pylist()]


def test_the_rows_of_an_endless_source_come_again_and_are_counted_at_once(folder):
    source = EndlessInput(folder, folder / "counts").open(0, 2)
    other = EndlessInput(folder, folder / "counts").open(1, 2)
    assert rows_read(folder / "counts") == 0
    assert read(source, 10) == [0, 1, 4, 5, 0, 1, 4, 5, 0, 1]
    assert read(other, 3) == [2, 3, 2]
    assert rows_read(folder / "counts") == 13 == source.offset + other.offset


_COUNTING = """
import sys
from pathlib import Path
from conformance.bench.runtime.endless import counter
count = counter(Path(sys.argv[1]))
while True:
    count[0] = (1 << 32) - 1
    count[0] = 1 << 32
"""


def test_a_count_is_read_completely_or_not_at_all(tmp_path):
    (tmp_path / "0").write_bytes(bytes(8))
    counting = subprocess.Popen([sys.executable, "-P", "-c", _COUNTING, str(tmp_path / "0")])
    try:
        until(lambda: rows_read(tmp_path) != 0, possible=lambda: counting.poll() is None)
        seen = {rows_read(tmp_path) for _ in range(20_000)}
    finally:
        counting.kill()
        counting.wait()
    assert seen <= {(1 << 32) - 1, 1 << 32}


@pytest.mark.rule("ONCE-01")
@pytest.mark.parametrize("before", [0, 1, 6, 9])
def test_an_endless_source_continues_at_its_snapshot(folder, before):
    source = EndlessInput(folder, folder / "counts").open(0, 1)
    read(source, before)
    snapshot = source.snapshot()
    expected = read(source, 8)
    again = EndlessInput(folder, folder / "counts").open(0, 1)
    again.restore(snapshot)
    assert again.offset == before
    assert read(again, 8) == expected
