"""Our engines beside other model checkers: the gate in several sizes, in one run.

Everybody sees every state of the very same model; whoever counts otherwise ends the measurement. What is
repeated is over in seconds; the others are measured once. A competitor that is not installed is left out, and
the report says what to install.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.bench.engines.checkers import Gate, NotInstalledError, minicheck, ours, spin, tlc
from conformance.bench.engines.rows import (
    COLLAPSED,
    COLUMNS,
    MINICHECK,
    ONE,
    PYTHON,
    SPIN,
    TLC,
    TWO,
    Row,
    Search,
    alike,
    better,
    repeated,
)
from conformance.bench.figures import Figure, Report
from conformance.bench.runtime.scale import Scale

TLC_BAR, SPIN_BAR, START_BAR = 50.0, 1.0, 5.0
"""Times as many states a second as TLC and as SPIN; seconds until the compiled search begins."""
SPARK = "ours, Spark {}"
MASTERS = ("local[1]", "local[2]")


def measure(folder: Path, scale: Scale) -> Report:
    """Everybody on every gate that is for them. Raises MeasurementError."""
    del folder  # each search has one of its own
    rows: list[Row] = []
    missing: dict[str, None] = {}
    with TemporaryDirectory(prefix="barrierspec-kernels-") as kernels:
        for gate, chosen in _gates(scale):
            rows += alike(gate.name, _searched(gate, chosen, scale.times, missing, kernels))
    setting = (
        "every reachable state of the closed gate, told of everything at once, no property asked; a state "
        "has what was said in the step before it, and all have counted the same states. Seconds are those of "
        "the search; the start of programs, parsing and compilation are told beside them, with the most "
        "memory that all processes of a search held. TLC, SPIN, minicheck and Spark expand a state again for "
        "everything that may have been said before it; our other engines know that nothing depends on it"
    )
    if missing:
        setting += ". Not measured: " + "; ".join(missing)
    figures = [*_compared(rows, scale), *(row.figure() for row in rows)]
    return Report("engines", "State spaces beside other checkers", setting, figures)


def _gates(scale: Scale) -> Iterator[tuple[Gate, tuple[str, ...]]]:
    """By size, then by channels."""
    spark = tuple(SPARK.format(master) for master in MASTERS)
    small, middle, large = scale.gate_ids
    yield Gate(3, small), (TLC, SPIN, COLLAPSED, MINICHECK, PYTHON, COLUMNS, ONE)
    yield Gate(3, middle), (TLC, SPIN, COLLAPSED, COLUMNS, ONE, TWO, *spark)
    yield Gate(3, large), (TLC, SPIN, COLUMNS, ONE, TWO)
    yield Gate(2, large), (TLC, SPIN, COLUMNS, ONE)
    yield Gate(4, small), (TLC, SPIN, COLUMNS, ONE, TWO)


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
                yield Row(gate.name, who, repeated(searches[who], times))
            except NotInstalledError as absent:
                missing[str(absent)] = None


def _compared(rows: list[Row], scale: Scale) -> Iterator[Figure]:
    """What has a bar: the largest gate, the start of the compiled search, and what a second core brings."""
    found = {(row.model, row.who): row for row in rows}
    small, middle, large = (Gate(3, ids).name for ids in scale.gate_ids)
    best = better(found[large, ONE], found[large, TWO])
    for other, bar in ((TLC, TLC_BAR), (SPIN, SPIN_BAR)):
        if (large, other) in found:
            told = f"{best.who}, states a second on the {large}, of {best.runs[0].states:,} states"
            ratios = [rate / found[large, other].rates[0] for rate in best.rates]
            yield Figure(
                f"states a second, compiled search beside {other}", "times as many", ratios, bar, told=told
            )
    starts = [run.start for run in found[large, ONE].runs]
    cold = found[small, ONE].runs[0].start
    told = f"Python, paths and kernel from the cache, on the {large}; {cold:.0f} s where it is empty"
    yield Figure(
        "start of the compiled search from a full cache",
        "s",
        starts[1:] or starts,
        START_BAR,
        at_most=True,
        told=told,
    )
    one, two = (found[middle, SPARK.format(master)] for master in MASTERS)
    ratios = [a.seconds / b.seconds for a, b in zip(one.runs, two.runs, strict=False)]
    told = f"states a second on the {middle}"
    yield Figure(
        "states a second, search on Spark, local[2] beside local[1]", "times as many", ratios, 1.0, told=told
    )
