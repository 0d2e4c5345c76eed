"""The memoised search of a composed closed model finds the explorer's graph, and checks its read sets."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from conformance.components.registry import projection_of
from model.checker.closed_model import ClosedModel, Portions
from model.checker.compiled.program import Node
from model.checker.explore import Graph, TooManyStatesError, explore
from model.checker.memoised.answer_trees import ContradictionError
from model.checker.memoised.bit_layout import places_of
from model.checker.memoised.moves import ReadSetError
from model.checker.memoised.node_maker import Maker
from model.checker.memoised.search import MemoisedSearch
from model.checker.memoised.state_parts import Parts
from model.coordinator.environment.whole_coordinator import closed_coordinator
from model.dataflow import environment as dataflow_environment
from model.dataflow.actions import Receive
from model.dataflow.environment import REPLACED, REPLAY, TWICE, ZOMBIES, Scope, closed_dataflow
from model.events import Event, Step
from model.properties import Property, of_component
from model.sink import two_phase_commit
from model.sink.events import Commit
from spec.manifest import load_manifest

ONE_CHECKPOINT = REPLAY._replace(checkpoints=1)
FEW_ZOMBIES = ZOMBIES._replace(in_flight=1)
ONCE = of_component("dataflow")


@cache
def explored(scope: Scope) -> Graph:
    """The explorer's graph of a dataflow, which several searches are compared with."""
    return explore(closed_dataflow(scope), ONCE, keep_transitions=False)


@pytest.mark.parametrize(
    ("scope", "cores"),
    [
        pytest.param(FEW_ZOMBIES, 1, id="zombies"),
        pytest.param(FEW_ZOMBIES, 2, id="zombies-on-two-cores"),
        pytest.param(REPLACED._replace(sources=1), 1, id="replaced"),
        pytest.param(TWICE._replace(failures=1, sources=1), 1, id="one-failure"),
        pytest.param(FEW_ZOMBIES._replace(declines=1, sources=1), 1, id="declines"),
    ],
)
def test_the_graph_is_that_of_the_explorer(scope, cores):
    graph = explored(scope)
    found = MemoisedSearch(closed_dataflow(scope), ONCE, cores=cores).explore()

    assert found.violation is None
    assert (found.states, found.transitions) == (len(graph.nodes), graph.transition_count)
    assert (found.depth, found.rules) == (graph.depth, graph.rules)
    assert found.answers < found.transitions
    assert found.confirmed > 0


def test_a_coordinator_is_divided_into_pending_checkpoints_and_tasks():
    closed_model = closed_coordinator(2, 2, max_concurrent=1, retain=1)
    properties = of_component("coordinator")
    graph = explore(closed_model, properties, keep_transitions=False)
    found = MemoisedSearch(closed_model, properties).explore()

    assert (found.states, found.transitions) == (len(graph.nodes), graph.transition_count)
    assert (found.depth, found.rules) == (graph.depth, graph.rules)
    assert found.answers < found.transitions / 2


def test_states_are_those_that_tlc_has_counted():
    model = load_manifest()["dataflow_two_failures"]
    found = MemoisedSearch(projection_of(model).closed_model).explore()

    assert (found.states, found.depth + 1) == (model.states, model.depth)


def test_packing_keeps_every_state_apart():
    closed_model = closed_dataflow(ZOMBIES)
    parts = Parts(closed_model)
    nodes = [Node(*node) for node in explore(closed_model).nodes]
    rows = [parts.numbers(node) for node in nodes]
    places = places_of(parts.counts())

    assert len({places.pack(row) for row in rows}) == len(nodes)
    assert [places.unpack(places.pack(row)) for row in rows] == rows
    maker = Maker(parts, lambda part, number: parts.values[part][number], those_present)
    assert [maker.made(row) for row in rows] == nodes


def those_present(present: tuple[Any, ...], members: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(member for there, member in zip(present, members, strict=True) if there)


def never_received_from_one(before: Any, event: Any, effects: Any, after: Any) -> bool:
    return event != Receive(1)


def never_offset_of_one(state: Any) -> bool:
    return state.tasks.counted[1][0] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        Property("PROBE", "dataflow", True, never_received_from_one),
        Property("PROBE", "dataflow", False, never_offset_of_one),
    ],
    ids=["step", "state"],
)
@pytest.mark.parametrize("cores", [1, 2])
def test_the_shortest_run_is_as_long_as_the_explorers(wrong, cores):
    closed_model = closed_dataflow(ZOMBIES)
    expected = explore(closed_model, (*ONCE, wrong), keep_transitions=False).violation
    found = MemoisedSearch(closed_model, (*ONCE, wrong), cores=cores).explore()

    assert expected is not None
    assert found.violation is not None
    assert len(found.violation.run) == len(expected.run) == found.depth
    assert found.violation.properties == expected.properties


def test_a_property_that_the_start_breaks_has_an_empty_run():
    wrong = Property("PROBE", "dataflow", False, lambda state: state.attempt > 1)
    found = MemoisedSearch(closed_dataflow(ZOMBIES), (wrong,)).explore()

    assert found.violation is not None
    assert found.violation.run == ()


@pytest.mark.rule("ONCE-01")
def test_without_blocking_a_checkpoint_is_no_consistent_cut(monkeypatch):
    monkeypatch.setattr(
        dataflow_environment, "is_readable", lambda tasks, channel: bool(tasks.inputs[channel])
    )
    only = tuple(known for known in ONCE if known.rule == "ONCE-01")
    closed_model = closed_dataflow(ONE_CHECKPOINT._replace(records=1))
    expected = explore(closed_model, only, keep_transitions=False).violation
    found = MemoisedSearch(closed_model, only).explore()

    assert expected is not None
    assert found.violation is not None
    assert (found.violation.rules, len(found.violation.run)) == (("ONCE-01",), len(expected.run))


@pytest.mark.rule("ONCE-03")
def test_a_restore_that_commits_nothing_leaves_a_gap(monkeypatch):
    honest = two_phase_commit.on_restore

    def forgetful(sink, checkpoint):
        restored = honest(sink, checkpoint)
        effects = tuple(effect for effect in restored.effects if type(effect) is not Commit)
        return Step(restored.state._replace(committed=sink.committed), effects, restored.rules)

    monkeypatch.setattr(two_phase_commit, "on_restore", forgetful)
    closed_model = closed_dataflow(ONE_CHECKPOINT._replace(records=1))
    expected = explore(closed_model, ONCE, keep_transitions=False).violation
    found = MemoisedSearch(closed_model, ONCE).explore()

    assert expected is not None
    assert found.violation is not None
    assert (found.violation.rules, len(found.violation.run)) == (expected.rules, len(expected.run))


def test_a_search_beyond_its_limit_has_no_result():
    with pytest.raises(TooManyStatesError):
        MemoisedSearch(closed_dataflow(ZOMBIES)).explore(limit=100)


# ---------------------------------------------------------------- read sets that are refused


class Pair(NamedTuple):
    left: int
    right: int


class Count(NamedTuple):
    kind: str = "count"


def counting(step: Any) -> ClosedModel:
    """Two counters up to 4; `step` computes their next values."""

    def offers(pair: Pair) -> Iterator[tuple[str, Event]]:
        if pair.left < 4:
            yield "Count", Count()

    def both(pair: Pair, event: Event) -> Step[Pair]:
        return Step(step(pair), (), ())

    return ClosedModel(
        "two counters",
        "pair",
        Pair(0, 0),
        (),
        offers,
        lambda environment, event: environment,
        both,
        portions=Portions((offers,), ()),
    )


def test_a_part_that_no_move_uses_is_not_read():
    memoised = MemoisedSearch(counting(lambda pair: pair._replace(left=pair.left + 1)))

    assert memoised.explore().states == 5
    assert memoised.memo.computed == 5 + 4  # offers at each `left`, and steps at all but the last


def test_a_move_that_tests_the_type_of_a_part_is_detected():
    with pytest.raises(ReadSetError, match="with stand-ins"):
        MemoisedSearch(
            counting(lambda pair: pair._replace(left=4 if type(pair.right) is int else 3))
        ).explore()


def test_a_move_with_memory_is_detected():
    calls: list[int] = []

    def remembering(pair: Pair) -> Pair:
        calls.append(0)
        turn = len(calls) // 2 % 2  # each step is computed twice
        return pair._replace(left=pair.left + 1, right=pair.right + 1 if turn else 0)

    with pytest.raises((ReadSetError, ContradictionError)):
        MemoisedSearch(counting(remembering)).explore()


def test_a_move_that_recognises_a_stand_in_by_its_identity_is_detected():
    """It reads the other part only if the part is one certain object, which only whole states show."""
    one = 1

    def knowing(pair: Pair) -> Pair:
        return pair._replace(left=pair.left + 1, right=0 if pair.right is one else 1)

    with pytest.raises(ReadSetError):
        MemoisedSearch(counting(knowing)).explore()


def test_movers_that_omit_a_move_are_detected():
    closed_model = counting(lambda pair: pair._replace(left=pair.left + 1))
    with pytest.raises(ReadSetError, match="movers"):
        MemoisedSearch(closed_model._replace(portions=Portions((lambda pair: iter(()),), ()))).explore()
