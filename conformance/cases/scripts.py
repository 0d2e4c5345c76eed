"""Runs of closed models as cases: tours of a state graph, and scripts of any source."""

from collections.abc import Iterable, Iterator

from conformance.cases.tours import tours
from conformance.drive.bounds.values import UNMAPPED, ValueMap
from conformance.drive.lockstep import Case, given
from conformance.drive.oracle import Oracle
from model.checker.explore import Graph
from model.closed_model_runs import Script, script


def tours_of(graph: Graph) -> Iterator[Script]:
    """Runs that together take every transition of the graph."""
    edges = [(edge.source, edge.event, edge.target) for edge in graph.transitions]
    for way in tours(0, edges):
        yield script(graph.closed, way)


def scripted(scripts: Iterable[Script], origin: str, values: ValueMap = UNMAPPED) -> Iterator[Case]:
    """Each script as a case: its opening, then its events. Scripts of one configuration share an oracle."""
    oracles: dict[str, Oracle] = {}
    for one in scripts:
        config = values.config(one.component, one.config)
        oracle = oracles.get(repr(config)) or Oracle(one.component, config)
        oracles[repr(config)] = oracle
        yield given(oracle, values.events(one.component, one.config, (*one.opening, *one.events)), origin)
