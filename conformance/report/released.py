"""Writes the conformance of releases as text: a line for each, its divergences, and the matrix."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader
from rich.table import Table

from conformance.divergence import Divergence
from conformance.report.divergence import description, phrases
from conformance.report.divergence.description import FoundDivergence
from conformance.report.formats.columns import table_text
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.released.matrix import Bounds, Cell
    from conformance.released.results import Conformed
    from spec.rules import Rule


Column = tuple[str, str]
"""A column of the matrix: a mode of the gate and a level, or another component without a level."""
Row = dict[Column, "Cell"]
"""The cells of a release."""


def line(done: "Conformed") -> str:
    """Verdict and bound of one release in one mode at one level."""
    target = done.target
    what = f"Flink {target.version:<7} {_column(target.mode, target.level, ', ')}"
    if done.skipped and done.stopped is not None:
        return f"  {'absent' if done.absent else 'skipped':<12} {what}: {done.stopped.describe()}"
    rate = done.events / done.seconds if done.seconds else 0
    parts = [
        f"{done.sequences:,} sequences",
        f"{done.events:,} events",
        f"{done.transitions:,} transitions toured",
        f"{len(done.rules)} rules",
        f"{rate:,.0f} events/s",
    ]
    if done.paths is not None:
        parts.append(phrases.of_paths(*done.paths))
    if done.known:
        parts.append(f"{done.known.total():,} ended at known divergences")
    return f"  {done.verdict.value:<12} {what}: {', '.join(parts)}"


def details(done: "Conformed") -> str:
    """Further lines about a result, below its line; empty if there are none."""
    parts: list[str] = []
    if done.stopped is not None and not done.skipped:
        parts.append(f"    stopped: {done.stopped.describe()}")
    if done.reached and done.sequences:
        parts.append(f"    reached: {phrases.of_reached(done.reached)}")
    parts += [f"    not offered: {what}" for what in done.not_offered]
    parts += [f"    {count:,} x {name}" for name, count in sorted(done.known.items())]
    parts += [
        f"    gone: {known.name!r} no longer diverges; take it out of the known divergences"
        for known in done.gone
    ]
    parts += [_described(divergence, done) for divergence in done.new]
    return "\n".join(parts)


def _described(divergence: Divergence, done: "Conformed") -> str:
    version = done.target.version
    found = FoundDivergence(
        divergence, f"apache-flink {version}", f"barrierspec flink serve {version}", done.events
    )
    return description.describe(found)


NOT_DRIVEN = (
    "No package of PyPI carries a jar of 1.7 and 1.8, so they are not driven; profile flink-1.7 stands on "
    "the rule index and on transcripts"
)
"""A note on the releases that the table cannot show."""


def matrix(cells: Iterable["Cell"]) -> str:
    """A row for each release, a column for each component: sequences driven / new divergences."""
    columns, rows = _grid(cells)
    table = Table("release", *(_column(*column, between=" ") for column in columns), box=None, pad_edge=False)
    for version, row in rows.items():
        table.add_row(version, *(_text(row.get(column)) for column in columns))
    return table_text(table, indent=0)


def bound(cells: Collection["Cell"], bounds: "Bounds") -> str:
    """The numbers of cases and their bounds."""
    driven = [cell for cell in cells if cell.verdict is not None]
    toured = f"tours of {bounds.tour_nodes:,} states a model, {bounds.timed_nodes} where time passes"
    counts = (
        f"{len({cell.version for cell in driven})} of the listed releases",
        f"{len(driven)} cells",
        f"{sum(cell.sequences for cell in driven):,} sequences",
        f"{sum(cell.events for cell in driven):,} events",
        f"{sum(cell.transitions for cell in driven):,} transitions toured",
    )
    return f"{', '.join(counts)}; {bounds.sequences:,} random sequences a cell, {toured}; seed {bounds.seed}"


def page(cells: Collection["Cell"], bounds: "Bounds", rules: Iterable["Rule"]) -> str:
    """The page of the published cells, in Markdown, with the releases in which each of `rules` fired."""
    columns, rows = _grid(cells)
    environment = Environment(
        loader=PackageLoader("conformance.report", "templates"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("released.md.jinja").render(
        bound=bound(cells, bounds),
        sequences=bounds.sequences,
        gates=_markdown([column for column in columns if column[1]], rows),
        others=_markdown([column for column in columns if not column[1]], rows),
        rules=[(rule.id, _decided(rule.id, rows)) for rule in rules if not rule.undecided],
        undecided=[(rule.id, rule.undecided) for rule in rules if rule.undecided],
        reasons=sorted({cell.reason for cell in cells if cell.is_skipped}),
        not_driven=NOT_DRIVEN,
    )


def _markdown(columns: Sequence[Column], rows: Mapping[str, Row]) -> str:
    head = ["release", *(_column(*column, between=", ") for column in columns), "commit"]
    lines = [head, ["---"] * len(head)]
    for version, row in rows.items():
        here = [row[column] for column in columns if column in row]
        commits = ", ".join(dict.fromkeys(cell.commit for cell in here))
        lines.append([version, *(_text(row.get(column)) for column in columns), commits])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _decided(rule: str, rows: Mapping[str, Row]) -> str:
    """The releases in whose cells a rule fired, as ranges of neighbouring rows."""
    fired = {version for version, row in rows.items() if any(rule in cell.rules for cell in row.values())}
    return ranges(rows, fired)


def ranges(every: Iterable[str], chosen: Collection[str]) -> str:
    """The chosen versions in the order of `every`; neighbours as `first to last`."""
    found = []
    for is_chosen, group in groupby(every, key=lambda version: version in chosen):
        first, *_, last = [*group] * 2
        if is_chosen:
            found.append(first if first == last else f"{first} to {last}")
    return ", ".join(found)


def _grid(cells: Iterable["Cell"]) -> tuple[list[Column], dict[str, Row]]:
    """The columns and the rows, each in the order of their first cells."""
    rows: dict[str, Row] = {}
    for cell in cells:
        rows.setdefault(cell.version, {})[cell.mode, cell.level] = cell
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    return columns, rows


def _column(mode: str, level: str, between: str) -> str:
    """The heading of a column: mode and level, or a component other than the gate, which has no level."""
    return between.join(filter(None, (mode, level)))


def _text(cell: "Cell | None") -> str:
    if cell is None:
        return ""
    if cell.verdict is None:
        return "-" if cell.is_skipped else "absent"
    if cell.verdict is Verdict.UNDETERMINED:
        return f"{cell.sequences:,} stopped"
    text = f"{cell.sequences:,} / {cell.new}"
    return f"{text} ({cell.known} known)" if cell.known else text
