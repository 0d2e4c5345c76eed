"""Exploration: every state of the closed models in Python, with every property checked.

The explorer visits the small models. Kernels, which step many states at once, visit gates with many more ids
(`conformance.explore.large_gates`).
The numbers of states and transitions are pinned, like those of TLC.

The rules of the sink and of the composed dataflow are about whole runs, which no induction proves. So this
part checks them.
"""

import gc
import tomllib
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from conformance.parts.result import Context, Finding, PartResult, verdict_of
from model.checker.explore import Violation

if TYPE_CHECKING:
    from model.any_dataflow.job import Channel
    from model.checker.closed_model import ClosedModel
    from model.properties import Property


class Explored(NamedTuple):
    """The result for one closed model."""

    name: str
    states: int
    transitions: int
    rules: frozenset[str]
    violation: Violation | None
    disagreement: str = ""
    """The difference between kernel and explorer on a model with few ids; empty: none."""


def run(context: Context) -> PartResult:
    """Explore every small closed model, the composition, and the larger gates."""
    from conformance.explore.dataflows import DATAFLOWS
    from conformance.explore.large_gates import large_gate_models
    from model.closed_models import closed_models
    from model.dataflow.environment import SCOPES, SHORT

    composed = 1 if context.quick else len(SCOPES if context.thorough else SHORT)
    places = [*range(-composed, 0), *range(len(closed_models()))]  # the largest models first
    context.progress("exploring the closed models with every property")
    kernels = range(len(large_gate_models()))
    dataflows = DATAFLOWS[:1] if context.quick else DATAFLOWS
    with ProcessPoolExecutor(context.processes, initializer=gc.disable) as pool:  # records hold no cycles
        larger = pool.map(exhaust_larger, kernels)
        explored = [*pool.map(exhaust, places), *pool.map(exhaust_dataflow, dataflows), *larger]
    findings = tuple(finding for one in explored for finding in _findings(one))
    rules = frozenset[str]().union(*(one.rules for one in explored))
    states = sum(one.states for one in explored)
    transitions = sum(one.transitions for one in explored)
    return PartResult(
        name="exploration",
        verdict=verdict_of(findings),
        bound=f"{len(explored)} closed models, {len(kernels)} of them by kernels, {states:,} states, "
        f"{transitions:,} transitions, {len(rules)} rules checked",
        numbers={
            "models": len(explored),
            "kernels": len(kernels),
            "states": states,
            "transitions": transitions,
            "rules": len(rules),
        },
        rules=tuple(sorted(rules)),
        findings=findings,
    )


def exhaust(place: int) -> Explored:
    """Explore the closed model with this number. Negative numbers are scopes of the composed dataflow."""
    from model.closed_models import closed_models
    from model.dataflow.environment import SCOPES, closed_dataflow
    from model.properties import of_component

    closed = closed_dataflow(SCOPES[-place - 1]) if place < 0 else closed_models()[place]
    return _exhausted(closed, of_component(closed.component))


def exhaust_dataflow(channels: "tuple[Channel, ...]") -> Explored:
    """Barrier snapshots on one dataflow."""
    from conformance.explore.dataflows import closed_with_properties
    from model.any_dataflow.bounds import JobBounds

    return _exhausted(*closed_with_properties(channels, JobBounds()))


def _exhausted(closed: "ClosedModel", properties: "tuple[Property, ...]") -> Explored:
    from model.checker.explore import explore

    graph = explore(closed, properties, keep_transitions=False)
    return Explored(
        closed.name,
        len(graph.nodes),
        graph.transition_count,
        frozenset(known.rule for known in properties),
        graph.violation,
    )


def exhaust_larger(place: int) -> Explored:
    """Explore the larger model with this number."""
    from conformance.explore.large_gates import large_gate_models, searched
    from model.properties import of_component

    one = large_gate_models()[place]
    closed = one.large.closed
    properties = of_component(closed.component)
    found = searched(one, properties)
    return Explored(
        closed.name,
        found.states,
        found.transitions,
        frozenset(known.rule for known in properties),
        found.violation,
        found.disagreement,
    )


def _findings(one: Explored) -> Iterator[Finding]:
    if one.disagreement:
        yield Finding(None, f"{one.name}: {one.disagreement}")
    if one.violation is None:
        yield from other_counts(one)
        return
    steps = "\n".join(f"  {number:>3} {event}" for number, event in enumerate(one.violation.run, start=1))
    line = f"{one.name}: {', '.join(one.violation.rules)} broken after {len(one.violation.run)} events"
    yield Finding(one.violation.rules[0], line, steps)


@cache
def pinned() -> Mapping[str, Mapping[str, int]]:
    """The pinned numbers of states and transitions of each closed model, from counts.toml."""
    return tomllib.loads(files("conformance.explore").joinpath("counts.toml").read_text("utf-8"))


def other_counts(one: Explored) -> Iterator[Finding]:
    """A finding if the counts differ from the pinned ones: the protocol has changed, no rule is broken."""
    known, found = pinned().get(one.name), {"states": one.states, "transitions": one.transitions}
    if found != known:
        line = f'"{one.name}" = {{ states = {one.states}, transitions = {one.transitions} }}'
        expected = (
            "no line"
            if known is None
            else f"{known['states']:,} states, {known['transitions']:,} transitions"
        )
        yield Finding(
            None,
            f"{one.name}: expected {expected}, got {one.states:,} states, {one.transitions:,} transitions",
            f"if that is meant, write into conformance/explore/counts.toml:\n{line}",
        )
