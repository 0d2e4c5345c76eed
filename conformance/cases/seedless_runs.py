"""Seedless runs: cases that are the same for every seed.

They are the named scenarios, in every generation that supports them; the short runs; the runs of switches;
and the rule cases, in every configuration in which they fire. (`conform` plays each rule case in one
configuration only.)
"""

from collections.abc import Iterable, Iterator

from conformance.adapters.protocol import Wire
from conformance.cases.rule_cases import SHORT_RUNS, SWITCH_RUNS, fires, rule_cases
from conformance.drive.lockstep import Case, given
from conformance.drive.oracle import Oracle
from conformance.generators import generate
from conformance.vectors.make import scenario_runs
from spec.vocabulary import Kind, exists, vocabulary


def seedless_runs(component: str) -> Iterator[Case]:
    """Yields the seedless runs of a component, always in the same order."""
    for run in scenario_runs(component):
        yield given(Oracle(component, run.config), run.events, "seedless")
    oracles = [Oracle(component, config) for config in generate.configs(component)]
    for file in (SHORT_RUNS, SWITCH_RUNS):
        yield from _runs_of(file, component, oracles, "seedless")
    for case in rule_cases():
        if case.component == component:
            firing = (oracle for oracle in oracles if fires(oracle, case.rule, case.events))
            yield from (given(oracle, case.events, "seedless") for oracle in firing)


def short_runs_in(component: str, configs: Iterable[Wire]) -> Iterator[Case]:
    """The runs of SHORT_RUNS, each in every configuration that has at least the tasks of the run.

    An event gets no field that the configuration does not have, such as the options of a barrier.
    """
    return _runs_of(SHORT_RUNS, component, (Oracle(component, config) for config in configs), "rule")


def _runs_of(file: str, component: str, oracles: Iterable[Oracle], origin: str) -> Iterator[Case]:
    runs = [run for run in rule_cases(file) if run.component == component]
    kinds = {kind.kind: kind for kind in vocabulary()[component].events}
    for oracle in oracles:
        tasks = {task["id"] for task in oracle.config.get("tasks", ())}
        for run in runs:
            named = {event["task"] for event in run.events if "task" in event}
            if named == tasks if file == SWITCH_RUNS else named <= tasks:
                events = (_within(oracle, kinds[event["kind"]], event) for event in run.events)
                yield given(oracle, events, origin)


def _within(oracle: Oracle, kind: Kind, event: Wire) -> Wire:
    """The event without the fields that do not exist under the configuration."""
    absent = {one.name for one in kind.fields if not exists(oracle.component, one.where, oracle.config)}
    return {name: value for name, value in event.items() if name not in absent}
