"""Runs one mutant in a new process, and prints the rules that detect it as one line of JSON.

Run as `python -m conformance.mutants.fresh_process ID`. For a mutant of the model, the explorer visits the
component's closed models with every property. A mutant of the implementation runs in lock-step with the
correct model.
"""

import json
import sys
from collections.abc import Mapping
from itertools import islice
from typing import Any

from conformance.mutants.catalogue import Mutant, counted, mutant_of
from conformance.mutants.source_edit import install

CASES = 4000
"""Maximum number of seeded cases for a mutant of the implementation."""


def main(identity: str) -> dict[str, Any]:
    """The rules charged at the first step that fails, and the number of events up to it.

    If there are no rules, the mutant survived.
    """
    mutant = mutant_of(identity)
    install(mutant.module, mutant.find, mutant.replace)
    return drive_model(mutant) if mutant.layer == "model" else drive_implementation(mutant)


def drive_model(mutant: Mutant) -> dict[str, Any]:
    """Explore the closed models of the component one after the other, until one breaks the mutant's rule.

    Returns the shortest run of this model that breaks the rule. If no model breaks it, returns the first run
    that breaks any rule. First the mutant's rule is checked alone, because any broken rule ends an
    exploration.
    """
    from model.checker.explore import explore
    from model.closed_model_runs import component_on_wire, script
    from model.closed_models import closed_models
    from model.components import COMPONENTS
    from model.properties import of_component

    models = [closed for closed in closed_models() if closed.component == mutant.component]
    every = of_component(mutant.component)
    own = tuple(found for found in every if found.rule == mutant.rule)
    for properties in (own, every):
        for closed in models:
            graph = explore(closed, properties, keep_transitions=False)
            if graph.violation is not None:
                found = {"rules": graph.violation.rules, "where": closed.name}
                if component_on_wire(closed.component) not in COMPONENTS:
                    events = [event._asdict() for event in graph.violation.run]  # type: ignore[attr-defined]
                    return {**found, "events": events, "size": ""}
                run = script(closed, graph.violation.run)
                wire = {"config": dict(run.config), "opening": run.opening, "events": run.events}
                return {**found, **wire, "size": size_of(run.config)}
    return {"rules": [], "events": [], "where": "all closed models", "size": ""}


def size_of(config: Mapping[str, Any]) -> str:
    """The number of channels or tasks of a configuration; empty if it has neither."""
    if "channels" in config:
        return counted(config["channels"], "channel")
    return counted(len(config["tasks"]), "task") if "tasks" in config else ""


def drive_implementation(mutant: Mutant, seed: int = 20261121) -> dict[str, Any]:
    """Play seeded walks, then seedless runs, then tours, until a divergence charges the mutant's rule.

    If no divergence does, returns the first divergence. It is shrunk until every event is necessary.
    """
    from conformance.adapters.bundled import bundled_adapter
    from conformance.cases.directed import graphs_of
    from conformance.cases.scripts import scripted, tours_of
    from conformance.cases.seedless_runs import seedless_runs
    from conformance.cases.walks import walks
    from conformance.drive.loop import drive
    from conformance.drive.shrinking.shrink import shrink

    adapter = bundled_adapter()
    toured = (one for graph in graphs_of(mutant.component) for one in tours_of(graph))
    sources = {
        f"lock-step, seed {seed}": islice(walks(mutant.component, seed), CASES),
        "seedless runs": seedless_runs(mutant.component),
        f"{CASES} seeded cases, seedless runs and every tour": scripted(toured, "tour"),
    }
    other: dict[str, Any] | None = None
    for where, cases in sources.items():
        while (found := drive(cases, adapter).divergence) is not None:
            if other is not None and mutant.rule not in found.rules:
                continue
            shortest = shrink(found, adapter)
            seen = {
                "rules": shortest.rules,
                "config": dict(shortest.config),
                "events": [dict(event) for event in shortest.events],
                "where": where,
                "size": size_of(shortest.config),
            }
            if mutant.rule in shortest.rules:
                return seen
            other = other or seen
    return other or {"rules": [], "events": [], "where": [*sources][-1], "size": ""}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])) + "\n")
