"""A vector in the Informal Trace Format (ITF): a JSON file that tools around TLA+ can show and replay."""

from collections.abc import Mapping
from typing import Any

from conformance.adapters.protocol import Effects, Wire
from conformance.divergence import Answer, Divergence
from conformance.drive.oracle import Oracle
from conformance.vectors.vector import Vector

VARIABLES = ("event", "effects", "state")


def to_itf(vector: Vector) -> dict[str, Any]:
    """One state for each step: the event, its effects, and what is observable after it."""
    states = [_state(number, *step[:3]) for number, step in enumerate(vector.steps)]
    return _trace(f"barrierspec vector {vector.id}", vector.component, vector.config, states)


def divergence_to_itf(divergence: Divergence, adapter: str) -> dict[str, Any]:
    """The run as the implementation behind `adapter` took it; the last state tells what was expected too."""
    edges = Oracle(divergence.component, divergence.config).transcript(divergence.events)
    states = [
        _state(number, event, edge.effects, edge.after.observed)
        for number, (event, edge) in enumerate(zip(divergence.events, edges, strict=True))
    ]
    last, got = states[-1], divergence.got
    last["#meta"]["expected"] = {"effects": list(last["effects"]), "state": last["state"]}
    last["#meta"]["rules"] = list(divergence.rules)
    last["effects"] = list(got.effects) if isinstance(got, Answer) else []
    last["state"] = got.state if isinstance(got, Answer) else {}
    if not isinstance(got, Answer):
        last["#meta"]["failure"] = got.describe()
    made = _trace("barrierspec conform", divergence.component, divergence.config, states)
    made["#meta"]["adapter"] = adapter
    return made


def events_of(made: Mapping[str, Any]) -> tuple[Wire, ...]:
    """The events of a trace; KeyError or TypeError if it is none."""
    return tuple(state["event"] for state in made["states"])


def _state(number: int, event: Wire, effects: Effects, state: Wire) -> dict[str, Any]:
    return {"#meta": {"index": number}, "event": event, "effects": list(effects), "state": state}


def _trace(source: str, component: str, config: Wire, states: list[dict[str, Any]]) -> dict[str, Any]:
    meta = {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "source": source,
        "component": component,
        "config": config,
    }
    return {"#meta": meta, "vars": list(VARIABLES), "states": states}
