"""Pinned runs: what is played whatever the seed, so that nothing they show depends on chance.

The named scenarios in every generation that has what they need, and the rule cases in every configuration in
which they fire; an implementation that is not bundled gets each rule case in one configuration.
"""

from collections.abc import Iterator

from conformance.cases.rule_cases import fires, rule_cases
from conformance.drive.lockstep import Case, given
from conformance.drive.oracle import Oracle
from conformance.generators import generate
from conformance.vectors.make import scenario_runs


def seedless_runs(component: str) -> Iterator[Case]:
    """All of them, in a fixed order."""
    for run in scenario_runs(component):
        yield given(Oracle(component, run.config), run.events, "pinned")
    oracles = [Oracle(component, config) for config in generate.configs(component)]
    for case in rule_cases():
        if case.component == component:
            firing = (oracle for oracle in oracles if fires(oracle, case.rule, case.events))
            yield from (given(oracle, case.events, "pinned") for oracle in firing)
