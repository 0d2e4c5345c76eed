"""Results of several checkers on one model, as rows of a table."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from conformance.bench.benchmark import MeasurementError
from conformance.bench.engines.checkers import WORKERS, Explored
from conformance.bench.figures import Figure

LONG_SECONDS = 5.0
"""A search that takes at least this time is not repeated."""
TLC, SPIN, COLLAPSED, MINICHECK = f"TLC, {WORKERS} workers", "SPIN", "SPIN -DCOLLAPSE", "minicheck"
PYTHON, COLUMNS, ONE, TWO = (
    "ours, python",
    "ours, columns",
    "ours, compiled, 1 core",
    "ours, compiled, 2 cores",
)

Search = Callable[[], Explored]


class Row(NamedTuple):
    """The runs of one checker on one model."""

    model: str
    who: str
    runs: tuple[Explored, ...]

    @property
    def rates(self) -> list[float]:
        """The thousands of states a second of each run."""
        return [one.states / max(one.seconds, 1e-3) / 1e3 for one in self.runs]

    def figure(self) -> Figure:
        """The figure for the table. Its note describes the run of the median rate."""
        run = sorted(self.runs, key=lambda one: one.seconds)[len(self.runs) // 2]
        note = (
            f"{run.states:,} states, {run.transitions:,} transitions, {run.seconds:.3g} s after "
            f"{run.start:.1f} s of start; {run.peak / 1e6:,.0f} MB, "
            f"{run.peak / run.states:,.0f} bytes a state"
        )
        if run.answers:
            note += f"; in {run.answering:.1f} s of that start {run.answers:,} answers of the model"
        return Figure(f"{self.model}: {self.who}", "k states/s", self.rates, note=note)


def alike(model: str, found: Iterable[Row]) -> list[Row]:
    """Return the rows of one model. Raises MeasurementError unless all have counted the same states."""
    rows = list(found)
    counts = {row.who: sorted({one.states for one in row.runs}) for row in rows}
    if len({tuple(one) for one in counts.values()}) != 1:
        raise MeasurementError(f"{model}: expected the same states of all, got {counts}")
    return rows


def repeated(search: Search, times: int) -> tuple[Explored, ...]:
    """Run a search `times` times, but only once if it takes long. A kernel is compiled in its first run."""
    runs = [search()]
    while len(runs) < times and runs[0].seconds < LONG_SECONDS:
        runs.append(search())
    return tuple(runs)


def better(*rows: Row) -> Row:
    """The row with the highest median rate."""
    return max(rows, key=lambda row: sorted(row.rates)[len(row.rates) // 2])
