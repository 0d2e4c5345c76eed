"""Publishes the figures: the README's table, docs/run/performance.md and its plots.

They are made from `figures.toml`, which has the median and its interval for each figure. The raw data stay in
the build folder.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from conformance.bench import MEASURED
from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import FOLDER, Figure, Summary
from conformance.machine import HOME
from conformance.report.plots import lines

PLOTS, PAGE, README = "docs/run/performance", "docs/run/performance.md", "README.md"
STORED = f"{PLOTS}/figures.toml"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
COLUMNS = ("measured", "median", "95 % interval of the median", "target", "met")
AXES = {
    "memory": ("seconds", "MB resident, of each process"),
    "incremental": ("keys changed since the checkpoint before", "MB written, mean"),
}
HEADLINES = frozenset(
    {
        "throughput, row API, memory, compared with Structured Streaming",
        "throughput, Arrow batch API, memory, compared with Structured Streaming",
        "throughput, Arrow batch API, rocksdb, compared with Flink SQL with mini-batch, rocksdb",
        "throughput, row API, memory, compared with Flink DataStream in Java, memory",
        "processor time that checkpoints add, row API",
        "unaligned checkpoint under backpressure",
        "aligned checkpoint under backpressure (control)",
        "recovery, from SIGKILL to the first new record",
        "states a second, compiled search compared with TLC, 2 workers",
    }
)
"""The figures that the README's table shows, in addition to each figure that misses its target."""
MOST_POINTS = 20
"""Maximum number of points in each line of a plot."""
INTRODUCTION = f"""\
# Performance

This page has the throughput of the runtime on Spark, the cost of its checkpoints, and the speed of searches of state spaces. `barrierspec bench` measures, and writes every sample below `build/{FOLDER}`. `barrierspec bench --publish` makes this page, its plots and the README's table from the medians in `{STORED}`; a test compares them. The figures of one machine do not hold for another one. Runs that are compared took turns on the same machine with the same records. The command below each table repeats the measurement on your machine.

The interval holds the median with a confidence of 95 %, by order statistics, whatever the distribution is. Fewer than six samples have no such interval: *all 5* gives the least and the greatest of five. We exclude samples that we know to be wrong, and the note of the figure states how many and why. *Times as fast* and *times as many* are ratios of two rates. Where two programs took turns, each turn gives one ratio, and the figure is the median of these ratios; it is therefore not the quotient of the two medians. Otherwise each rate of the first program is divided by the first rate of the second.
"""  # noqa: E501 - paragraphs of the page

Stored = Mapping[str, Mapping[str, Any]]
"""By measurement: title, setting, commit, machine, figures and the points of its plot."""


def publish(build: Path, home: Path = HOME) -> list[Path]:
    """Store the figures of the full measurements in `build`, and write the pages. Returns the files.

    Stored figures of other measurements stay. Raises MeasurementError if there are no figures.
    """
    stored = dict(load(home)) if (home / STORED).exists() else {}
    for name in MEASURED:
        file = build / FOLDER / f"{name}.json"
        report = orjson.loads(file.read_bytes()) if file.exists() else {"command": "--quick"}
        if "--quick" not in report["command"]:
            stored[name] = _summarised(report)
    if not stored:
        raise MeasurementError(f"{build}: nothing was measured in full; run `barrierspec bench` first")
    made = {STORED: text_of(stored), **pages(stored, (home / README).read_text(encoding="utf-8"))}
    for path, content in made.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(content, encoding="utf-8")
    return [home / path for path in made]


def load(home: Path = HOME) -> Stored:
    """Read the stored measurements."""
    return tomllib.loads((home / STORED).read_text(encoding="utf-8"))


def text_of(stored: Stored) -> str:
    """The stored figures as TOML, one figure on each line."""
    made = [
        "# Written by `barrierspec bench --publish`. A figure is a row:",
        f"# {', '.join(Summary._fields)}",
    ]
    for name, report in stored.items():
        made += ["", f"[{name}]"]
        for key, value in report.items():
            if key == "series":
                made += [f"series.{_toml(line)} = {_toml(points)}" for line, points in value.items()]
            elif key == "figures":
                made += ["figures = [", *(f"{_toml(row)}," for row in value), "]"]
            else:
                made.append(f"{key} = {_toml(value)}")
    return "\n".join(made) + "\n"


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _summarised(report: Mapping[str, Any]) -> dict[str, Any]:
    rows = []
    for summary in (Figure(**one).summary() for one in report["figures"]):
        least = 6 + bool(summary.note) if summary.target is None else 8 + summary.at_most
        rows.append(summary[:least])
    thin = {
        name: [[round(x), round(y, 2)] for x, y in points[:: max(1, len(points) // MOST_POINTS)]]
        for name, points in report["series"].items()
    }
    kept = {key: report[key] for key in ("title", "setting", "commit", "machine")}
    return {**kept, "figures": rows, **({"series": thin} if thin else {})}


def pages(stored: Stored, readme: str) -> dict[str, str]:
    """By path: the text of each page and plot. Raises MeasurementError if README lacks its marks."""
    known = [stored[name] for name in MEASURED if name in stored]
    plots = {
        f"{PLOTS}/{name}.svg": lines(stored[name]["title"], *axes, stored[name]["series"])
        for name, axes in AXES.items()
        if name in stored
    }
    shown = [one for report in known for one in _figures(report) if one.name in HEADLINES or one.met is False]
    return {README: with_table(readme, shown), PAGE: _page(stored), **plots}


def with_table(readme: str, figures: Iterable[Summary]) -> str:
    """README with the table of these figures between its marks. Raises MeasurementError without marks."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1:
        raise MeasurementError(f"{README}: expected {BEGIN} and {END}, once each, around the table")
    before, rest = readme.split(BEGIN)
    table = "\n".join(_table(COLUMNS, (one.cells() for one in figures)))
    return f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}"


def _figures(report: Mapping[str, Any]) -> list[Summary]:
    return [Summary(*one) for one in report["figures"]]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table. A missed target is bold."""
    cells = (("**missed**" if cell == "MISSED" else cell for cell in row) for row in rows)
    head = f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"
    return [*head, *(f"| {' | '.join(row)} |" for row in cells)]


def _page(stored: Stored) -> str:
    made = [INTRODUCTION]
    for name in (name for name in MEASURED if name in stored):
        report = stored[name]
        figures = _figures(report)
        made += [f"## {report['title']}", "", f"{report['setting']}.", ""]
        made += _table((*COLUMNS, "note"), ((*one.cells(), one.note) for one in figures))
        made += ["", f"![{report['title']}](performance/{name}.svg)"] if name in AXES else []
        made += ["", f"`barrierspec bench --only {name}`, commit {report['commit']}, {report['machine']}", ""]
    return "\n".join(made)
