"""Random walks: a chooser draws the next event for a state, by a seed.

A chooser gets the observable state of the model and returns the next event. So it can prefer the last barrier
of an alignment, or the last acknowledgement of a checkpoint. Most events are legal. Some violate the
protocol, to check that the implementation refuses them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from types import MappingProxyType

from conformance.adapters.in_process import INJECT
from conformance.adapters.protocol import (
    CLEANING,
    IO_FAILURES,
    RESTORED,
    RESTORED_SAVEPOINT,
    Offer,
    Wire,
    canonical,
)
from conformance.adapters.validation import complaints
from conformance.components.registry import COMPONENTS as REGISTRY
from conformance.generators.chooser import Chooser
from model.components import COMPONENTS as COMPONENT_MODELS
from model.components import WireError
from spec.vocabulary import types, vocabulary

FEW = 4
"""Maximum number of channels in the configurations of the suite."""


LEFT_OUT = (None,)
"""The value of a pinned option that no configuration may have."""


def configs(component: str) -> Sequence[Wire]:
    """The configurations of a component. Successive walks use successive ones."""
    return REGISTRY[component].configs


def offered(component: str, offer: Offer) -> dict[str, tuple[object, ...]]:
    """The options to which the implementation restricts the component, each with its permitted values.

    The suite tries every value of an option that is not in the result. An option that needs a capability has
    the value `LEFT_OUT` if the implementation does not offer the capability.
    """
    levels = tuple(level for level in ("handler", "polled") if level in offer.capabilities)
    most = offer.limits.get("channels", FEW)
    channels = tuple(range(1, most + 1)) if most < FEW else ()
    given = {"mode": offer.modes, "profile": offer.profiles, "level": levels, "channels": channels}
    known = {option: tuple(values) for option, values in given.items() if values}
    for option in (RESTORED, CLEANING, IO_FAILURES, RESTORED_SAVEPOINT):
        if option in vocabulary()[component].capabilities and option not in offer.capabilities:
            known[option] = LEFT_OUT
    return known


def newest_profile(offer: Offer) -> str:
    """The newest generation of a gate that the implementation names; if it names none, the newest of all."""
    known: list[str] = types()["gate_profile"]["enum"]
    return next(one for one in reversed(known) if one in (offer.profiles or known))


def fits(config: Wire, pinned: Mapping[str, object]) -> bool:
    """Whether the configuration has the pinned values. A tuple permits each of its values; true is not 1."""
    return all(
        any(type(config.get(key)) is type(one) and config.get(key) == one for one in _values(value))
        for key, value in pinned.items()
    )


def injects(component: str, offer: Offer) -> bool:
    """Whether no rule is left out for lack of `inject`: always, except at a gate without that capability."""
    return component != "gate" or INJECT in offer.capabilities


def chooser(component: str, config: Wire, rng: Random, *, injects: bool = False) -> Chooser:
    """A new chooser for one instance. Without `injects` it never chooses the event `inject` for a gate."""
    return REGISTRY[component].walk(config, rng, injects)


def cases(
    component: str, seed: int, pinned: Mapping[str, object] = MappingProxyType({})
) -> Iterator[tuple[Wire, Random]]:
    """Yields cases without end: a configuration and its own random generator.

    Case k of a seed is always the same. `pinned`: only configurations that have these values; if the protocol
    allows none, there are no cases.
    """
    listed = configs(component)
    if not any(fits(config, pinned) for config in listed):
        listed = fitting(component, pinned)
    number = 0
    while listed:
        for config in listed:
            if fits(config, pinned):
                yield config, Random(f"{seed}/{component}/{number}")
            number += 1


def fitting(component: str, pinned: Mapping[str, object]) -> list[Wire]:
    """The configurations that have the pinned values.

    If no configuration of the suite has them, the function changes the fewest options that give one which the
    protocol allows, and returns all such configurations. Empty: the protocol allows none.
    """
    found = [config for config in configs(component) if fits(config, pinned)]
    if found:
        return found
    adapted: dict[bytes, tuple[int, Wire]] = {}
    for config in configs(component):
        others = [key for key in pinned if not fits(config, {key: pinned[key]})]
        for values in product(*(_values(pinned[key]) for key in others)):
            made = {**config, **dict(zip(others, values, strict=True))}
            before = adapted.get(canonical(made))
            if (before is None or len(others) < before[0]) and _refusal(component, made) is None:
                adapted[canonical(made)] = (len(others), made)
    fewest = min((changed for changed, _ in adapted.values()), default=0)
    return [made for changed, made in adapted.values() if changed == fewest]


def why_not(component: str, pinned: Mapping[str, object]) -> str:
    """The reason why no configuration has the pinned values, in the words of the protocol."""
    refused: list[str] = []
    for config in configs(component):
        values = {key: _values(value)[0] for key, value in pinned.items() if not fits(config, {key: value})}
        wrong = _refusal(component, {**config, **values})
        if wrong is not None:
            refused.append(wrong)
    return min(refused, key=len, default="no configuration of the suite has these values together")


def _values(pinned: object) -> tuple[object, ...]:
    return pinned if isinstance(pinned, tuple) else (pinned,)


def is_valid(component: str, config: Wire) -> bool:
    """Whether the protocol allows the configuration."""
    return _refusal(component, config) is None


def _refusal(component: str, config: Wire) -> str | None:
    """The reason why the model, else the schema, refuses a configuration; None if both accept it."""
    try:
        COMPONENT_MODELS[component].new(config)
    except (WireError, TypeError, KeyError) as wrong:
        return str(wrong)
    return next(complaints(component, "config", config), None)


COMPONENTS = tuple(REGISTRY)
"""The components that the suite can drive, in the order of reports."""
