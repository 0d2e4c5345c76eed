"""The interface of a component in the suite: each module `conformance.components.<name>` has one."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from conformance.adapters.protocol import Wire
from conformance.compare.projection import Given, Projection
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.generators.chooser import Chooser
from conformance.suites.alphabet import Alphabet
from conformance.vectors.tla.binding import Binding

if TYPE_CHECKING:
    from model.checker.prove import Case


class Component(NamedTuple):
    """The data that the suite needs for a component, in addition to its vocabulary and its model."""

    configs: Sequence[Wire]
    """The configurations of walks, in turn."""
    walk: Callable[[Wire, Random, bool], Chooser]
    """Makes a source of random events for one instance; the flag states whether a gate gets `inject`."""
    projections: Mapping[str, Callable[[Given], Projection]]
    """By module of TLA+, the projection of its closed models (the triangle)."""
    bind: Callable[[Divergence, Sequence[Edge]], Binding]
    """Makes the TLA+ binding of a divergence. Raises NotInTlaError if the module cannot express it."""
    walks: int = 300
    """The number of walks that a verification plays."""
    paths_hit: int = 0
    """The least number of z3's paths that the closed models must take; a smaller number is a finding."""
    cases: "Callable[[], Iterable[Case]]" = tuple
    """The symbolic cases whose paths are looked for in the component's closed models (`directed`)."""
    alphabets: Callable[[Wire], Iterator[Alphabet]] | None = None
    """The alphabets of its complete suites under one configuration; None for a gate, which has parameters."""
