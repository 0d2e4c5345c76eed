"""Which alphabets the suite has for a component and a configuration."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.adapters.protocol import Wire, canonical
from conformance.drive.plan import Plan
from conformance.generators import generate
from conformance.suites import components
from conformance.suites.alphabet import Alphabet
from conformance.suites.gate import gate_alphabets

CHANNELS = 2
"""Channels of a gate, if the user chooses none."""


def alphabets(component: str, config: Wire, *, injects: bool, thorough: bool = False) -> Iterator[Alphabet]:
    """The alphabets of one configuration, the smallest first."""
    if component == "gate":
        yield from gate_alphabets(config, injects=injects, thorough=thorough)
    elif component in _OTHERS:
        yield from _OTHERS[component](config)


_OTHERS: Mapping[str, Callable[[Wire], Iterator[Alphabet]]] = {
    "store": components.store_alphabets,
    "sink": components.sink_alphabets,
    "source": components.source_alphabets,
    "offsets": components.offsets_alphabets,
    "subtask": components.subtask_alphabets,
    "channel": components.channel_alphabets,
}
"""Components without an entry, and the gate, have no alphabet here."""


def configurations(component: str, plan: Plan) -> list[Wire]:
    """The configurations of the suite that have the pinned values, of gates with two channels."""
    found: dict[bytes, Wire] = {}
    for config in generate.fitting(component, plan.pinned):
        small: dict[str, Any] = dict(config)
        if "channels" in small and "channels" not in plan.chosen:
            small["channels"] = CHANNELS
        found.setdefault(canonical(small), small)
    return list(found.values())
