"""The pages that tell what was measured: the README's table, docs/performance.md and its pictures.

What they tell is stored beside them, `docs/performance/measured.json`, so that anybody can make them again
and a test can hold them against it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from conformance.bench import MEASURED
from conformance.bench.benchmark import MeasurementError
from conformance.bench.figures import FOLDER, interval
from conformance.machine import HOME
from conformance.pictures.lines import Panel, svg
from conformance.report.measured import number

FOLDER_OF, PAGE, README = "docs/performance", "docs/performance.md", "README.md"
STORED = f"{FOLDER_OF}/measured.json"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
Told = Mapping[str, Any]
HEAD = ("| measured | median | 95 % interval of the median | bar | |", "|---|---|---|---|---|")
FEWEST = 6
"""Of fewer samples no interval has a confidence of 95 %."""
PER_ROWS = "s per M rows"
IMPOSSIBLE = 0.1
"""A window that took less than so much of the median of processor time for a row has a wrong count."""


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
    there = [valid(stored[name]) for name in MEASURED if name in stored]
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
    rows = [*HEAD]
    rows += [_row(one) for told in there for one in told["figures"] if one["bar"] is not None]
    return "\n".join(rows) + "\n"


def valid(told: Told) -> Told:
    """The report without pairs of windows in which a count of rows cannot be right.

    A pair is excluded from all figures of its API where one of its windows took less than a tenth of the
    median of processor time for a row: its count began at none, not at what had been read before.
    """
    if told["name"] != "cost":
        return told
    wrong: dict[str, set[int]] = {}
    for one in told["figures"]:
        if one["unit"] == PER_ROWS:
            least = median(one["samples"]) * IMPOSSIBLE
            found = {at for at, sample in enumerate(one["samples"]) if sample < least}
            wrong.setdefault(_api(one), set()).update(found)
    return {**told, "figures": [_without(one, wrong.get(_api(one), set())) for one in told["figures"]]}


def _api(one: Told) -> str:
    return str(one["what"]).rpartition(", ")[2]


def _without(one: Told, wrong: set[int]) -> Told:
    """The figure without these samples; what it says of itself then is how many there are."""
    if not wrong:
        return one
    samples = [sample for at, sample in enumerate(one["samples"]) if at not in wrong]
    middle = median(samples)
    met = None
    if one["bar"] is not None:
        met = middle <= one["bar"] if one["at_most"] else middle >= one["bar"]
    excluded = f"{len(wrong)} of {one['times']} pairs {'is' if len(wrong) == 1 else 'are'} excluded"
    return {
        **one,
        "samples": samples,
        "times": len(samples),
        "median": middle,
        "least": min(samples),
        "greatest": max(samples),
        "met": met,
        "told": f"{excluded}: the count of rows of a window began at none",
    }


def _span(one: Told) -> str:
    """Where the median lies with a confidence of 95 %; of fewer than six samples all of them."""
    if one["times"] == 1:
        return "once"
    low, high = interval(one["samples"])
    some = f", all {one['times']}" if one["times"] < FEWEST else ""
    return f"{number(low)} to {number(high)}{some}"


def _row(one: Told) -> str:
    span = _span(one)
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
        "",
        "The interval holds the median with a confidence of 95 %, by order statistics, whatever the "
        "distribution is. Fewer than six samples have no such interval: *all 5* are the least and the "
        "greatest of five. A pair of windows is excluded, and the number of excluded pairs printed, where "
        "one of its windows took less than a tenth of the median of processor time for a row: its count of "
        "rows began at none. The stored measurements keep it.",
    ]
    for told in there:
        lines += ["", f"## {told['title']}", "", f"{told['setting'][0].upper()}{told['setting'][1:]}.", ""]
        lines += HEAD
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
