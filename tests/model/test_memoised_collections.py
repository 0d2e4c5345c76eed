"""The memoised search with collections that grow and shrink: read elements, and refused moves."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from test_memoised import Pair, counting

from model.checker.closed_model import ClosedModel, Portions
from model.checker.compiled.program import Node
from model.checker.explore import explore
from model.checker.memoised.moves import ReadSetError
from model.checker.memoised.read_sets import Members, Reading, StandIn, settled
from model.checker.memoised.search import MemoisedSearch
from model.checker.memoised.state_parts import IndivisibleError
from model.events import Event, Step


class Lines(NamedTuple):
    both: tuple[tuple[int, ...], tuple[int, ...]]
    """Those that wait, and those that are served."""


class Arrive(NamedTuple):
    who: int
    kind: str = "arrive"


class Serve(NamedTuple):
    kind: str = "serve"


class Swap(NamedTuple):
    kind: str = "swap"


def arrives(lines: Lines) -> Iterator[tuple[str, Event]]:
    if len(lines.both[0]) < 3:
        yield from (("Arrive", Arrive(who)) for who in (1, 2))


def serves(lines: Lines) -> Iterator[tuple[str, Event]]:
    if lines.both[0]:
        yield "Serve", Serve()


def swaps(lines: Lines) -> Iterator[tuple[str, Event]]:
    yield "Swap", Swap()


def attended(lines: Lines, event: Any) -> Step[Lines]:
    """The first element of the queue moves to the single server."""
    waiting, served = lines.both
    if type(event) is Arrive:
        return Step(Lines(((*waiting, event.who), served)), (), ())
    if type(event) is Serve:
        return Step(Lines((waiting[1:], (waiting[0],))), (), ())
    return Step(Lines((served, waiting)), (), ())


def closed_lines(*movers: Any) -> ClosedModel:
    def offers(lines: Lines) -> Iterator[tuple[str, Event]]:
        for mover in movers:
            yield from mover(lines)

    return ClosedModel(
        "lines",
        "lines",
        Lines(((), ())),
        (),
        offers,
        lambda environment, event: environment,
        attended,
        portions=Portions(movers, ("both",), {"both.*": None}),
    )


def test_a_move_that_takes_the_head_of_a_queue_reads_no_other_element():
    closed_model = closed_lines(arrives, serves)
    graph = explore(closed_model, keep_transitions=False)
    memoised = MemoisedSearch(closed_model)
    found = memoised.explore()

    assert (found.states, found.transitions) == (len(graph.nodes), graph.transition_count)
    serving = memoised.memo.answers
    tree = memoised.memo._trees[Serve()]
    heads = {
        serving.find(tree, memoised.memo.parts.numbers(Node(*node))) for node in graph.nodes if node[0][0]
    }
    assert len(heads) == 2  # one for each possible head, with any elements after it


@pytest.mark.parametrize("scouted", [0, 20_000])
def test_a_queue_may_replace_another_one(monkeypatch, scouted):
    monkeypatch.setattr("model.checker.memoised.search.SCOUTED", scouted)
    closed_model = closed_lines(arrives, serves, swaps)
    graph = explore(closed_model, keep_transitions=False)
    found = MemoisedSearch(closed_model).explore()

    assert (found.states, found.transitions) == (len(graph.nodes), graph.transition_count)


class Boxes(NamedTuple):
    boxes: tuple[tuple[int, ...], ...]


def boxed(state: Boxes, event: Any) -> Step[Boxes]:
    """Closes a full box, and begins another one."""
    *closed, last = state.boxes
    filled = (*last, event.who)
    return Step(Boxes((*closed, filled, ()) if len(filled) == 2 else (*closed, filled)), (), ())


def test_collections_may_hold_collections_that_grow(monkeypatch):
    monkeypatch.setattr("model.checker.memoised.search.SCOUTED", 0)

    def offers(state: Boxes) -> Iterator[tuple[str, Event]]:
        if len(state.boxes) < 3:
            yield from (("Arrive", Arrive(who)) for who in (1, 2))

    closed_model = ClosedModel(
        "boxes",
        "boxes",
        Boxes(((),)),
        (),
        offers,
        lambda environment, event: environment,
        boxed,
        portions=Portions((offers,), (), {"boxes": (), "boxes.*": None}),
    )
    graph = explore(closed_model, keep_transitions=False)
    found = MemoisedSearch(closed_model).explore()

    assert (found.states, found.transitions) == (len(graph.nodes), graph.transition_count)


def test_none_is_refused_in_every_field():
    for start in (Pair(0, None), Lines(((None,), ()))):  # type: ignore[arg-type]
        closed_model = counting(lambda pair: pair) if type(start) is Pair else closed_lines(serves)
        with pytest.raises(IndivisibleError):
            MemoisedSearch(closed_model._replace(state=start)).explore()


def test_parts_are_made_for_any_number_of_elements(monkeypatch):
    monkeypatch.setattr("model.checker.memoised.state_parts.INITIAL_MEMBERS", 1)
    monkeypatch.setattr("model.checker.memoised.search.INITIAL_MEMBERS", 1)
    closed_model = closed_lines(arrives, serves, swaps)
    memoised = MemoisedSearch(closed_model)

    assert memoised.explore().states == len(explore(closed_model).nodes)
    assert memoised.capacity == {"state.both.0": 4, "state.both.1": 4}


def test_a_move_that_tests_the_type_of_a_collection_is_detected():
    def wrong(lines: Lines, event: Any) -> Step[Lines]:
        if type(event) is Serve and type(lines.both[1]) is tuple:
            return Step(Lines(((), ())), (), ())
        return attended(lines, event)

    with pytest.raises(ReadSetError, match="with stand-ins"):
        MemoisedSearch(closed_lines(arrives, serves)._replace(step=wrong)).explore()


def test_a_collection_is_read_only_up_to_the_last_visited_element():
    reading = Reading()
    present = tuple(StandIn(part, part < 2, reading) for part in range(3))
    members = tuple(StandIn(3 + part, 10 * part, reading) for part in range(3))
    line = Members(present, members)
    rest = line[1:]
    assert reading.parts == []
    assert bool(line)
    assert reading.parts == [0]
    assert rest[0] == 10
    assert reading.parts == [0, 1, 4]
    assert len(line) == 2
    assert reading.parts == [0, 1, 4, 2]
    assert settled(line) == (0, 10)
    assert not line[2:]
    with pytest.raises(IndexError):
        line[2]


def test_a_stand_in_is_read_when_its_value_matters_and_not_before():
    reading = Reading()
    left, right = StandIn(0, (1, 2), reading), StandIn(1, 5, reading)
    kept = Pair(left, right)
    assert kept == Pair(left, right)
    assert kept._replace(left=3).right is right
    assert reading.parts == []
    assert right > 4
    assert 1 + right == 6
    assert reading.parts == [1]
    assert settled((kept, left)) == (((1, 2), 5), (1, 2))
    assert reading.parts == [1, 0]
