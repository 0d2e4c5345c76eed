"""Published figures: medians, targets, and the pages made from them."""

import re
import tomllib
from xml.etree import ElementTree

import pytest

from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import Figure, Report, Summary
from conformance.bench.published import (
    BEGIN,
    COLUMNS,
    END,
    HEADLINES,
    STORED,
    load,
    pages,
    publish,
    text_of,
    with_table,
)
from conformance.bench.runtime.incremental import measure as incremental
from conformance.bench.runtime.scale import QUICK
from conformance.bench.runtime.word_counts import exact, files, newest
from conformance.machine import HOME

REPORT = Report(
    "memory",
    "Memory",
    "A slow sink",
    [
        Figure("growth", "%", [1.0], 5.0, at_most=True, note="of the worst"),
        Figure("rate", "M rows/s", [2.0, 1.0, 4.0], 3.0),
        Figure("besides", "MB", [7.0]),
    ],
    {"java 1": [(0.0, 1.0), (1.0, 2.0)]},
)
README = f"before\n{BEGIN}\nold\n{END}\nafter\n"


def test_the_median_meets_or_misses_the_target():
    summaries = [one.summary() for one in REPORT.figures]
    assert [one.met for one in summaries] == [True, False, None]
    assert Figure("x", "ms", [5.0], 5.0, at_most=True).summary().met
    assert Figure("x", "ms", [5.0], 5.0).summary().met
    assert summaries[1].cells() == (
        "rate", "2.00 M rows/s", "1.00 to 4.00, all 3", "at least 3.00", "MISSED",
    )  # fmt: skip


def test_pages_are_made_from_full_measurements_without_their_samples(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "README.md").write_text(README)
    REPORT.write(tmp_path / "build", "barrierspec bench --only memory --quick")
    with pytest.raises(MeasurementError, match="nothing was measured in full"):
        publish(tmp_path / "build", home)
    raw = REPORT.write(tmp_path / "build", "barrierspec bench --only memory")
    assert "4.0" in raw.read_text()

    made = publish(tmp_path / "build", home)

    assert [str(one.relative_to(home)) for one in made] == [
        "docs/run/performance/figures.toml",
        "README.md",
        "docs/run/performance.md",
        "docs/run/performance/memory.svg",
    ]
    readme = (home / "README.md").read_text()
    assert readme == (
        f"before\n{BEGIN}\n| {' | '.join(COLUMNS)} |\n|---|---|---|---|---|\n"
        "| rate | 2.00 M rows/s | 1.00 to 4.00, all 3 | at least 3.00 | **missed** |\n"
        f"{END}\nafter\n"
    )
    page = (home / "docs" / "run" / "performance.md").read_text()
    assert "## Memory\n\nA slow sink.\n" in page
    assert "| growth | 1.00 % | once | at most 5.00 | met | of the worst |\n" in page
    assert "| besides | 7.00 MB | once |  |  |" in page
    drawn = ElementTree.parse(home / "docs" / "run" / "performance" / "memory.svg").getroot()
    assert "java 1" not in "".join(drawn.itertext())  # one line needs no legend
    stored = tomllib.loads((home / STORED).read_text())
    assert stored["memory"]["figures"][1] == ["rate", "M rows/s", 2.0, 1.0, 4.0, 3, "", 3.0]
    assert text_of(stored) == (home / STORED).read_text()
    assert pages(stored, readme)["README.md"] == readme
    with pytest.raises(MeasurementError, match="once each, around the table"):
        with_table("no marks", [])


def test_a_figure_with_many_samples_is_published_with_the_interval_of_its_median():
    samples = [float(number) for number in range(1, 101)]
    row = Figure("x", "ms", samples, 60.0, at_most=True).summary().cells()
    assert row == ("x", "50.5 ms", "40.0 to 61.0", "at most 60.0", "met")


def test_no_published_interval_holds_an_impossible_sample():
    readme = (HOME / "README.md").read_text(encoding="utf-8")
    page = (HOME / "docs/run/performance.md").read_text(encoding="utf-8")
    assert "-99.6" not in readme + page
    assert "1 of 600 pairs excluded" in page


def test_readme_page_and_plots_show_the_stored_figures():
    stored = load()
    made = pages(stored, (HOME / "README.md").read_text(encoding="utf-8"))

    assert {name: (HOME / name).read_text(encoding="utf-8") for name in made} == made
    assert not any("+changes" in report["commit"] for report in stored.values())


def test_the_readme_shows_the_headlines_and_every_missed_target():
    stored = load()
    figures = [Summary(*row) for report in stored.values() for row in report["figures"]]
    readme = pages(stored, README)["README.md"]
    shown = set(re.findall(r"^\| ([^|]+) \|", readme, re.MULTILINE)) - {"measured"}

    assert shown == HEADLINES | {one.name for one in figures if one.met is False}


def test_raw_data_are_not_kept_in_the_repository():
    assert {file.name for file in (HOME / STORED).parent.iterdir()} == {
        "figures.toml", "incremental.svg", "memory.svg",
    }  # fmt: skip
    rows = [row for report in load().values() for row in report["figures"]]
    assert all(len(row) <= len(Summary._fields) for row in rows)
    assert (HOME / STORED).stat().st_size < 250 * len(rows)


def test_the_answer_is_known_and_an_update_committed_twice_is_detected(tmp_path):
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
    whole = next(one.samples[0] for one in report.figures if one.name == "whole state")
    assert written[0] < written[-1] < whole
    assert not (tmp_path / "incremental").exists()
