"""The conformance of releases as text: a line for each, its divergences, and the matrix of all."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from conformance.divergence import Divergence
from conformance.report.divergence import description, phrases
from conformance.report.divergence.description import FoundDivergence
from conformance.report.formats.columns import table_text

if TYPE_CHECKING:
    from conformance.released.results import Conformed


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
    """The details beyond the line; empty if there are none."""
    parts: list[str] = []
    if done.stopped is not None and not done.skipped:
        parts.append(f"    stopped: {done.stopped.describe()}")
    if done.reached and done.sequences:
        parts.append(f"    reached: {phrases.of_reached(done.reached)}")
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
    "1.7 and 1.8 are not driven: no package of PyPI carries a jar of them; profile flink-1.7 stands on the "
    "rule index and on transcripts. Of each minor release the last listed patch is driven here"
)
"""What the table cannot show."""


def matrix(all_done: Sequence["Conformed"]) -> str:
    """A row for each release, a column for each mode and level: sequences driven, and what differed."""
    columns = list(dict.fromkeys((done.target.mode, done.target.level) for done in all_done))
    rows = list(dict.fromkeys(done.target.version for done in all_done))
    cells = {(done.target.version, done.target.mode, done.target.level): _cell(done) for done in all_done}
    table = Table(
        "release", *(_column(mode, level, " ") for mode, level in columns), box=None, pad_edge=False
    )
    for version in rows:
        table.add_row(version, *(cells.get((version, *column), "") for column in columns))
    return table_text(table, indent=0)


def _column(mode: str, level: str, between: str) -> str:
    """Other components than gates have no levels."""
    return between.join(filter(None, (mode, level)))


def _cell(done: "Conformed") -> str:
    if done.skipped:
        return "not in this release" if done.absent else "-"
    if done.stopped is not None:
        return f"{done.sequences:,} STOPPED"
    new = len(done.new) + len(done.gone)
    text = f"{done.sequences:,} / {new}"
    return f"{text} (+{len(done.known)} known)" if done.known else text
