"""Our engines and other checkers find the same states. Missing programs are named with what to install."""

import shutil
import sys

import pytest

from conformance.bench.benchmark import MeasurementError
from conformance.bench.engines import search
from conformance.bench.engines.checkers import (
    Composition,
    Explored,
    Gate,
    NotInstalledError,
    minicheck,
    ours,
    spin,
    tlc,
    tlc_on,
)
from conformance.bench.engines.rows import Row
from conformance.bench.runtime.measured_program import watch
from model.checker.bounds import bounded_gate
from model.checker.explore import explore
from spec.manifest import load_manifest

GATE = Gate(2, 3)
"""`gate_handler_2` of the manifest."""


@pytest.fixture(scope="module")
def states() -> int:
    return load_manifest()["gate_handler_2"].states


def test_tlc_finds_the_states(states):
    found = tlc(GATE)
    assert found.states == states
    assert found.peak > 0


@pytest.mark.skipif(not (shutil.which("spin") and shutil.which("gcc")), reason="apt install spin gcc")
def test_spin_finds_the_states_in_promela(states):
    with spin(GATE) as verifier:
        found = verifier.search(collapse=True)
    assert found.states == states
    assert found.start > 0


@pytest.mark.parametrize("engine", ["python", "columns"])
def test_our_engines_count_the_same_states(states, engine, capsys):
    search.main(engine, "2", "3")
    assert capsys.readouterr().out.startswith(f"states {states} transitions ")


def test_the_search_without_effects_counts_as_the_explorer_does(capsys):
    graph = explore(bounded_gate(1, 3, polled=False).closed)
    search.main("unlabelled", "1", "3", "1")
    assert capsys.readouterr().out.startswith(
        f"states {len(graph.nodes)} transitions {graph.transition_count} "
    )


def test_a_composed_dataflow_is_counted_alike_with_other_numbers_of_records(capsys):
    small = Composition("dataflow", 0)
    found = tlc_on(*small)
    graph = explore(search.composed(*small), keep_transitions=False)
    assert (len(graph.nodes), graph.transition_count) == (found.states, found.transitions)
    search.main("memoised", small.model, str(small.records), "1")
    assert f"states {found.states} transitions {found.transitions} " in capsys.readouterr().out
    assert found.states < load_manifest()["dataflow"].states


def test_minicheck_counts_the_same_states(states):
    pytest.importorskip("minicheck", reason="pip install minicheck==0.4.0")
    assert minicheck(GATE).states == states


def test_a_missing_program_is_reported_with_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotInstalledError, match="`apt install spin`"), spin(GATE):
        pass


def test_a_program_that_fails_or_lacks_a_line_is_an_error(tmp_path):
    done = watch([sys.executable, "-c", "print('one'); print('two')"], tmp_path)
    assert done.text == "one\ntwo"
    assert done.second_of("two") <= done.seconds
    with pytest.raises(MeasurementError, match="expected 'three'"):
        done.second_of("three")
    with pytest.raises(MeasurementError, match="ended with 3"):
        watch([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)
    with pytest.raises(MeasurementError, match="ended with 1"):
        ours("nobody", GATE)


def test_the_note_of_a_row_describes_the_run_of_the_median_rate():
    runs = tuple(Explored(1000, seconds, seconds, 0) for seconds in (2.0, 1.0, 9.0, 4.0, 3.0))
    note = Row("gate", "TLC", runs).figure().note
    assert note == "1,000 states, 0 transitions, 3 s after 3.0 s of start; 0 MB, 0 bytes a state"
