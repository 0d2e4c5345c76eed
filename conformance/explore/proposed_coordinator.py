"""Explores a proposed generation with the rules of the released ones, and lists those that have to change.

`python -m conformance.explore.proposed_coordinator` explores a small closed model of the coordinator of
FLIP-600 with every property of the released coordinators, one violation after the other, then with the
properties of the proposal itself. The model was compared with no jar, because no jar has the proposal.
"""

import sys
from collections.abc import Iterator

import click

from conformance.report.divergence import phrases
from conformance.verdict import Exit
from model.checker.closed_model import ClosedModel
from model.checker.explore import Violation, explore
from model.closed_model_runs import script
from model.coordinator.environment.subject_models import closed_drift, closed_regions
from model.coordinator.events import FailJob
from model.coordinator.proposed.properties import HOPED, PROPOSED
from model.events import Event
from model.properties import Property, of_component

NAME = "proposed-FLIP-600"


def violations(closed: ClosedModel, properties: tuple[Property, ...]) -> Iterator[Violation]:
    """The shortest violation of each property. Properties that the same event breaks share one violation."""
    while True:
        found = explore(closed, properties, keep_transitions=False).violation
        if found is None:
            return
        yield found
        properties = tuple(one for one in properties if one.name not in found.properties)


def failure(closed: ClosedModel, run: tuple[Event, ...]) -> str:
    """A sentence: at which step the run fails the job, or that it does not."""
    state = closed.state
    for number, event in enumerate(run, start=1):
        step = closed.step(state, event)
        if any(isinstance(effect, FailJob) for effect in step.effects):
            return f"the job fails at step {number}"
        state = step.state
    return "the job does not fail"


@click.command()
def main() -> None:
    """Explore the proposed coordinator with the released rules, then with its own."""
    closed = closed_regions(NAME)
    released = of_component("coordinator")
    click.echo(f"{NAME}: proposed, no released jar")
    graph = explore(closed, tuple(PROPOSED.properties), keep_transitions=False)
    click.echo(f"{closed.name}: {len(graph.nodes):,} states, {graph.transition_count:,} transitions\n")
    changed = dict[str, None]()
    for found in violations(closed, released):
        changed.update(dict.fromkeys(found.rules))
        click.echo(f"has to change: {', '.join(found.rules)}")
        for number, event in enumerate(script(closed, found.run).events, start=1):
            click.echo(f"  {number:>3}  {phrases.of_event(event)}")
    kept = [one for one in dict.fromkeys(one.rule for one in released) if one not in changed]
    exercised = [rule for rule in kept if rule in graph.rules]
    click.echo(f"\nhold as before: {', '.join(exercised)}")
    click.echo(f"hold, but no step of this model names them: {len(kept) - len(exercised)} rules")
    own = dict.fromkeys(one.rule for one in PROPOSED.properties)
    broken = graph.violation.rules if graph.violation else ()
    click.echo(f"hold of the proposal: {', '.join(one for one in own if one not in broken)}")
    drift = closed_drift(NAME)
    for found in violations(drift, tuple(HOPED.properties)):
        rules = ", ".join(found.rules)
        click.echo(
            f"\nexpected of the proposal, but violated: {rules}, the limit bounds the age of a snapshot"
        )
        for number, event in enumerate(script(drift, found.run).events, start=1):
            click.echo(f"  {number:>3}  {phrases.of_event(event)}")
        for name in (NAME, "2.3"):
            click.echo(f"  {name}: {failure(closed_drift(name), found.run)}")
    sys.exit(Exit.DIVERGES if graph.violation else Exit.CONFORMS)


if __name__ == "__main__":
    main()
