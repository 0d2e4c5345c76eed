"""The matrix of releases: a run records its cells, continues, and writes the page. No JVM."""

import pytest
from click.testing import CliRunner

from conformance.adapters.flink.releases import releases
from conformance.commands.implementations import flink
from conformance.parts.released import LEVELS, MODES, PAGE, SEARCHES, targets_of
from conformance.released.matrix import PUBLISHED, Bounds, Cell, MatrixError, Record, in_order, publish, read
from conformance.report import released
from spec.rules import load_rules

STEP_RULES = [rule for rule in load_rules() if rule.kind == "step"]
ALIGN_01, ALIGN_02 = STEP_RULES[:2]
BOUNDS = Bounds(50, 0, 2_000, 300)
CELL = Cell(
    "9.9.9",
    "exactly-once",
    "handler",
    "flink-1.14",
    "CONFORMS",
    "",
    60,
    2_000,
    100,
    0,
    0,
    ("ALIGN-01",),
    "abc1234",
)
SINK = CELL._replace(mode="sink", level="", profile="1.14")
OTHERS = [name for name in SEARCHES if name != "gate"]


def every_cell(version):
    """One cell for each target of a release."""
    targets = targets_of(releases()[version], MODES, LEVELS, OTHERS)
    return [
        CELL._replace(version=one.version, mode=one.mode, level=one.level, profile=one.profile)
        for one in targets
    ]


@pytest.fixture
def record(tmp_path):
    record = Record(tmp_path / "flink-matrix.jsonl", BOUNDS)
    record.begin()
    return record


def test_a_stopped_run_continues_with_its_recorded_cells(record):
    record.add(CELL)
    record.add(SINK)
    again = Record(record.file, BOUNDS)
    assert again.resume() == {CELL.place: CELL, SINK.place: SINK}


def test_the_last_cell_of_a_place_counts(record):
    record.add(CELL._replace(outcome="DIVERGES", new=1))
    record.add(CELL)
    assert list(read(record.file)[1].values()) == [CELL]


def test_cells_with_other_bounds_are_refused(record):
    record.add(CELL)
    other = Record(record.file, BOUNDS._replace(sequences=51))
    with pytest.raises(MatrixError, match="without --resume"):
        other.resume()
    assert read(record.file)[1], "and nothing is lost"


@pytest.mark.parametrize("text", ["", "{}", "no JSON", '{"sequences": 1}\n[]'])
def test_another_file_is_refused(tmp_path, text):
    file = tmp_path / "cells"
    file.write_text(text)
    with pytest.raises(MatrixError, match="expected a file that `flink matrix` has written"):
        read(file)


def test_published_cells_stand_in_the_order_of_the_releases(record, tmp_path):
    record.add(SINK._replace(version="10.0.0"))
    record.add(CELL)
    publish(record, published := tmp_path / "published")
    assert [cell.version for cell in read(published)[1].values()] == ["9.9.9", "10.0.0"]
    assert Record(published, BOUNDS).resume() == Record(record.file, BOUNDS).resume()


def test_a_missing_file_is_begun(tmp_path):
    fresh = Record(tmp_path / "fresh", BOUNDS)
    assert fresh.resume() == {}
    assert read(fresh.file) == (BOUNDS, {})


def test_a_run_with_every_cell_drives_nothing_and_prints_the_table(tmp_path):
    record = Record(tmp_path / "flink-matrix.jsonl", BOUNDS)
    record.begin()
    for cell in every_cell("2.3.0"):
        record.add(cell)
    words = ["2.3.0", "--sequences", "50", "--resume", "--build", str(tmp_path)]
    done = CliRunner().invoke(flink.matrix, words, standalone_mode=False)
    assert done.return_value == 0, done.output
    assert "CONFORMS  1 of the listed releases, 15 cells, 900 sequences" in done.output
    assert (tmp_path / "report" / "flink-matrix.txt").read_text().count("60 / 0") == 15


@pytest.mark.parametrize(
    ("outcome", "code"), [("DIVERGES", 1), ("UNDETERMINED", 2), ("absent", 0), ("skipped", 0)]
)
def test_the_verdict_is_that_of_all_cells(tmp_path, outcome, code):
    record = Record(tmp_path / "flink-matrix.jsonl", BOUNDS)
    record.begin()
    cells = every_cell("2.3.0")
    for cell in (*cells, cells[-1]._replace(version="9.9.9", outcome=outcome)):
        record.add(cell)
    words = ["2.3.0", "--sequences", "50", "--resume", "--build", str(tmp_path)]
    assert CliRunner().invoke(flink.matrix, words, standalone_mode=False).return_value == code


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ({}, True),
        ({"outcome": "DIVERGES"}, True),
        ({"outcome": "absent"}, True),
        ({"outcome": "UNDETERMINED"}, False),
        ({"outcome": "skipped"}, False),
        ({"profile": "1.19"}, False),
    ],
)
def test_a_later_run_repeats_targets_without_an_outcome_or_with_another_profile(change, holds):
    *_, subtask = targets_of(releases()["2.3.0"], MODES, LEVELS, OTHERS)
    *_, cell = every_cell("2.3.0")
    assert cell._replace(**change).holds_for(subtask) is holds


@pytest.mark.parametrize("part", ["0/7", "8/7", "3", "a/b", "1/0"])
def test_an_unknown_part_is_a_usage_error(part):
    done = CliRunner().invoke(flink.matrix, ["--part", part])
    assert done.exit_code == 2
    assert "expected K/N with 1 <= K <= N" in done.output


def test_the_places_of_a_release_differ():
    targets = list(targets_of(releases()["2.3.0"], MODES, LEVELS, OTHERS))
    assert len({one.place for one in targets}) == len(targets) == 15


def test_the_page_shows_every_cell_and_names_what_was_not_driven():
    cells = [
        CELL,
        CELL._replace(level="polled", known=2),
        CELL._replace(mode="unaligned", outcome="absent", reason="not in this release"),
        SINK._replace(outcome="skipped", reason="the sinks of this release are not driven"),
        SINK._replace(mode="store", outcome="UNDETERMINED", sequences=7),
        CELL._replace(version="10.0.0", new=3, commit="def5678"),
    ]
    page = released.page(cells, BOUNDS, [ALIGN_01, ALIGN_02])
    assert "| 9.9.9 | 60 / 0 | 60 / 0 (2 known) | absent | abc1234 |" in page
    assert "| 10.0.0 | 60 / 3 |  |  | def5678 |" in page
    assert "| 9.9.9 | - | 7 stopped | abc1234 |" in page
    assert "- the sinks of this release are not driven" in page
    assert "| ALIGN-01 | 9.9.9 to 10.0.0 |" in page
    assert "| ALIGN-02 | - |" in page


def test_the_releases_that_decide_a_rule_are_ranges_of_neighbours():
    silent = CELL._replace(rules=())
    rows = [
        CELL,
        silent._replace(version="9.9.10"),
        CELL._replace(version="10.0.0"),
        CELL._replace(version="11.0.0"),
    ]
    assert "| ALIGN-01 | 9.9.9, 10.0.0 to 11.0.0 |" in released.page(rows, BOUNDS, [ALIGN_01])


def test_the_published_page_is_that_of_the_published_cells():
    bounds, cells = read(PUBLISHED)
    page = PAGE.read_text(encoding="utf-8")
    assert page == released.page(in_order(cells.values()), bounds, STEP_RULES)


def test_each_rule_is_decided_by_a_release_or_has_a_reason():
    """A rule has a reason why no release decides it, if and only if no release does."""
    decided = {rule for cell in read(PUBLISHED)[1].values() for rule in cell.rules}
    for rule in STEP_RULES:
        assert bool(rule.undecided) is (rule.id not in decided), rule.id


def test_neighbouring_releases_are_shown_as_a_range():
    every = ["1.9.3", "1.10.3", "1.11.4", "1.12.5", "2.3.0"]

    assert released.ranges(every, {"1.9.3", "1.10.3", "1.11.4", "2.3.0"}) == "1.9.3 to 1.11.4, 2.3.0"
    assert released.ranges(every, {"1.9.3", "1.11.4"}) == "1.9.3, 1.11.4"
    assert released.ranges(every, ()) == ""
