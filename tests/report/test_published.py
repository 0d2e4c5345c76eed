"""What was measured of the runtime: figures, their bars, and the pages made of them."""

import json
from xml.etree import ElementTree

import pytest

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure, Report
from conformance.bench.published import BEGIN, END, load, pages, publish, valid, with_table
from conformance.bench.published import table as table_of
from conformance.bench.runtime.incremental import measure as incremental
from conformance.bench.runtime.scale import QUICK
from conformance.bench.runtime.word_counts import exact, files, newest
from conformance.machine import HOME
from conformance.report.measured import figures

REPORT = Report(
    "memory",
    "Memory",
    "a slow sink",
    [
        Figure("growth", "%", [1.0], 5.0, at_most=True, told="of the worst"),
        Figure("rate", "M rows/s", [2.0, 1.0, 4.0], 3.0),
        Figure("besides", "MB", [7.0]),
    ],
    {"java 1": [(0.0, 1.0), (1.0, 2.0)]},
)
README = f"before\n{BEGIN}\nold\n{END}\nafter\n"


def test_the_median_is_on_one_side_of_the_bar():
    assert [one.met for one in REPORT.figures] == [True, False, None]
    assert Figure("x", "ms", [5.0], 5.0, at_most=True).met
    assert Figure("x", "ms", [5.0], 5.0).met
    lines = [line.split() for line in figures(REPORT).splitlines()]
    assert ["rate", "2.00", "M", "rows/s", "1.00", "to", "4.00", "at", "least", "3.00", "MISSED"] in lines


def test_pages_are_made_of_what_was_measured_in_full(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "README.md").write_text(README)
    REPORT.write(tmp_path / "build", "barrierspec bench --only memory --quick")
    with pytest.raises(MeasurementError, match="nothing was measured in full"):
        publish(tmp_path / "build", home)
    REPORT.write(tmp_path / "build", "barrierspec bench --only memory")

    made = publish(tmp_path / "build", home)

    assert [str(one.relative_to(home)) for one in made] == [
        "docs/performance/measured.json",
        "README.md",
        "docs/performance.md",
        "docs/performance/memory.svg",
    ]
    readme = (home / "README.md").read_text()
    assert readme.startswith(f"before\n{BEGIN}\n| measured |")
    assert readme.endswith(f"{END}\nafter\n")
    assert "| growth | 1.00 % | once | at most 5.00 | met |\n" in readme
    assert "| rate | 2.00 M rows/s | 1.00 to 4.00, all 3 | at least 3.00 | **missed** |\n" in readme
    assert "besides" not in readme
    page = (home / "docs" / "performance.md").read_text()
    assert "## Memory\n\nA slow sink.\n" in page
    assert "| besides | 7.00 MB | once |  |  |" in page
    drawn = ElementTree.parse(home / "docs" / "performance" / "memory.svg").getroot()
    assert len(drawn.findall("{http://www.w3.org/2000/svg}polyline")) == 1
    stored = json.loads((home / "docs" / "performance" / "measured.json").read_text())
    assert stored["memory"]["machine"]["cores"] >= 1
    assert pages(stored, readme)["README.md"] == readme
    with pytest.raises(MeasurementError, match="once each, around the table"):
        with_table("no marks", [])


def cost_of(with_checkpoints, without):
    """A stored report of pairs of windows, as `bench` writes it."""
    pairs = list(zip(with_checkpoints, without, strict=True))
    more = [(one / other - 1) * 100 for one, other in pairs]
    report = Report(
        "cost",
        "Cost",
        "pairs of windows",
        [
            Figure("processor time that checkpoints add, row API", "% more", more, 5.0, at_most=True),
            Figure("processor time with checkpoints, row API", "s per M rows", with_checkpoints),
            Figure("processor time without checkpoints, row API", "s per M rows", without),
            Figure("processor time with checkpoints, other API", "s per M rows", without),
        ],
    )
    return {"name": "cost", "figures": [one.as_json() for one in report.figures]}


def test_a_pair_with_an_impossible_count_is_excluded_and_the_number_is_printed():
    told = valid(cost_of([1.02] * 7 + [0.0006], [1.0] * 8))
    more, taking, none, other = told["figures"]
    assert [one["times"] for one in told["figures"]] == [7, 7, 7, 8]
    assert more["samples"] == [2.0] * 7
    assert "1 of 8 pairs is excluded" in more["told"]
    assert taking["told"] == none["told"] == more["told"]
    assert other["told"] == ""
    assert more["met"]


def test_nothing_is_excluded_where_every_count_is_possible():
    stored = cost_of([1.3, 0.9, 1.0], [1.0, 1.1, 0.2])
    assert valid(stored) == stored


def test_what_is_repeated_often_is_published_with_the_interval_of_its_median():
    samples = [float(number) for number in range(1, 101)]
    row = table_of([{"figures": [Figure("x", "ms", samples, 60.0, at_most=True).as_json()]}])
    assert "| x | 50.5 ms | 40.0 to 61.0 | at most 60.0 | met |" in row


def test_no_published_interval_holds_an_impossible_sample():
    readme = (HOME / "README.md").read_text(encoding="utf-8")
    page = (HOME / "docs/performance.md").read_text(encoding="utf-8")
    assert "-99.6" not in readme + page
    assert "1 of 600 pairs is excluded" in page


def test_the_pages_tell_what_is_stored():
    stored = load()
    made = pages(stored, (HOME / "README.md").read_text(encoding="utf-8"))

    assert {name: (HOME / name).read_text(encoding="utf-8") for name in made} == made
    assert all("--quick" not in told["command"] for told in stored.values())
    assert not any("+changes" in told["commit"] for told in stored.values())


def test_the_answer_is_known_and_an_update_told_twice_is_seen(tmp_path):
    import pyarrow as pa
    import pyarrow.dataset as ds

    source = files(tmp_path, rows=1_000, keys=7)
    answer = exact(source)
    assert len(answer) == 7
    assert sum(count for count, _ in answer.values()) == 1_000
    assert sum(total for _, total in answer.values()) == sum(
        ds.dataset(source).to_table()["value"].to_pylist()
    )
    updates = {"word": ["a", "b", "a"], "count": [1, 4, 3], "total": [5, 6, 9]}
    assert newest(pa.table(updates)) == {"a": (3, 9), "b": (4, 6)}
    with pytest.raises(ValueError, match="1 updates were committed twice"):
        newest(pa.table({**updates, "count": [3, 4, 3]}))


def test_an_incremental_checkpoint_writes_more_when_more_has_changed(tmp_path):
    report = incremental(tmp_path, QUICK._replace(state_keys=20_000))
    written = [size for _, size in report.series["written"]]
    whole = next(one.value for one in report.figures if one.what == "whole state")
    assert written[0] < written[-1] < whole
    assert not (tmp_path / "incremental").exists()
