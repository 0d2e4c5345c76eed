"""What a fresh process does with one mutant: load it, drive it, and tell in one line what caught it.

Run as `python -m conformance.mutants.fresh ID`. A mutant of the model is explored in its closed models
with every property; one of the implementation is driven in lock-step beside the sound model.
"""

import json
import sys
from typing import Any

from conformance.mutants.catalogue import Mutant, load_catalogue
from conformance.mutants.source_edit import install

CASES = 4000
"""So many seeded cases at most for a mutant of the implementation."""


def main(identity: str) -> dict[str, Any]:
    """The rules charged at the first step that fails, and the events up to it; no rules: it survived."""
    mutant = next(known for known in load_catalogue() if known.id == identity)
    install(mutant.module, mutant.find, mutant.replace)
    return drive_model(mutant) if mutant.layer == "model" else drive_implementation(mutant)


def drive_model(mutant: Mutant) -> dict[str, Any]:
    """Explore the closed models of the component; the shortest run to a broken property."""
    from model.closed.worlds import small_worlds
    from model.engines.explore import explore
    from model.properties import of_component

    for world in small_worlds():
        if world.component == mutant.component:
            graph = explore(world, of_component(world.component), keep_transitions=False)
            if graph.violation is not None:
                events = [event._asdict() for event in graph.violation.run]  # type: ignore[attr-defined]
                return {"rules": graph.violation.rules, "events": events, "where": world.name}
    return {"rules": [], "events": [], "where": "all closed models"}


def drive_implementation(mutant: Mutant, seed: int = 20261121) -> dict[str, Any]:
    """Seeded walks in lock-step; the first divergence, shrunk until no event can be left out."""
    from conformance.adapters.bundled import bundled_adapter
    from conformance.drive.shrink import shrink
    from conformance.drive.walks import walks

    adapter = bundled_adapter()
    played, _ = walks(mutant.component, adapter, seed, CASES)
    if played.divergence is None:
        return {"rules": [], "events": [], "where": f"{played.cases} seeded cases"}
    shortest = shrink(played.divergence, adapter)
    return {
        "rules": shortest.rules,
        "events": [dict(event) for event in shortest.events],
        "where": f"lock-step, seed {seed}",
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])) + "\n")
