"""Exploration: the Python model, exhausted in its closed models with every property asked.

Here the rules of the sink and of the composed dataflow are checked on the Python side: they speak of
runs from the start, and so are explored and not proved by induction.
"""

from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from conformance.parts.result import Context, Finding, PartResult, verdict_of
from model.engines.explore import Violation


class Explored(NamedTuple):
    """What one closed model came to."""

    name: str
    states: int
    transitions: int
    rules: frozenset[str]
    violation: Violation | None


def run(context: Context) -> PartResult:
    """Explore every small closed model, and the composition."""
    from model.closed.dataflow import SCOPES, SHORT
    from model.closed.worlds import small_worlds

    composed = 1 if context.quick else len(SCOPES if context.thorough else SHORT)
    places = [*range(-composed, 0), *range(len(small_worlds()))]  # the long ones first
    context.say("exploring the closed models with every property")
    with ProcessPoolExecutor(context.processes) as pool:
        explored = list(pool.map(exhaust, places))
    findings = tuple(_finding(one) for one in explored if one.violation is not None)
    rules = frozenset[str]().union(*(one.rules for one in explored))
    states = sum(one.states for one in explored)
    transitions = sum(one.transitions for one in explored)
    return PartResult(
        name="exploration",
        verdict=verdict_of(findings),
        bound=f"{len(places)} closed models, {states:,} states, {transitions:,} transitions, "
        f"{len(rules)} rules asked",
        numbers={"models": len(places), "states": states, "transitions": transitions, "rules": len(rules)},
        rules=tuple(sorted(rules)),
        findings=findings,
        again="barrierspec verify --only exploration" + " --thorough" * context.thorough,
    )


def exhaust(place: int) -> Explored:
    """One closed model by its number; the negative ones are scopes of the composed dataflow, from -1 down."""
    from model.closed.dataflow import SCOPES, dataflow_world
    from model.closed.worlds import small_worlds
    from model.engines.explore import explore
    from model.properties import of_component

    world = dataflow_world(SCOPES[-place - 1]) if place < 0 else small_worlds()[place]
    properties = of_component(world.component)
    graph = explore(world, properties, keep_transitions=False)
    return Explored(
        world.name,
        len(graph.nodes),
        graph.transition_count,
        frozenset(known.rule for known in properties),
        graph.violation,
    )


def _finding(one: Explored) -> Finding:
    assert one.violation is not None
    steps = "\n".join(f"  {number:>3} {event}" for number, event in enumerate(one.violation.run, start=1))
    line = f"{one.name}: {', '.join(one.violation.rules)} broken after {len(one.violation.run)} events"
    return Finding(one.violation.rules[0], line, steps)
