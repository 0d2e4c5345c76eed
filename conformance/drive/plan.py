"""The plan of an examination: seed, numbers of cases, fixed options and limits of each component."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from conformance.adapters.hello_names import nearest
from conformance.adapters.protocol import FIRST_ID, Hello, Offer
from conformance.divergence import Divergence
from conformance.drive.bounds.failed_check import FailedCheck
from conformance.drive.bounds.wide_gate_cases import LARGE
from conformance.drive.crashes import Crashes
from conformance.drive.loop import Limits
from conformance.errors import InputError
from conformance.generators import generate
from spec.vocabulary import types, vocabulary

WALKS_PER_EXAMPLE = 10
"""The number of walks for each example of a Hypothesis machine. One walk takes about a tenth of the time."""

LIFE_PER_EXAMPLE = 20
"""Checkpoints of a long life for each example of a Hypothesis machine."""

FEWER_FROM = 100
"""A gate of k times this number of channels, if the user chooses it, gets one k-th of the examples."""

HUGE = LARGE[0]
"""If the user chooses more channels than this, only the newest profile is played, and no `inject`, whose
effects are long."""


class Plan(NamedTuple):
    """The options of an examination, for each component."""

    seed: int
    examples: int
    """Examples of the Hypothesis machine; there are WALKS_PER_EXAMPLE times as many walks."""
    batch: int = 1
    """Events of one request of a walk."""
    pinned: Mapping[str, object] = MappingProxyType({})
    """Fixed options of the configuration, with their values; a tuple: any of its values."""
    may_go_on: Callable[[], bool] = lambda: True
    """Called before each case. False if the budget is used up."""
    is_known: Callable[[Divergence], bool] = lambda _: False
    """Whether a divergence is known. It is then ignored, and its case ends."""
    is_known_check: Callable[[FailedCheck], bool] = lambda _: False
    """Whether a failed check of `errors_and_failures` or of a long life is known; it is then ignored."""
    crashes: Crashes | None = None
    """Known crashes of the component that occurred; None without a list of known divergences."""
    steps: int = 0
    """Further walks are added until the component has had this number of steps."""
    selected: frozenset[str] = frozenset()
    """Only cases that exercise one of these rules are played; empty: all."""
    injects: bool = False
    """Whether a gate gets the event `inject`, which the implementation has to offer."""
    first_id: bool = False
    """Whether the suite sets a coordinator's first id: it is offered, and the user has not set it."""
    chosen: Mapping[str, object] = MappingProxyType({})
    """The part of `pinned` that the user has chosen; the implementation offers the rest."""
    offered: Mapping[str, tuple[object, ...]] = MappingProxyType({})
    """By option: every value that the implementation offers, whether the user has chosen it or not."""
    greatest: Mapping[str, int] = MappingProxyType({})
    """The limits that `hello` declares: the greatest id, number of channels and time that are sent."""
    checkpoints: int | None = None
    """Checkpoints of one long life of an instance; None: LIFE_PER_EXAMPLE for each example."""

    @property
    def life(self) -> int:
        """Checkpoints of one long life of an instance."""
        return self.examples * LIFE_PER_EXAMPLE if self.checkpoints is None else self.checkpoints

    extra_states: int | None = None
    """Complete suites detect implementations with up to this number of extra states; None: no suites."""

    @property
    def limits(self) -> Limits:
        """The limits of a loop over cases."""
        return Limits(self.batch, self.may_go_on, self.is_known, self.crashes)


def for_offer(plan: Plan, component: str, offer: Offer) -> Plan:
    """The plan for a component as an implementation offers it; the user's choices take precedence."""
    offered = generate.offered(component, offer)
    channels = plan.pinned.get("channels")
    many = channels // FEWER_FROM if type(channels) is int else 0
    is_huge = type(channels) is int and channels > HUGE
    injects = generate.injects(component, offer) and not is_huge
    newest = {"profile": generate.newest_profile(offer)} if is_huge else {}
    return plan._replace(
        examples=max(1, plan.examples // many) if many > 1 else plan.examples,
        pinned={**offered, **newest, **plan.pinned},
        chosen=plan.pinned,
        offered=offered,
        injects=injects,
        first_id=FIRST_ID in offer.capabilities and FIRST_ID not in plan.pinned,
        greatest=offer.limits,
    )


def with_options(plan: Plan, hello: Hello, components: Sequence[str], *, are_named: bool) -> list[str]:
    """The components that can have the options that the user has chosen with --config.

    A component that the implementation does not offer stays. Raises InputError, with the nearest known name,
    if no component can have the options, or if a component that the user has named (`are_named`) cannot.
    """
    refused = {
        name: why
        for name in components
        if plan.pinned and name in hello.components and (why := _why_not(plan, name, hello.components[name]))
    }
    left = [name for name in components if name not in refused]
    if refused and (are_named or not left):
        known = {field.name for name in refused for field in vocabulary()[name].config}
        missing = [key for key in plan.pinned if key not in known]
        raise InputError(f"--config {_no_option(missing[0], sorted(known)) if missing else _first(refused)}")
    return left


def _first(refused: Mapping[str, str]) -> str:
    """The reason for one component, if possible for one that has the option."""
    return next(
        (why for why in refused.values() if " has no option " not in why), next(iter(refused.values()))
    )


def _why_not(plan: Plan, component: str, offer: Offer) -> str | None:
    """The reason why no configuration has both the offered and the chosen values; None if one has."""
    fields = {field.name: field.type for field in vocabulary()[component].config}
    for key, value in plan.pinned.items():
        words = types()[fields[key]].get("enum", ()) if key in fields else ()
        if key not in fields:
            return f"{key}: {component} has no option of this name; it has {', '.join(fields)}"
        if words and value not in words:
            return f"{key}={value}: {component} has {', '.join(words)}{_suggestion(str(value), words)}"
    pinned = for_offer(plan, component, offer).pinned
    if generate.fitting(component, pinned):
        return None
    shown = ", ".join(f"{key}={value}" for key, value in plan.pinned.items())
    return (
        f"{shown}: no {component} of this implementation can have it: {generate.why_not(component, pinned)}"
    )


def _no_option(key: str, known: Sequence[str]) -> str:
    return (
        f"{key}: no examined component has this option{_suggestion(key, known)}; they have {', '.join(known)}"
    )


def _suggestion(word: str, known: Sequence[str]) -> str:
    close = nearest(word, known)
    return f"; did you mean {close!r}?" if close is not None else ""
