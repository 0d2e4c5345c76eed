"""Pinned runs: what is played whatever the seed, so that nothing they show hangs on chance.

The named scenarios in every generation that has what they ask for, and the rule cases, not in one
configuration each, as an implementation of somebody else gets them, but in every one where they fire.
"""

from collections.abc import Iterator, Sequence

from conformance.adapters.protocol import Adapter, Wire
from conformance.cases.rule_cases import fires, rule_cases
from conformance.drive.lockstep import Played, replay
from conformance.drive.oracle import Oracle
from conformance.generators import generate
from conformance.vectors.make import scenario_runs


def pinned_runs(component: str) -> Iterator[tuple[Oracle, Sequence[Wire]]]:
    """Each beside what it is played with."""
    for run in scenario_runs(component):
        yield Oracle(component, run.config), run.events
    oracles = [Oracle(component, config) for config in generate.configs(component)]
    for case in rule_cases():
        if case.component == component:
            yield from ((oracle, case.events) for oracle in oracles if fires(oracle, case.rule, case.events))


def play_pinned(component: str, adapter: Adapter) -> Played:
    """All of them, up to the first divergence."""
    played = Played()
    for oracle, events in pinned_runs(component):
        played.add(replay(oracle, adapter, events))
        if played.divergence is not None or played.stopped is not None:
            break
    return played
