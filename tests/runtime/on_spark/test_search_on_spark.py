"""The search on Spark finds the explorer's states and shortest run, and continues after an interruption."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conformance.explore import states
from conformance.explore.local import Reading, in_python
from conformance.explore.models import MODELS, Size
from conformance.explore.search_on_spark import on_spark
from conformance.explore.spark import SparkEngine
from conformance.explore.stored_search import MANIFEST, AnotherSearchError
from model.checker.bounds import Bounded, bounded_gate
from model.checker.compiled.moves import program_of
from model.checker.compiled.program import Program, all_words
from model.checker.explore import TooManyStatesError, explore
from model.properties import Property, of_component


@pytest.fixture(scope="module")
def gate() -> Bounded:
    return bounded_gate(2, 3, polled=False)


@pytest.fixture(scope="module")
def program(gate: Bounded) -> Program:
    return program_of(gate.closed, gate.bounds, of_component("gate"))


def engine(program: Program, spark, folder: Path) -> SparkEngine:
    return SparkEngine(program, spark, folder, partitions=3)


class EndedError(Exception):
    """Stands for any error that ends the process between two levels."""


def test_counts_are_those_of_the_explorer(gate: Bounded, program: Program, spark, tmp_path: Path) -> None:
    graph = explore(gate.closed, of_component("gate"))
    shown: list[tuple[int, int, int]] = []
    found = engine(program, spark, tmp_path).explore(lambda *level: shown.append(level))
    assert found.violation is None
    assert (found.states, found.transitions, found.depth) == (
        len(graph.nodes),
        graph.transition_count,
        graph.depth,
    )
    assert found.rules == graph.rules
    assert shown[-2][0] == sum(new for _, new, _ in shown) + 1 == len(graph.nodes)


def test_states_with_their_effects_are_as_many_as_in_tlc(gate: Bounded, spark, tmp_path: Path) -> None:
    """`gate_handler_2` of spec/manifests has 331 states and depth 5: TLC counts the initial state, too."""
    found = engine(program_of(*gate, words=all_words), spark, tmp_path).explore()
    assert (found.states, found.depth + 1) == (331, 5)


def test_an_interrupted_search_continues_after_its_last_complete_level(
    gate: Bounded, program: Program, spark, tmp_path: Path
) -> None:
    def end_at_the_second(known: int, new: int, depth: int) -> None:
        if depth == 2:
            raise EndedError

    with pytest.raises(EndedError):
        engine(program, spark, tmp_path).explore(end_at_the_second)
    left = tmp_path / "0003-0000-of-no-account.npy"
    left.write_bytes(b"half a file")
    (tmp_path / f"{MANIFEST}.part").write_bytes(b'{"format"')
    found = engine(program, spark, tmp_path).explore()
    graph = explore(gate.closed)
    assert found.resumed == 2
    assert (found.states, found.transitions, found.rules) == (
        len(graph.nodes),
        graph.transition_count,
        graph.rules,
    )
    assert not left.exists()
    with pytest.raises(AnotherSearchError, match="another model"):
        SparkEngine(program, spark, tmp_path, partitions=2).explore()


ENDED = (
    lambda gate: gate.current == 3 and all(gate.closed),
    lambda gate: gate.current == 3 and gate.closed in {(True, True)},
)
"""Two equal conditions. They are lambdas because Spark sends a lambda to the workers with its code.

The workers cannot import this file.
"""


@pytest.mark.parametrize("reached", ENDED, ids=("followed", "looked up"))
def test_the_run_to_a_violation_is_as_short_as_the_explorers(
    reached, gate: Bounded, spark, tmp_path: Path
) -> None:
    """Tests a property that the kernel evaluates, and one that only Python can evaluate."""
    never = Property("NEVER-01", "gate", True, lambda before, event, effects, after: not reached(after))
    expected = explore(gate.closed, (never,)).violation
    assert expected is not None
    found = engine(program_of(gate.closed, gate.bounds, (never,)), spark, tmp_path).explore()
    assert found.violation is not None
    assert found.violation.rules == ("NEVER-01",)
    assert len(found.violation.run) == len(expected.run) == found.depth == 3


SEARCH = """
import sys
from pathlib import Path
from conformance.explore.spark import SparkEngine
from impl.spark.session import spark_session
from model.checker.bounds import bounded_gate
from model.checker.compiled.moves import program_of

folder = Path(sys.argv[1])
with spark_session("local[1]", folder / "spark.log") as spark:
    SparkEngine(program_of(*bounded_gate(2, 3, polled=False)), spark, folder / "found", partitions=3).explore(
        lambda *level: print(*level, flush=True)
    )
"""


@pytest.mark.cluster
def test_a_killed_search_continues_after_its_complete_levels(gate: Bounded, spark, tmp_path: Path) -> None:
    """The driver, Java and the workers are killed when two levels are complete."""
    with subprocess.Popen(
        [sys.executable, "-c", SEARCH, str(tmp_path)], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().split()[-1:] == [b"1"]
        assert process.stdout.readline().split()[-1:] == [b"2"]
        os.killpg(process.pid, signal.SIGKILL)
    found = engine(program_of(*gate), spark, tmp_path / "found").explore()
    graph = explore(gate.closed)
    assert found.resumed >= 2
    assert (found.states, found.transitions) == (len(graph.nodes), graph.transition_count)


def test_the_command_reports_the_same_as_for_the_python_engine(spark, tmp_path: Path) -> None:
    size = Size(channels=1, ids=2)
    chosen = MODELS["gate"](size)
    with pytest.raises(TooManyStatesError, match="more than 3 states"):
        on_spark(chosen, 3, spark, tmp_path, partitions=1, reading=Reading())
    found = on_spark(chosen, 1_000, spark, tmp_path, partitions=1, reading=Reading())
    expected = in_python(chosen, 1_000)
    assert found.engine == "spark, 1 partitions, 1 levels from an earlier run"
    same = ("states", "labelled", "transitions", "depth", "rules", "properties", "violation")
    assert [getattr(found, one) for one in same] == [getattr(expected, one) for one in same]
    assert found.bytes > 8 * found.states


# ---------------------------------------------------------------- packed states


def test_different_states_with_equal_hashes_stay_distinct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "mixed", lambda words: np.zeros(len(words[0]), np.uint64))
    rows = states.keyed(tuple(np.array(word, np.uint64) for word in ([1, 2, 1, 3, 2], [7, 7, 7, 7, 8])))
    once = states.distinct(rows)
    assert sorted(zip(*map(np.ndarray.tolist, once[1:]), strict=True)) == [(1, 7), (2, 7), (2, 8), (3, 7)]
    requested = states.keyed(tuple(np.array(word, np.uint64) for word in ([2, 4], [8, 7])))
    assert states.among(requested, once).tolist() == [True, False]


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
