"""A vector in the Informal Trace Format (ITF): a JSON file that tools around TLA+ can show and replay."""

from typing import Any

from conformance.vectors.vector import Vector

VARIABLES = ("event", "effects", "state")


def to_itf(vector: Vector) -> dict[str, Any]:
    """One state for each step: the event, its effects, and what is observable after it."""
    states = [
        {
            "#meta": {"index": number},
            "event": step.event,
            "effects": list(step.effects),
            "state": step.state,
        }
        for number, step in enumerate(vector.steps)
    ]
    meta = {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "source": f"barrierspec vector {vector.id}",
        "component": vector.component,
        "config": vector.config,
    }
    return {"#meta": meta, "vars": list(VARIABLES), "states": states}
