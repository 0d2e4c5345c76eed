"""A vector in the Informal Trace Format (ITF): a JSON file that tools around TLA+ can show and replay."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from conformance.adapters.protocol import Effects, Wire
from conformance.divergence import Answer, Divergence
from conformance.drive.oracle import Oracle
from conformance.machine import source as commit
from conformance.vectors.vector import Vector
from conformance.version import own_version

VARIABLES = ("event", "effects", "state")


def to_itf(vector: Vector) -> dict[str, Any]:
    """The vector as a trace with one state for each step: event, effects, and observable state after it."""
    states = [_state(number, *step[:4]) for number, step in enumerate(vector.steps)]
    return _trace(f"barrierspec vector {vector.id}", vector.component, vector.config, states)


def divergence_to_itf(divergence: Divergence, adapter: str, seed: int | None) -> dict[str, Any]:
    """The run with the implementation's answers as a trace. The last state also has the expected answer."""
    edges = Oracle(divergence.component, divergence.config).transcript(divergence.events)
    states = [
        _state(number, event, edge.effects, edge.after.observed, edge.rules)
        for number, (event, edge) in enumerate(zip(divergence.events, edges, strict=True))
    ]
    last, got = states[-1], divergence.got
    last["#meta"]["expected"] = {"effects": list(last["effects"]), "state": last["state"]}
    last["effects"] = list(got.effects) if isinstance(got, Answer) else []
    last["state"] = got.state if isinstance(got, Answer) else {}
    if not isinstance(got, Answer):
        last["#meta"]["failure"] = got.describe()
    made = _trace("barrierspec conform", divergence.component, divergence.config, states)
    made["#meta"] |= {"adapter": adapter, "seed": seed}
    return made


def events_of(made: Mapping[str, Any]) -> tuple[Wire, ...]:
    """The events of a trace; KeyError or TypeError if it is not such a trace."""
    return tuple(state["event"] for state in made["states"])


def _state(number: int, event: Wire, effects: Effects, state: Wire, rules: tuple[str, ...]) -> dict[str, Any]:
    meta = {"index": number, "rules": list(rules)}
    return {"#meta": meta, "event": event, "effects": list(effects), "state": state}


@cache
def _commit() -> str:
    """The commit of this checkout; the version if the package is installed."""
    return commit()


def _trace(source: str, component: str, config: Wire, states: list[dict[str, Any]]) -> dict[str, Any]:
    meta = {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "source": source,
        "version": own_version(),
        "commit": _commit(),
        "rules": sorted({rule for state in states for rule in state["#meta"]["rules"]}),
        "component": component,
        "config": config,
    }
    return {"#meta": meta, "vars": list(VARIABLES), "states": states}
