"""The search on Spark sees what the explorer sees, goes on where it was ended, and shows the shortest run."""

from pathlib import Path

import numpy as np
import pytest

from conformance.explore import states
from conformance.explore.levels import MANIFEST, AnotherSearchError
from conformance.explore.spark import SparkEngine
from model.closed.bounds import Bounded, bounded_gate
from model.engines.explore import explore
from model.engines.moves import Program, all_words, program_of
from model.properties import Property, of_component


@pytest.fixture(scope="module")
def gate() -> Bounded:
    return bounded_gate(2, 3, polled=False)


@pytest.fixture(scope="module")
def program(gate: Bounded) -> Program:
    return program_of(gate.world, gate.bounds, of_component("gate"))


def engine(program: Program, spark, folder: Path) -> SparkEngine:
    return SparkEngine(program, spark, folder, partitions=3)


class EndedError(Exception):
    """Stands for whatever ends a process between two levels."""


def test_counts_are_those_of_the_explorer(gate: Bounded, program: Program, spark, tmp_path: Path) -> None:
    graph = explore(gate.world, of_component("gate"))
    told: list[tuple[int, int, int]] = []
    found = engine(program, spark, tmp_path).explore(lambda *level: told.append(level))
    assert found.violation is None
    assert (found.states, found.transitions, found.depth) == (
        len(graph.nodes),
        graph.transition_count,
        graph.depth,
    )
    assert found.rules == graph.rules
    assert told[-2][0] == sum(new for _, new, _ in told) + 1 == len(graph.nodes)


def test_states_with_what_was_said_are_those_of_tlc(gate: Bounded, spark, tmp_path: Path) -> None:
    """`gate_handler_2` of spec/manifest.toml: 331 states, five on the longest shortest run."""
    found = engine(program_of(*gate, words=all_words), spark, tmp_path).explore()
    assert (found.states, found.depth + 1) == (331, 5)


def test_it_goes_on_where_it_was_ended(gate: Bounded, program: Program, spark, tmp_path: Path) -> None:
    def end_at_the_second(known: int, new: int, depth: int) -> None:
        if depth == 2:
            raise EndedError

    with pytest.raises(EndedError):
        engine(program, spark, tmp_path).explore(end_at_the_second)
    left = tmp_path / "0003-0000-of-no-account.npy"
    left.write_bytes(b"half a file")
    (tmp_path / f"{MANIFEST}.part").write_bytes(b'{"format"')
    found = engine(program, spark, tmp_path).explore()
    graph = explore(gate.world)
    assert found.resumed == 2
    assert (found.states, found.transitions, found.rules) == (
        len(graph.nodes),
        graph.transition_count,
        graph.rules,
    )
    assert not left.exists()
    with pytest.raises(AnotherSearchError, match="another model"):
        SparkEngine(program, spark, tmp_path, partitions=2).explore()


def test_the_shortest_run_to_a_broken_move_is_shown(gate: Bounded, spark, tmp_path: Path) -> None:
    never = Property("NEVER-01", "gate", True, lambda before, event, effects, after: after.current < 3)
    asked = (*of_component("gate"), never)
    expected = explore(gate.world, asked).violation
    assert expected is not None
    found = engine(program_of(gate.world, gate.bounds, asked), spark, tmp_path).explore()
    assert found.violation is not None
    assert found.violation.rules == ("NEVER-01",)
    assert len(found.violation.run) == len(expected.run) == found.depth


# ---------------------------------------------------------------- packed states


def test_states_of_one_key_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "mixed", lambda words: np.zeros(len(words[0]), np.uint64))
    rows = states.keyed(tuple(np.array(word, np.uint64) for word in ([1, 2, 1, 3, 2], [7, 7, 7, 7, 8])))
    once = states.distinct(rows)
    assert sorted(zip(*map(np.ndarray.tolist, once[1:]), strict=True)) == [(1, 7), (2, 7), (2, 8), (3, 7)]
    asked = states.keyed(tuple(np.array(word, np.uint64) for word in ([2, 4], [8, 7])))
    assert states.among(asked, once).tolist() == [True, False]


@pytest.mark.parametrize("words", [1, 3])
def test_a_file_is_compared_in_pieces(words: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "PIECE", 7)
    draw = np.random.default_rng(20261121)
    rows = states.distinct(states.keyed(tuple(draw.integers(0, 40, 300, np.uint64) for _ in range(words))))
    known = tuple(word[::3] for word in rows)
    states.write(known, tmp_path / "known.npy")
    left = states.without(rows, states.read(tmp_path / "known.npy"))
    assert set(zip(*left, strict=True)) == set(zip(*rows, strict=True)) - set(zip(*known, strict=True))
    assert states.from_bytes(states.as_bytes(left), len(left))[0].tolist() == left[0].tolist()
