"""Compares our engines with other model checkers on gates of several sizes.

Every checker visits every state of the same model; a different count raises MeasurementError. Short searches
are repeated, long ones are measured once. A checker that is not installed is left out, and the report states
what to install.
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

TLC_TARGET, SPIN_TARGET, START_TARGET = 50.0, 1.0, 5.0
"""Targets: times as many states a second as TLC and as SPIN; seconds until the compiled search begins."""
RATE, TIMES = "states a second", "times as many"
SPARK = "ours, Spark {}"
MASTERS = ("local[1]", "local[2]")
SETTING = (
    "Every reachable state of the closed gate, with every event possible at each step and no property "
    "checked; a state includes the effects of the step before it, and all checkers counted the same states. "
    "The notes describe the run of the median rate: the seconds of its search, of its start (programs, "
    "parsing, compilation), and the peak memory of all processes. TLC, SPIN, minicheck and Spark "
    "expand a state once for each list of effects before it; our other engines expand it "
    "once, because no step reads them"
)


def measure(folder: Path, scale: Scale) -> Report:
    """Measure each checker on the gates that it can search in time. Raises MeasurementError."""
    del folder  # each search makes a folder of its own
    rows: list[Row] = []
    missing: dict[str, None] = {}
    with TemporaryDirectory(prefix="barrierspec-kernels-") as kernels:
        for gate, chosen in _gates(scale):
            rows += alike(gate.name, _searched(gate, chosen, scale.times, missing, kernels))
    missed = ". Not measured: " + "; ".join(missing) if missing else ""
    figures = [*_compared(rows, scale), *(row.figure() for row in rows)]
    return Report("engines", "State spaces compared with other checkers", SETTING + missed, figures)


def _gates(scale: Scale) -> Iterator[tuple[Gate, tuple[str, ...]]]:
    """Yield each gate with the checkers that search it."""
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
    """Yield the figures with a target: rates on the large gate, start of a search, Spark's second core."""
    found = {(row.model, row.who): row for row in rows}
    small, middle, large = (Gate(3, ids).name for ids in scale.gate_ids)
    best = better(found[large, ONE], found[large, TWO])
    for other, target in ((TLC, TLC_TARGET), (SPIN, SPIN_TARGET)):
        if (large, other) in found:
            note = f"{best.who}, {large}, {best.runs[0].states:,} states"
            ratios = [rate / found[large, other].rates[0] for rate in best.rates]
            yield Figure(f"{RATE}, compiled search compared with {other}", TIMES, ratios, target, note=note)
    starts = [run.start for run in found[large, ONE].runs]
    starts = starts[1:] or starts
    note = f"Python, paths and cached kernel, {large}; {found[small, ONE].runs[0].start:.0f} s if not cached"
    name = "start of the compiled search from a full cache"
    yield Figure(name, "s", starts, START_TARGET, at_most=True, note=note)
    one, two = (found[middle, SPARK.format(master)] for master in MASTERS)
    ratios = [a.seconds / b.seconds for a, b in zip(one.runs, two.runs, strict=False)]
    yield Figure(f"{RATE}, search on Spark, local[2] compared with local[1]", TIMES, ratios, 1.0, note=middle)
