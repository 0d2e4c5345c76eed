"""The runs that become vectors: scenarios, transcripts, directed cases, tours of small models, walks."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from conformance.adapters.protocol import Wire
from conformance.cases.directed import directed_for, graphs_of
from conformance.cases.scripts import tours_of
from conformance.drive.lockstep import drawn
from conformance.drive.oracle import Oracle
from conformance.generators import generate
from conformance.scenarios.side_by_side import scenarios
from conformance.vectors.transcripts import Transcript
from conformance.vectors.vector import Vector, vector_of
from model.components import WireError

SMALL = 500
"""Closed models with at most this number of transitions get tours, unless all of them do (`whole`)."""
LENGTH = 30
"""Maximum number of events in a random run."""


class Run(NamedTuple):
    """A configuration and events to play, and their origin."""

    origin: str
    config: Wire
    events: Sequence[Wire]


def vectors_of(
    component: str,
    *,
    seed: int,
    walks: int,
    whole: bool = False,
    paths: bool = True,
    transcripts: Sequence[Transcript] = (),
) -> Iterator[Vector]:
    """The vectors of one component, without duplicates.

    `transcripts`: transcripts of any component; those of other components are ignored. `whole`: whether also
    large closed models get tours. `paths`: whether there are directed cases, which z3 finds.
    """
    seen: set[str] = set()
    written = [Run("transcript", one.config, one.events) for one in transcripts if one.component == component]
    for run in chain(
        scenario_runs(component), written, _runs(component, seed, walks, whole=whole, paths=paths)
    ):
        vector = vector_of(run.origin, component, run.config, run.events)
        if vector.id not in seen and vector.steps:
            seen.add(vector.id)
            yield vector


def _runs(component: str, seed: int, walks: int, *, whole: bool, paths: bool) -> Iterator[Run]:
    graphs = list(graphs_of(component))
    for directed in directed_for(component, graphs, thorough=False) if paths else ():
        for one in directed.scripts:
            yield Run("path", one.config, (*one.opening, *one.events))
    for graph in graphs:
        if whole or len(graph.transitions) <= SMALL:
            for one in tours_of(graph):
                yield Run("tour", one.config, (*one.opening, *one.events))
    yield from _random(component, seed, walks)


def scenario_runs(component: str) -> Iterator[Run]:
    """The named scenarios, in each of their generations that has the options of the scenario."""
    for scenario in scenarios():
        if scenario.component == component:
            for profile in scenario.profiles:
                config = {**scenario.config, "profile": profile}
                with suppress(WireError):  # a generation without an option of the scenario
                    Oracle(component, config)
                    yield Run("scenario", config, (*scenario.opening, *scenario.events))


def _random(component: str, seed: int, walks: int) -> Iterator[Run]:
    cases = generate.cases(component, seed)
    for _ in range(walks):
        config, rng = next(cases)
        injects = config.get("mode") != "exactly-once"  # the published walks of this mode have no injections
        oracle = Oracle(component, config)
        choose = generate.chooser(component, config, rng, injects=injects)
        events, _ = drawn(oracle, choose, LENGTH)
        yield Run("walk", config, events)
