"""What is to be done for each component of an implementation."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from conformance.adapters.protocol import Offer
from conformance.divergence import Divergence
from conformance.drive.loop import Limits
from conformance.generators import generate

WALKS_PER_EXAMPLE = 10
"""Walks are that much cheaper than examples of a Hypothesis machine."""

LIFE_PER_EXAMPLE = 20
"""Checkpoints of a long life for each example of a Hypothesis machine."""


class Plan(NamedTuple):
    """What is to be done for each component."""

    seed: int
    examples: int
    """Examples of the Hypothesis machine; there are WALKS_PER_EXAMPLE times as many walks."""
    batch: int = 1
    """Events of one request of a walk."""
    pinned: Mapping[str, object] = MappingProxyType({})
    """Options of the configuration that have to have these values; a tuple stands for any of its own."""
    may_go_on: Callable[[], bool] = lambda: True
    """Called before each case; false: the budget has ended."""
    is_known: Callable[[Divergence], bool] = lambda _: False
    """A divergence that is to be passed over; the case ends there."""
    steps: int = 0
    """The walks go on until so many steps are done, also when there were examples enough."""
    selected: frozenset[str] = frozenset()
    """Only cases that exercise one of these rules are played; empty: all."""
    injects: bool = False
    """The task of a gate is triggered itself, too: the implementation offers the event `inject`."""
    chosen: Mapping[str, object] = MappingProxyType({})
    """Those of `pinned` that the user has chosen; the others are what the implementation offers."""
    offered: Mapping[str, tuple[object, ...]] = MappingProxyType({})
    """By option, all that the implementation offers, chosen or not."""
    greatest: Mapping[str, int] = MappingProxyType({})
    """The limits that `hello` declares: the greatest id, number of channels and time that are sent."""
    checkpoints: int | None = None
    """Checkpoints of one long life of an instance; None: LIFE_PER_EXAMPLE for each example."""

    @property
    def life(self) -> int:
        """Checkpoints of one long life of an instance."""
        return self.examples * LIFE_PER_EXAMPLE if self.checkpoints is None else self.checkpoints

    extra_states: int | None = None
    """Complete suites are played for implementations of so many states more than the model; None: none."""

    @property
    def limits(self) -> Limits:
        """The limits of a loop over cases."""
        return Limits(self.batch, self.may_go_on, self.is_known)


def for_offer(plan: Plan, component: str, offer: Offer) -> Plan:
    """The plan for what an implementation offers of a component; what the user has chosen comes before it."""
    offered = generate.offered(offer)
    return plan._replace(
        pinned={**offered, **plan.pinned},
        chosen=plan.pinned,
        offered=offered,
        injects=generate.injects(component, offer),
        greatest=offer.limits,
    )
