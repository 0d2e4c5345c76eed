"""Random walks: an endless source of short cases, decided by their seed alone."""

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from conformance.drive.lockstep import Case, drawn, given
from conformance.drive.oracle import Oracles
from conformance.generators import generate

LENGTH = 60
"""Events of one case: long enough for several checkpoints, short enough to be read before shrinking."""


def walks(
    component: str,
    seed: int,
    *,
    pinned: Mapping[str, object] = MappingProxyType({}),
    selected: Collection[str] = (),
    injects: bool = False,
    length: int = LENGTH,
) -> Iterator[Case | None]:
    """Random cases without end; None in place of a case that is left out.

    `pinned`: only configurations that have these values. `asked`: a case is left out if it exercises none of
    these rules. Without `injects` the task of a gate is never triggered itself.
    """
    oracles = Oracles(component)
    for config, rng in generate.cases(component, seed, pinned):
        oracle = oracles.of(config)
        choose = generate.chooser(component, config, rng, injects=injects)
        if not selected:
            yield Case(oracle, choose, length, "random")
            continue
        events, fired = drawn(oracle, choose, length)
        yield given(oracle, events, "random") if fired.intersection(selected) else None
