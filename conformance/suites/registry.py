"""Which alphabets the suite has for a component and a configuration."""

from collections.abc import Iterator
from typing import Any

from conformance.adapters.protocol import Wire, canonical
from conformance.drive.plan import Plan
from conformance.generators import generate
from conformance.suites.alphabet import Alphabet
from conformance.suites.gate import gate_alphabets

CHANNELS = 2
"""Channels of a gate, if the user chooses none."""


def alphabets(component: str, config: Wire, *, injects: bool, thorough: bool = False) -> Iterator[Alphabet]:
    """The alphabets of one configuration, the smallest first."""
    if component == "gate":
        yield from gate_alphabets(config, injects=injects, thorough=thorough)


def configurations(component: str, plan: Plan) -> list[Wire]:
    """The configurations of the suite that have the pinned values, of gates with two channels."""
    found: dict[bytes, Wire] = {}
    for config in generate.fitting(component, plan.pinned):
        small: dict[str, Any] = dict(config)
        if "channels" in small and "channels" not in plan.chosen:
            small["channels"] = CHANNELS
        found.setdefault(canonical(small), small)
    return list(found.values())
