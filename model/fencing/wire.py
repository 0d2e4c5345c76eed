"""The drivers that share a storage, in the adapter protocol."""

from typing import Any

from model.component import Component
from model.events import Step
from model.fencing import fencing
from model.fencing.fencing import Fencing, driver_of, is_next
from model.fields import Wire, WireError, Words
from model.steps import HANDLERS, step_of

WORDS = Words("fencing", HANDLERS["fencing"])
PHASES = ("idle", "drawn", "found", "running", "checked", "published")
"""The names of the phases in the adapter protocol, in order."""
_STEP = step_of("fencing")


def new_fencing(config: Wire) -> Fencing:
    """An empty storage. Raises WireError if the configuration is not valid."""
    return fencing.new_fencing(WORDS.config(config)["drivers"])


def step_fencing(state: Fencing, wire: Wire) -> Step[Fencing]:
    """The step of one event. Raises WireError if the event is not legal in this state."""
    event = WORDS.read(wire)
    driver = driver_of(event)
    if driver > len(state.phases):
        raise WireError(f"driver: expected an int from 1 to {len(state.phases)}, got {driver}")
    if not is_next(state, event):
        phase = PHASES[state.phases[driver - 1]]
        raise WireError(f"{wire['kind']!r} is not the next step of driver {driver}, which is {phase}")
    return _STEP(state, event)


def observe_fencing(state: Fencing) -> dict[str, object]:
    """The observable state: every field, with the phases in the words of the adapter protocol."""
    numbers = {name: list(value) for name, value in state._asdict().items()}
    return {**numbers, "phases": [PHASES[phase] for phase in state.phases]}


def config_of_fencing(state: Fencing) -> dict[str, Any]:
    """The configuration of a closed model's drivers."""
    return {"drivers": len(state.phases)}


COMPONENT = Component("fencing", WORDS, new_fencing, step_fencing, observe_fencing, config_of_fencing)
