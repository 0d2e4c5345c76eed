"""Our engines beside other model checkers: the gate in several sizes, coordinator, dataflow, in one run.

Everybody sees every state of the very same model; whoever counts otherwise ends the measurement. What is
repeated is over in seconds; the others are measured once. A competitor that is not installed is left out, and
the report says what to install.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from conformance.bench.checkers import (
    WORKERS,
    Composition,
    Explored,
    Gate,
    NotInstalledError,
    minicheck,
    ours,
    ours_composed,
    ours_on,
    spin,
    tlc,
    tlc_on,
)
from conformance.bench.figures import Figure, Report
from conformance.bench.rates import MeasurementError
from conformance.bench.scale import Scale

TLC_BAR, SPIN_BAR, START_BAR = 50.0, 1.0, 5.0
"""Times as many states a second as TLC and as SPIN; seconds until the compiled search begins."""
MEMORY_BAR = 24.0
"""GiB, of all processes, for the gate of `Scale.most`: 100 million states."""
COMPOSED_BAR = 10.0
"""Times as many states a second as TLC on a composed dataflow."""
LONG_SECONDS = 5.0
"""A search that took so long is not repeated."""
TLC, SPIN, COLLAPSED, MINICHECK = f"TLC, {WORKERS} workers", "SPIN", "SPIN -DCOLLAPSE", "minicheck"
PYTHON, COLUMNS, ONE, TWO = (
    "ours, python",
    "ours, columns",
    "ours, compiled, 1 core",
    "ours, compiled, 2 cores",
)
SPARK = "ours, Spark {}"
MASTERS = ("local[1]", "local[2]")

Search = Callable[[], Explored]


class Row(NamedTuple):
    """What somebody came to on one model."""

    model: str
    who: str
    runs: tuple[Explored, ...]

    @property
    def rates(self) -> list[float]:
        """Millions of states a second, by run."""
        return [one.states / max(one.seconds, 1e-3) / 1e6 for one in self.runs]

    def figure(self) -> Figure:
        """For the table."""
        last = self.runs[-1]
        told = (
            f"{last.states:,} states, {last.transitions:,} transitions, {last.seconds:.3g} s after "
            f"{last.start:.1f} s of start; {last.peak / 1e6:,.0f} MB at most, "
            f"{last.peak / last.states:,.0f} bytes a state"
        )
        if last.answers:
            told += f"; in {last.asked:.1f} s of that start {last.answers:,} answers of the model"
        return Figure(f"{self.model}: {self.who}", "M states/s", self.rates, told=told)


def measure(folder: Path, scale: Scale) -> Report:
    """Everybody on every gate that is for them. Raises MeasurementError."""
    del folder  # each search has one of its own
    rows: list[Row] = []
    missing: dict[str, None] = {}
    with TemporaryDirectory(prefix="barrierspec-kernels-") as kernels:
        for gate, chosen in _gates(scale):
            rows += _alike(gate.name, _searched(gate, chosen, scale.times, missing, kernels))
        most = _most(Gate(*scale.most), kernels)
        for name in scale.models:
            searches = ((TLC, partial(tlc_on, name)), (PYTHON, partial(ours_on, name)))
            rows += _alike(name, (Row(name, who, _repeated(one, scale.times)) for who, one in searches))
        composed = Composition(*scale.composition)
        rows += _alike(composed.name, _composed(composed, scale.times, kernels))
    setting = (
        "every reachable state of the closed gate, told of everything at once, of two models of "
        "spec/manifest.toml, and of a larger dataflow, no property asked; a state has what was said in the "
        "step before it, and all have counted the same states. Seconds are those of the search; the start of "
        "programs, parsing and compilation are told beside them, with the most memory that all processes of "
        "a search held. TLC, SPIN, minicheck and Spark expand a state again for everything that may have "
        "been said before it; our other engines know that nothing depends on it"
    )
    if missing:
        setting += ". Not measured: " + "; ".join(missing)
    figures = [*_compared(rows, scale), most, *(row.figure() for row in rows)]
    return Report("engines", "State spaces beside other checkers", setting, figures)


def _alike(model: str, found: Iterable[Row]) -> list[Row]:
    """The rows of one model, all of which have to count the same states."""
    rows = list(found)
    counts = {row.who: sorted({one.states for one in row.runs}) for row in rows}
    if len({tuple(one) for one in counts.values()}) != 1:
        raise MeasurementError(f"{model}: expected the same states of all, got {counts}")
    return rows


def _gates(scale: Scale) -> Iterator[tuple[Gate, tuple[str, ...]]]:
    """By size, then by channels."""
    spark = tuple(SPARK.format(master) for master in MASTERS)
    small, middle, large = scale.gate_ids
    yield Gate(3, small), (TLC, SPIN, COLLAPSED, MINICHECK, PYTHON, COLUMNS, ONE)
    yield Gate(3, middle), (TLC, SPIN, COLLAPSED, COLUMNS, ONE, TWO, *spark)
    yield Gate(3, large), (TLC, SPIN, COLUMNS, ONE, TWO)
    yield Gate(2, large), (TLC, SPIN, COLUMNS, ONE)
    yield Gate(4, small), (TLC, SPIN, COLUMNS, ONE, TWO)


def _most(gate: Gate, kernels: str) -> Figure:
    """The memory that one very large search takes, every property asked."""
    found = ours("unlabelled", gate, "2", kernels=kernels)
    told = (
        f"{gate.name}: {found.states:,} states, {found.transitions:,} transitions, every property asked, "
        f"on 2 cores in {found.seconds:,.0f} s after {found.start:,.0f} s of start"
    )
    peak = found.peak / 2**30
    return Figure("memory for the most states", "GiB", [peak], MEMORY_BAR, at_most=True, told=told)


def _searched(
    gate: Gate, chosen: tuple[str, ...], times: int, missing: dict[str, None], kernels: str
) -> Iterator[Row]:
    with ExitStack() as stack:
        searches: dict[str, Search] = {
            TLC: partial(tlc, gate),
            MINICHECK: partial(minicheck, gate),
            PYTHON: partial(ours, "python", gate),
            COLUMNS: partial(ours, "columns", gate),
            ONE: partial(ours, "compiled", gate, "1", kernels=kernels),
            TWO: partial(ours, "compiled", gate, "2", kernels=kernels),
            **{SPARK.format(master): partial(ours, "spark", gate, master) for master in MASTERS},
        }
        try:
            verifier = stack.enter_context(spin(gate))
            searches[SPIN] = partial(verifier.search, collapse=False)
            searches[COLLAPSED] = partial(verifier.search, collapse=True)
        except NotInstalledError as absent:
            missing[str(absent)] = None
        for who in chosen:
            if who not in searches:
                continue
            try:
                yield Row(gate.name, who, _repeated(searches[who], times))
            except NotInstalledError as absent:
                missing[str(absent)] = None


def _composed(composition: Composition, times: int, kernels: str) -> Iterator[Row]:
    """TLC, the explorer, and the search by what moves look at."""
    searches: dict[str, Search] = {
        TLC: partial(tlc_on, *composition),
        PYTHON: partial(ours_composed, "composed", composition),
        ONE: partial(ours_composed, "framed", composition, "1", kernels=kernels),
        TWO: partial(ours_composed, "framed", composition, "2", kernels=kernels),
    }
    for who, search in searches.items():
        yield Row(composition.name, who, _repeated(search, times))


def _repeated(search: Search, times: int) -> tuple[Explored, ...]:
    """So many runs; one if it takes long. The first of a compiled kernel compiles it."""
    runs = [search()]
    while len(runs) < times and runs[0].seconds < LONG_SECONDS:
        runs.append(search())
    return tuple(runs)


def _compared(rows: list[Row], scale: Scale) -> Iterator[Figure]:
    """What has a bar: the largest gate, the start of the compiled search, and what a second core brings."""
    found = {(row.model, row.who): row for row in rows}
    small, middle, large = (Gate(3, ids).name for ids in scale.gate_ids)
    best = _better(found[large, ONE], found[large, TWO])
    for other, bar in ((TLC, TLC_BAR), (SPIN, SPIN_BAR)):
        if (large, other) in found:
            told = f"{best.who}, states a second on the {large}, of {best.runs[0].states:,} states"
            ratios = [rate / found[large, other].rates[0] for rate in best.rates]
            yield Figure(f"compiled beside {other}", "times as many", ratios, bar, told=told)
    yield from _compared_composed(found, Composition(*scale.composition).name)
    starts = [run.start for run in found[large, ONE].runs]
    cold = found[small, ONE].runs[0].start
    told = f"Python, paths and kernel from the cache, on the {large}; {cold:.0f} s where it is empty"
    yield Figure(
        "start of the compiled search", "s", starts[1:] or starts, START_BAR, at_most=True, told=told
    )
    one, two = (found[middle, SPARK.format(master)] for master in MASTERS)
    ratios = [a.seconds / b.seconds for a, b in zip(one.runs, two.runs, strict=False)]
    told = f"states a second on the {middle}"
    yield Figure("Spark on local[2] beside local[1]", "times as many", ratios, 1.0, told=told)


def _compared_composed(found: dict[tuple[str, str], Row], model: str) -> Iterator[Figure]:
    """The search alone, and with what it asked of the model, of which nothing is kept for the next."""
    beside = found[model, TLC].rates[0]
    best = _better(found[model, ONE], found[model, TWO])
    told = f"{best.who}, states a second of the search on the {model}, of {best.runs[0].states:,} states"
    ratios = [rate / beside for rate in best.rates]
    yield Figure(f"composed dataflow beside {TLC}", "times as many", ratios, COMPOSED_BAR, told=told)
    whole = [run.states / (run.seconds + run.asked) / 1e6 / beside for run in best.runs]
    told = "the same with the seconds that the Python model took to answer"
    yield Figure("composed dataflow, answers and all", "times as many", whole, told=told)


def _better(*rows: Row) -> Row:
    """The row of the highest median."""
    return max(rows, key=lambda row: sorted(row.rates)[len(row.rates) // 2])
