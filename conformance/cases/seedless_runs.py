"""Seedless runs are the same for every seed.

They are the named scenarios, in every generation that supports them, and the rule cases, in every
configuration in which they fire. (`conform` plays each rule case in one configuration only.)
"""

from collections.abc import Iterator

from conformance.cases.rule_cases import fires, rule_cases
from conformance.drive.lockstep import Case, given
from conformance.drive.oracle import Oracle
from conformance.generators import generate
from conformance.vectors.make import scenario_runs


def seedless_runs(component: str) -> Iterator[Case]:
    """Yields the seedless runs of a component, always in the same order."""
    for run in scenario_runs(component):
        yield given(Oracle(component, run.config), run.events, "pinned")
    oracles = [Oracle(component, config) for config in generate.configs(component)]
    for case in rule_cases():
        if case.component == component:
            firing = (oracle for oracle in oracles if fires(oracle, case.rule, case.events))
            yield from (given(oracle, case.events, "pinned") for oracle in firing)
