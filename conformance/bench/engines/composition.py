"""Compares our engines with TLC on the coordinator and on composed dataflows. All count the same states."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.bench.engines.checkers import Composition, ours_composed, ours_on, tlc_on
from conformance.bench.engines.engines import RATE, TIMES
from conformance.bench.engines.rows import ONE, PYTHON, TLC, TWO, Row, Search, alike, better, repeated
from conformance.bench.figures import Figure, Report
from conformance.bench.runtime.scale import Scale

ROUNDS = 3
"""Maximum number of rounds in which TLC and our search explore the larger dataflow in turn."""
SETTING = (
    "Every reachable state of two models of spec/manifests and of a larger dataflow, with no property "
    "checked; all checkers counted the same states. The notes describe the run of the median rate: the "
    "seconds of its search, of its start (programs, parsing, compilation, and for a composition the "
    "answers of the Python model), and the peak memory of all processes"
)
COMPOSED_TARGET = 10.0
"""Target: this many times as many states a second as TLC on a composed dataflow."""


def measure(folder: Path, scale: Scale) -> Report:
    """Measure two models in Python, and a larger dataflow with compiled kernels. Raises MeasurementError."""
    del folder  # each search makes a folder of its own
    rows: list[Row] = []
    for name in scale.models:
        searches = ((TLC, partial(tlc_on, name)), (PYTHON, partial(ours_on, name)))
        rows += alike(name, (Row(name, who, repeated(one, scale.times)) for who, one in searches))
    composed = Composition(*scale.composition)
    with TemporaryDirectory(prefix="barrierspec-kernels-") as kernels:
        rows += alike(composed.name, _composed(composed, scale.times, kernels))
    found = {(row.model, row.who): row for row in rows}
    figures = [*_compared(found, composed.name), *(row.figure() for row in rows)]
    return Report("composition", "The composition compared with TLC", SETTING, figures)


def _composed(composition: Composition, times: int, kernels: str) -> Iterator[Row]:
    """Run TLC and the search by read sets in turn. The explorer is left out: it takes minutes."""
    in_turn: dict[str, Search] = {
        TLC: partial(tlc_on, *composition),
        ONE: partial(ours_composed, composition, 1, kernels=kernels),
        TWO: partial(ours_composed, composition, 2, kernels=kernels),
    }
    rounds = [{who: search() for who, search in in_turn.items()} for _ in range(min(times, ROUNDS))]
    for who in in_turn:
        yield Row(composition.name, who, tuple(found[who] for found in rounds))


def _compared(found: dict[tuple[str, str], Row], model: str) -> Iterator[Figure]:
    """Compare our search with TLC, without and with the time in which the Python model answers."""
    beside = found[model, TLC]
    best = better(found[model, ONE], found[model, TWO])
    note = f"{best.who}, {model}, {best.runs[0].states:,} states"
    alone = [ours / theirs for ours, theirs in zip(best.rates, beside.rates, strict=True)]
    name = f"{RATE}, composed dataflow compared with {TLC}"
    yield Figure(f"{name}, search alone", TIMES, alone, note=note)
    pairs = zip(best.runs, beside.runs, strict=True)
    whole = [theirs.seconds / (ours.seconds + ours.answering) for ours, theirs in pairs]
    yield Figure(
        name, TIMES, whole, COMPOSED_TARGET, note="with the seconds in which the Python model answered"
    )
