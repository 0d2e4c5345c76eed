"""One search in a separate process: `python -m conformance.bench.engines.search ENGINE CHANNELS IDS [HOW]`,
`manifest NAME` for a model of spec/manifests in Python, or `memoised NAME RECORDS CORES` for a composed
dataflow of spec/manifests, in which each source has RECORDS records. It memoises moves by their read sets.

ENGINE: `python`, `columns`, `compiled` or `unlabelled` (HOW: cores), `spark` (HOW: a master) or `minicheck`.
It prints one line: the number of states (with the effects of the last step, except for `unlabelled`), the
number of transitions, and the seconds of the search alone. `memoised` prints a line before it: the number of
answers that the Python model computed, and their seconds.
"""

import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from model.checker.bounds import bounded_gate
from model.checker.closed_model import ClosedModel
from model.checker.compiled.moves import program_of
from model.checker.compiled.program import Program, all_words
from model.events import Effects, Event

Counted = tuple[int, int, float]
"""States, transitions, seconds."""


def python(channels: int, ids: int) -> Counted:
    """Run the explorer. Its states lack the last effects, so the result is counted from its transitions."""
    from model.checker.explore import explore

    begun = time.perf_counter()
    graph = explore(_closed(channels, ids))
    seen = {(known.target, known.event, known.step.effects) for known in graph.transitions}
    return len(seen) + 1, graph.transition_count, time.perf_counter() - begun


def manifest(name: str) -> Counted:
    """Run the explorer on a model of spec/manifests. It counts the same states as TLC."""
    from conformance.components.registry import projection_of
    from model.checker.explore import explore
    from spec.manifest import load_manifest

    projection = projection_of(load_manifest()[name])
    begun = time.perf_counter()
    graph = explore(projection.closed_model)
    seen = {
        (known.target, projection.words(known.event, known.step.effects)) for known in graph.transitions
    } | {(0, ())}
    return len(seen), graph.transition_count, time.perf_counter() - begun


def memoised(name: str, records: int, cores: int) -> Counted:
    """Search a composed dataflow. The seconds in which the model answers are printed separately."""
    from model.checker.memoised.search import MemoisedSearch

    found = MemoisedSearch(composed(name, records), cores=cores).explore()
    sys.stdout.write(f"answers {found.answers} seconds {found.model_seconds:.4f}\n")
    return found.states, found.transitions, found.search_seconds


def columns(channels: int, ids: int) -> Counted:
    """Run the kernel over columns, on one core."""
    from model.checker.compiled.columns import explore_columns

    program = _program(channels, ids)
    begun = time.perf_counter()
    found = explore_columns(program)
    return found.labelled, found.transitions, time.perf_counter() - begun


def compiled(channels: int, ids: int, cores: int) -> Counted:
    """Run the compiled kernel."""
    from model.checker.compiled.search import Compiled

    found = Compiled(_program(channels, ids), cores=cores).explore()
    return found.labelled, found.transitions, found.search_seconds


def unlabelled(channels: int, ids: int, cores: int) -> Counted:
    """Run the compiled kernel, checking every property. It counts states without the last effects."""
    from model.checker.compiled.search import Compiled
    from model.properties import of_component

    bounded = bounded_gate(channels, ids, polled=False)
    program = program_of(bounded.closed, bounded.bounds, of_component(bounded.closed.component))
    found = Compiled(program, cores=cores).explore()
    if found.violation is not None:
        raise AssertionError(f"{bounded.closed.name} breaks {found.violation.rules}")
    return found.states, found.transitions, found.search_seconds


def spark(channels: int, ids: int, master: str) -> Counted:
    """Run the search on Spark. Like TLC, it expands a state once for each list of effects before it."""
    from conformance.explore.spark import SparkEngine
    from impl.spark.session import spark_session

    with spark_session(master, Path("spark.log"), "bench") as session:
        found = SparkEngine(_program(channels, ids), session, Path("found")).explore()
    return found.states, found.transitions, found.seconds


def minicheck(channels: int, ids: int) -> Counted:
    """Run minicheck, another checker, on the step functions of the model."""
    checker: Any = import_module("minicheck")
    closed = _closed(channels, ids)
    steps = 0

    def transitions(node: tuple[Any, Any, tuple[Event, Effects]]) -> list[tuple[str, object]]:
        nonlocal steps
        after: list[tuple[str, object]] = []
        for action, event in closed.offers(node[0]):
            environment = closed.allows(node[1], event)
            if environment is not None:
                step = closed.step(node[0], event)
                after.append((action, (step.state, environment, (event, step.effects))))
        steps += len(after)
        return after

    start = (closed.state, closed.environment, ())
    protocol = checker.Protocol(
        name=closed.name,
        candidate=False,
        fields=("component", "environment", "last"),
        initial=start,
        transitions=transitions,
        invariants={},
    )
    begun = time.perf_counter()
    found = checker.check_safety(protocol, max_states=10**9)
    return found["reachable_states"], steps, time.perf_counter() - begun


def composed(name: str, records: int) -> ClosedModel:
    """The closed model of DataflowModel.tla with this number of records. Its steps have no effects."""
    from conformance.compare.projection import given_by
    from conformance.components.dataflow import closed_dataflow_of
    from spec.manifest import load_manifest

    configuration = given_by(load_manifest()[name])
    constants = {**configuration.numbers, "MaxRecords": records}
    return closed_dataflow_of(configuration._replace(numbers=constants))


def _closed(channels: int, ids: int) -> ClosedModel:
    return bounded_gate(channels, ids, polled=False).closed


def _program(channels: int, ids: int) -> Program:
    bounded = bounded_gate(channels, ids, polled=False)
    return program_of(bounded.closed, bounded.bounds, words=all_words)


ENGINES: dict[str, Callable[..., Counted]] = {
    "python": python,
    "manifest": manifest,
    "memoised": memoised,
    "columns": columns,
    "compiled": compiled,
    "unlabelled": unlabelled,
    "spark": spark,
    "minicheck": minicheck,
}


def main(engine: str, *how: str) -> None:
    """Search, and print the result."""
    states, transitions, seconds = ENGINES[engine](*(int(word) if word.isdigit() else word for word in how))
    sys.stdout.write(f"states {states} transitions {transitions} seconds {seconds:.4f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
