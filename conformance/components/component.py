"""The entry of a component in the suite. Each module `conformance.components.<name>` defines one."""

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
    """The configurations of walks. Successive walks use successive ones."""
    walk: Callable[[Wire, Random, bool], Chooser]
    """Makes a function that draws events for one instance. The flag: whether a gate gets `inject`."""
    projections: Mapping[str, Callable[[Given], Projection]]
    """The projections of its closed models, by module of TLA+. The triangle compares graphs by them."""
    bind: Callable[[Divergence, Sequence[Edge]], Binding]
    """Makes the TLA+ binding of a divergence. Raises NotInTlaError if the module cannot express it."""
    walks: int = 300
    """The number of walks that a verification runs."""
    paths_hit: int = 0
    """The minimum number of z3's paths that the closed models must take. A smaller number is a finding."""
    cases: "Callable[[], Iterable[Case]]" = tuple
    """The symbolic cases for whose paths `directed` searches runs of the component's closed models."""
    alphabets: Callable[[Wire], Iterator[Alphabet]] | None = None
    """Maps a configuration to the alphabets of its complete suites. None for a gate, which has parameters."""
