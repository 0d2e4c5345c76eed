"""Coordinator and composed dataflow on our engines beside TLC, each of which counts the same states."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.bench.engines.checkers import Composition, ours_composed, ours_on, tlc_on
from conformance.bench.engines.rows import ONE, PYTHON, TLC, TWO, Row, Search, alike, better, repeated
from conformance.bench.figures import Figure, Report
from conformance.bench.runtime.scale import Scale

ROUNDS = 3
"""In which TLC and our search of the larger dataflow take turns."""
COMPOSED_BAR = 10.0
"""Times as many states a second as TLC on a composed dataflow."""


def measure(folder: Path, scale: Scale) -> Report:
    """Two models in Python, and a larger dataflow at machine speed. Raises MeasurementError."""
    del folder  # each search has one of its own
    rows: list[Row] = []
    for name in scale.models:
        searches = ((TLC, partial(tlc_on, name)), (PYTHON, partial(ours_on, name)))
        rows += alike(name, (Row(name, who, repeated(one, scale.times)) for who, one in searches))
    composed = Composition(*scale.composition)
    with TemporaryDirectory(prefix="barrierspec-kernels-") as kernels:
        rows += alike(composed.name, _composed(composed, scale.times, kernels))
    setting = (
        "every reachable state of two models of spec/manifests and of a larger dataflow, no property "
        "asked; all have counted the same states. Seconds are those of the search; the start of programs, "
        "parsing and compilation are told beside them, and of a composition the answers of the Python model, "
        "with the most memory that all processes of a search held"
    )
    found = {(row.model, row.who): row for row in rows}
    figures = [*_compared(found, composed.name), *(row.figure() for row in rows)]
    return Report("composition", "The composition beside TLC", setting, figures)


def _composed(composition: Composition, times: int, kernels: str) -> Iterator[Row]:
    """TLC and the search by what moves look at in turn; the explorer would take minutes."""
    in_turn: dict[str, Search] = {
        TLC: partial(tlc_on, *composition),
        ONE: partial(ours_composed, composition, 1, kernels=kernels),
        TWO: partial(ours_composed, composition, 2, kernels=kernels),
    }
    rounds = [{who: search() for who, search in in_turn.items()} for _ in range(min(times, ROUNDS))]
    for who in in_turn:
        yield Row(composition.name, who, tuple(found[who] for found in rounds))


def _compared(found: dict[tuple[str, str], Row], model: str) -> Iterator[Figure]:
    """The search alone, and with what it asked of the model, which every search has to do anew."""
    beside = found[model, TLC]
    best = better(found[model, ONE], found[model, TWO])
    told = f"{best.who}, states a second of the search on the {model}, of {best.runs[0].states:,} states"
    alone = [ours / theirs for ours, theirs in zip(best.rates, beside.rates, strict=True)]
    yield Figure(
        f"states a second, composed dataflow beside {TLC}, search alone", "times as many", alone, told=told
    )
    pairs = zip(best.runs, beside.runs, strict=True)
    whole = [theirs.seconds / (ours.seconds + ours.asked) for ours, theirs in pairs]
    told = "the same with the seconds that the Python model took to answer"
    yield Figure(
        f"states a second, composed dataflow beside {TLC}", "times as many", whole, COMPOSED_BAR, told=told
    )
