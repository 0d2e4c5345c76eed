"""Random walks: an endless source of short cases. The seed alone decides them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from conformance.adapters.protocol import Wire
from conformance.cases.guided import CANDIDATES, Marks, Reached, footprint
from conformance.drive.bounds.values import ValueMap
from conformance.drive.lockstep import Case, drawn, given
from conformance.drive.oracle import Oracle, Oracles
from conformance.generators import generate

LENGTH = 60
"""Maximum number of events in one case: enough for several checkpoints, few enough to read a case."""


class WalkOptions(NamedTuple):
    """The conditions that a drawn case must meet."""

    pinned: Mapping[str, object] = MappingProxyType({})
    """Only configurations that have these values."""
    selected: Collection[str] = ()
    """Only cases that exercise one of these rules are kept; empty: all cases are kept."""
    injects: bool = False
    """Whether the coordinator may trigger the task of a gate directly (event `inject`)."""


ANY = WalkOptions()


def walks(
    component: str,
    seed: int,
    chosen: WalkOptions = ANY,
    *,
    length: int = LENGTH,
    maps: Sequence[ValueMap] = (),
    reached: Reached | None = None,
) -> Iterator[Case | None]:
    """Yield random cases without end; None in place of a case that is left out.

    `maps`: every second case has its values mapped by one of these. `reached`: for each case, several are
    drawn, and the one with the most new marks is yielded; ignored with selected rules. When the caller
    requests the next case, `reached` gets the events of the previous case that were played; a known
    divergence or crash may end a case early.
    """
    pinned, selected, injects = chosen
    oracles, large = Oracles(component), Oracles(component)
    configs = len(generate.fitting(component, pinned))
    for number, (config, rng) in enumerate(generate.cases(component, seed, pinned)):
        oracle = oracles.of(config)
        chooser = partial(generate.chooser, component, config, rng, injects=injects)
        is_mapped = bool(maps) and (number % configs + number // configs) % 2  # each configuration gets both
        values = Random(f"{seed}/{component}/{number}/values").choice(maps) if is_mapped else None
        if not selected and values is None and reached is None:
            yield Case(oracle, chooser(), length, "random")
            continue
        if reached is None or selected:
            events, fired = drawn(oracle, chooser(), length)
        else:
            several = [drawn(oracle, chooser(), length)[0] for _ in range(CANDIDATES)]
            events, _ = reached.choose([(one, _marks(oracle, one)) for one in several])
            fired = set()
        if selected and not fired.intersection(selected):
            yield None
            continue
        case = given(oracle, events, "random")
        if values is not None:
            far, sent = values.config(component, config), values.events(component, config, events)
            case = given(large.of(far), sent, "random", bound=values.declined)
        yield case
        if reached is not None:
            left = sum(1 for _ in iter(partial(case.choose, {}), None))
            reached.add(_marks(oracle, events[: max(0, len(events) - left - 1)] if left else events))


def _marks(oracle: Oracle, events: Sequence[Wire]) -> Marks:
    return footprint(oracle, zip(events, oracle.transcript(events), strict=True))
