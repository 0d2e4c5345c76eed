"""`diff` and `gate`: two generations are compared, and a changed model with its base in git."""

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance import commands
from conformance.adapters.in_process import model_adapter
from conformance.change.behaviour import Change, Kind, Meaning, changes, meaning_of
from conformance.change.compare_revisions import (
    SHIPPED,
    Reprofiled,
    component_of,
    revision,
    vectors_in,
    write_vectors,
)
from conformance.change.declared import declared
from conformance.commands.specification import diff, gate
from conformance.divergence import Answer
from conformance.generators import generate
from conformance.mutants.catalogue import load_catalogue
from conformance.report.change import affected, paragraphs
from conformance.vectors.vector import vector_of

ROOT = Path(__file__).parents[3]
GATE = {"channels": 2, "mode": "exactly-once", "level": "handler"}


def barrier(channel, checkpoint):
    return {"kind": "barrier", "channel": channel, "checkpoint": checkpoint}


def test_a_repeated_barrier_is_a_change_with_its_shortest_run():
    events = [barrier(1, 1), barrier(1, 3), {"kind": "cancel", "channel": 0, "checkpoint": 2}, barrier(1, 3)]
    vector = vector_of("walk", "gate", GATE, events)
    found = list(changes(Reprofiled("flink-1.12"), Reprofiled("flink-1.14"), [vector]))
    assert [(change.kind, change.events) for change in found] == [
        (Kind.CHANGED, (barrier(1, 1), barrier(1, 1)))
    ]
    lines = list(paragraphs(found))
    assert lines[1:] == [
        "        1  barrier 1 on 1",
        "        2  barrier 1 on 1",
        "           old  fail, error repeated barrier",
        "           new  block 1",
    ]


def test_an_event_that_one_side_refuses_is_gained_or_lost():
    inject = {"kind": "inject", "checkpoint": 1}
    vector = vector_of("walk", "gate", GATE, [inject])
    older, newer = Reprofiled("flink-1.13"), Reprofiled("flink-1.14")
    assert [change.kind for change in changes(older, newer, [vector])] == [Kind.GAINED]
    assert [change.kind for change in changes(newer, older, [vector])] == [Kind.LOST]
    assert list(changes(newer, model_adapter(), [vector])) == []


def test_a_configuration_that_only_one_side_has_is_a_change_without_events():
    vector = vector_of("walk", "gate", {**GATE, "mode": "unaligned"}, [barrier(0, 1)])
    (change,) = changes(Reprofiled("flink-1.9"), model_adapter(), [vector])
    assert (change.kind, change.events) == (Kind.GAINED, ())


def test_a_state_that_differs_is_shown_where_the_effects_do_not():
    config = {"channels": 2, "mode": "alternating", "level": "handler"}
    announce = {"kind": "announce", "channel": 0, "checkpoint": 1}
    (change,) = changes(
        Reprofiled("flink-1.12"), model_adapter(), [vector_of("walk", "gate", config, [announce])]
    )
    assert any("pending" in line for line in paragraphs([change]) if line.startswith("           new"))


@pytest.mark.rule("ALIGN-20")
def test_rules_vectors_and_mutants_that_are_affected_are_named():
    barrier = {"kind": "barrier", "channel": 0, "checkpoint": 1}
    config = {"channels": 2, "mode": "exactly-once", "level": "handler", "profile": "flink-1.12"}
    repeated = [vector_of("walk", "gate", config, [barrier] * length) for length in (2, 3)]
    found = list(changes(Reprofiled("flink-1.12"), Reprofiled("flink-1.13"), repeated))

    rules, vectors, mutants, *_ = affected(found, [mutant.rule for mutant in load_catalogue()])
    assert rules == "  affected  rules ALIGN-20"
    assert vectors == "            vectors 2"
    assert mutants.endswith("barrierspec mutants --rule ALIGN-20")
    assert list(affected([], [])) == []


@pytest.mark.parametrize(
    ("kinds", "meaning"),
    [
        ([], Meaning.COMPATIBLE),
        ([Kind.GAINED, Kind.GAINED], Meaning.WEAKENING),
        ([Kind.LOST], Meaning.STRENGTHENING),
        ([Kind.LOST, Kind.GAINED], Meaning.INCOMPATIBLE),
        ([Kind.CHANGED], Meaning.INCOMPATIBLE),
    ],
)
def test_the_report_states_the_consequence_for_users_of_the_old_side(kinds, meaning):
    nothing = Answer([], {})
    assert meaning_of(Change(kind, "gate", {}, (), nothing, nothing, 1) for kind in kinds) is meaning


def test_names_of_generations_are_distinguished_from_revisions():
    assert component_of("flink-1.12", "flink-1.13", ()) == "gate"
    assert component_of("flink-1.12", "flink-1.13", ("channel",)) == "channel"
    assert component_of("1.9", "2.3", ("store",)) == "store"
    assert component_of("HEAD~1", "HEAD", ()) is None


# ---------------------------------------------------------------- revisions


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git repository with the sources of this project, in one commit."""
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "as it was"]):
        who = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edit(file, before, after):
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after, 1), encoding="utf-8")


def invoke(command, *words):
    return CliRunner().invoke(command.command, words, standalone_mode=False)


def test_a_change_of_behaviour_has_to_be_declared(repository):
    unchanged = invoke(gate, "--base", "HEAD")
    assert unchanged.return_value == 0
    assert "are the same as in HEAD" in unchanged.output

    edit(repository / "model/offsets/offsets.py", "(Ignored(checkpoint),)", "()")
    undeclared = invoke(gate, "--base", "HEAD", "--component", "offsets")
    assert undeclared.return_value == 1
    assert "incompatible" in undeclared.output
    assert "give the index another version than 0.1.0" in undeclared.output
    assert "describe the changed behaviour" in undeclared.output
    assert invoke(diff, "HEAD", "--component", "offsets").return_value == 1
    assert invoke(diff, "HEAD", "--component", "store").return_value == 0

    edit(repository / "spec/rules.toml", 'version = "0.1.0"', 'version = "0.2.0"')
    edit(
        repository / "CHANGELOG.md",
        "# Changelog\n",
        "# Changelog\n\n## Unreleased\n\n- Completions are ignored in silence.\n",
    )
    done = invoke(gate, "--base", "HEAD", "--component", "offsets")
    assert done.return_value == 0
    assert "CONFORMS   against HEAD, declared as 0.2.0" in done.output


def test_a_revision_writes_runs_for_the_paths_of_its_own_functions(repository, tmp_path_factory):
    into = tmp_path_factory.mktemp("written")
    edit(repository / "model/offsets/offsets.py", "(Ignored(checkpoint),)", "()")
    with revision(repository, None) as side:
        write_vectors(side, into, ("offsets",), 1)
    ends = [vector.steps[-1].effects for vector in vectors_in(into, "offsets") if vector.origin == "path"]
    assert ends
    assert not [effect for effects in ends for effect in effects if effect["kind"] == "ignored"]


def test_new_removed_and_changed_rules_are_named(repository, tmp_path_factory):
    before = tmp_path_factory.mktemp("before")
    shutil.copytree(repository / "spec", before / "spec")
    edit(repository / "spec/rules.toml", 'id = "ALIGN-01"', 'id = "ALIGN-99"')
    edit(repository / "spec/rules.toml", "no effect and MUST NOT change any state.", "no effect.")
    answers = declared(before, repository)
    assert (answers.added, answers.removed, answers.reworded) == (("ALIGN-99",), ("ALIGN-01",), ("ALIGN-12",))


def test_an_unknown_revision_is_a_clear_error(repository):
    ran = invoke(gate, "--base", "no-such-revision")
    assert "git has no 'no-such-revision' here" in str(ran.exception)
    assert "git has no 'nowhere' here" in str(invoke(diff, "nowhere").exception)


def test_commands_name_the_components_that_are_driven():
    assert commands.COMPONENTS == generate.COMPONENTS
