"""The alphabets of the suite, by component and configuration."""

from collections.abc import Iterator
from typing import Any

from conformance.adapters.protocol import Wire, canonical
from conformance.components.registry import COMPONENTS
from conformance.drive.bounds.tested_scope import by_number
from conformance.drive.plan import Plan
from conformance.generators import generate
from conformance.suites.alphabet import Alphabet
from conformance.suites.coordinator import LEFT_OUT, SHAPES
from conformance.suites.gate import gate_alphabets

CHANNELS = 2
"""Number of channels of a gate, if the user does not choose one."""


def alphabets(component: str, config: Wire, *, injects: bool, thorough: bool = False) -> Iterator[Alphabet]:
    """The alphabets of one configuration, smallest first."""
    if component == "gate":
        yield from gate_alphabets(config, injects=injects, thorough=thorough)
    elif (alphabets_of := COMPONENTS[component].alphabets) is not None:
        yield from alphabets_of(config)


def left_out(component: str) -> str:
    """As text: the configurations without an alphabet that `configurations` leaves out. Empty if none."""
    return LEFT_OUT if component == "coordinator" else ""


def configurations(component: str, plan: Plan) -> list[Wire]:
    """The configurations of the suite that have the values chosen by the user. Gates have two channels.

    A coordinator instead has small configurations of the newest and of the oldest profile.
    """
    fitting = generate.fitting(component, plan.pinned)
    if component == "coordinator" and fitting:
        return _of_coordinator(fitting, plan)
    found: dict[bytes, Wire] = {}
    for config in fitting:
        small: dict[str, Any] = dict(config)
        if "channels" in small and "channels" not in plan.chosen:
            small["channels"] = min(CHANNELS, plan.greatest.get("channels", CHANNELS))
        found.setdefault(canonical(small), small)
    return list(found.values())


def _of_coordinator(fitting: list[Wire], plan: Plan) -> list[Wire]:
    profiles = sorted({str(config["profile"]) for config in fitting}, key=by_number)
    made = (
        {**shape, "profile": profile, **plan.chosen}
        for profile in dict.fromkeys((profiles[-1], profiles[0]))
        for shape in SHAPES.values()
    )
    found = {canonical(config): config for config in made if generate.is_valid("coordinator", config)}
    return list(found.values())
