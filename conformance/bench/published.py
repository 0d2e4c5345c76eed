"""The pages that tell what was measured: the README's table, docs/performance.md and its pictures.

What they tell is stored beside them, `docs/performance/measured.json`, so that anybody can make them again
and a test can hold them against it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from conformance.bench import MEASURED
from conformance.bench.figures import FOLDER
from conformance.bench.rates import MeasurementError
from conformance.machine import HOME
from conformance.pictures.lines import Panel, svg
from conformance.report.figures import number

FOLDER_OF, PAGE, README = "docs/performance", "docs/performance.md", "README.md"
STORED = f"{FOLDER_OF}/measured.json"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
Told = Mapping[str, Any]


def publish(build: Path, home: Path = HOME) -> list[Path]:
    """Store the reports of `build` and make the pages anew; answers them. Raises MeasurementError.

    A measurement that was not repeated stays as it was stored.
    """
    stored = load(home) if (home / STORED).exists() else {}
    for file in sorted((build / "report" / FOLDER).glob("*.json")):
        told = orjson.loads(file.read_bytes())
        if "--quick" not in told["command"]:
            stored[told["name"]] = told
    if not stored:
        raise MeasurementError(f"{build}: nothing was measured in full; run `barrierspec bench` first")
    (home / FOLDER_OF).mkdir(parents=True, exist_ok=True)
    (home / STORED).write_bytes(orjson.dumps(stored, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    made = pages(stored, (home / README).read_text(encoding="utf-8"))
    for name, content in made.items():
        (home / name).write_text(content, encoding="utf-8")
    return [home / STORED, *(home / name for name in made)]


def load(home: Path = HOME) -> dict[str, Told]:
    """What is stored, by measurement."""
    stored: dict[str, Told] = orjson.loads((home / STORED).read_bytes())
    return stored


def pages(stored: Mapping[str, Told], readme: str) -> dict[str, str]:
    """By path: every page, from what is stored."""
    there = [stored[name] for name in MEASURED if name in stored]
    pictures = {f"{FOLDER_OF}/{one['name']}.svg": _picture(one) for one in there if one["series"]}
    return {README: with_table(readme, there), PAGE: _page(there), **pictures}


def with_table(readme: str, there: Sequence[Told]) -> str:
    """The README with its table in the place of the one before. Raises MeasurementError without the marks."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1:
        raise MeasurementError(f"{README}: expected {BEGIN} and {END}, once each, around the table")
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table(there)}{END}{after}"


def table(there: Sequence[Told]) -> str:
    """Every figure that has a bar."""
    rows = ["| measured | median | least to greatest | bar | |", "|---|---|---|---|---|"]
    rows += [_row(one) for told in there for one in told["figures"] if one["bar"] is not None]
    return "\n".join(rows) + "\n"


def _row(one: Told) -> str:
    span = f"{number(one['least'])} to {number(one['greatest'])}" if one["times"] > 1 else "once"
    bar = "" if one["bar"] is None else f"{'at most' if one['at_most'] else 'at least'} {number(one['bar'])}"
    met = {True: "met", False: "**missed**", None: ""}[one["met"]]
    return f"| {one['what']} | {number(one['median'])} {one['unit']} | {span} | {bar} | {met} |"


def _page(there: Sequence[Told]) -> str:
    lines = [
        "# Performance",
        "",
        "What the runtime on Spark does in a second, what its checkpoints cost, and how fast state spaces "
        "are explored: measured by "
        "`barrierspec bench`, medians beside their bars. This page, its pictures and the README's table are "
        "made of `docs/performance/measured.json` by `barrierspec bench --publish`; a test holds them "
        "against it. "
        "Figures of one machine say little of another: what is compared was run in turn, on the same files.",
    ]
    for told in there:
        lines += ["", f"## {told['title']}", "", f"{told['setting'][0].upper()}{told['setting'][1:]}.", ""]
        lines += ["| measured | median | least to greatest | bar | |", "|---|---|---|---|---|"]
        lines += map(_row, told["figures"])
        said = [f"{one['what']}: {one['told']}" for one in told["figures"] if one["told"]]
        lines += ["", *(f"- {one}" for one in said)] if said else []
        if told["series"]:
            lines += ["", f"![{told['title']}](performance/{told['name']}.svg)"]
        lines += ["", f"`{told['command']}`, commit {told['commit']}, {_where(told['machine'])}"]
    return "\n".join(lines) + "\n"


def _where(machine: Told) -> str:
    java = f"Java {machine['java']}" if machine["java"] else "no Java"
    load = "" if machine["load"] is None else f"; load at its end {machine['load']}"
    return f"{machine['cores']} cores, Python {machine['python']}, {java}, {machine['system']}{load}"


def _picture(told: Told) -> str:
    axes = {
        "memory": ("seconds", "MB resident, of each process"),
        "incremental": ("keys changed since the checkpoint before", "MB written, mean"),
    }
    across, up = axes.get(told["name"], ("", ""))
    series = {name: [(x, y) for x, y in points] for name, points in told["series"].items()}
    return svg(told["title"], Panel(across, up, series))
