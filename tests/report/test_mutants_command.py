"""`barrierspec mutants` distinguishes a survivor, a wrong killer and a mutant that could not be tried."""

import jsonschema
import orjson
import pytest

from conformance import cli
from conformance.mutants import campaign, score
from conformance.mutants.campaign import MutantFailure, MutantResult
from conformance.mutants.catalogue import component_of, load_catalogue
from conformance.report import mutants
from conformance.report.formats import documents
from conformance.verdict import Verdict
from spec.manifest import load_manifest
from spec.vocabulary import vocabulary

MUTANT = next(mutant for mutant in load_catalogue() if mutant.id == "model-gate-late-barrier-kept")
KILLED = MutantResult(MUTANT, ("ALIGN-04",), 2, "gate of 2 channels", "2 channels")
SURVIVED = MutantResult(MUTANT, (), 0, "all closed models")
MISTAKEN = MutantResult(MUTANT, ("ALIGN-05",), 3, "gate of 2 channels")


def answered(monkeypatch, *fates):
    """A campaign with these results of its mutants. A result that is an exception is raised."""

    def campaigned(chosen, *, at_once):
        for fate in fates:
            if isinstance(fate, Exception):
                raise fate
            assert chosen(fate.mutant)
            yield fate

    monkeypatch.setattr(campaign, "run_campaign", campaigned)


@pytest.mark.parametrize(
    ("fates", "code", "said"),
    [
        ((KILLED, KILLED), 0, "CONFORMS   2 mutants of 1 rules, each killed by the rule that it names"),
        ((KILLED, SURVIVED), 1, "1 not killed by its own rule: model-gate-late-barrier-kept (survived)"),
        ((MISTAKEN,), 1, "charged: ALIGN-05"),
        ((KILLED, MutantFailure("its process ended with 3")), 2, "then: its process ended with 3"),
        ((), 2, "UNDETERMINED"),
    ],
)
def test_exit_code_and_output_state_the_outcome_of_the_mutants(
    monkeypatch, capsys, tmp_path, fates, code, said
):
    answered(monkeypatch, *fates)
    monkeypatch.chdir(tmp_path)

    assert cli.run(["mutants", "--layer", "model", "--rule", "ALIGN-04"]) == code
    assert said in capsys.readouterr().out


def test_a_row_states_the_rule_the_outcome_and_the_killing_sequence():
    assert mutants.row(KILLED).split() == [
        "model-gate-late-barrier-kept", "ALIGN-04", "killed", "2", "2", "channels",
        "gate", "of", "2", "channels",
    ]  # fmt: skip
    assert mutants.row(SURVIVED).splitlines()[1].strip() == f"{MUTANT.story} no rule was charged"
    assert mutants.verdict([]) is Verdict.UNDETERMINED


def test_one_real_mutant_is_killed_and_reported(capsys, tmp_path):
    page, made = tmp_path / "mutants.md", tmp_path / "mutants.json"
    chosen = ["--layer", "model", "--rule", "ALIGN-02", "--component", "gate"]
    assert cli.run(["mutants", *chosen, "--out", str(made), "--page", str(page)]) == 0

    heading, row, _, closing = capsys.readouterr().out.splitlines()
    assert heading.split() == ["mutant", "rule", "outcome", "events", "with", "where"]
    assert row.split()[:6] == ["model-gate-newer-or-equal", "ALIGN-02", "killed", "2", "2", "channels"]
    (entry,) = orjson.loads(made.read_bytes())["mutants"]
    assert (entry["id"], entry["length"], entry["size"]) == ("model-gate-newer-or-equal", 2, "2 channels")
    assert (
        "| ALIGN-02 | `model-gate-newer-or-equal` | killed | ALIGN-02 | 2 | 2 channels |" in page.read_text()
    )
    assert "`barrierspec mutants --layer model --rule ALIGN-02 --component gate`" in page.read_text()
    assert closing.startswith("CONFORMS   1 mutants")


def test_an_interrupted_campaign_is_resumed_unless_the_sources_have_changed(monkeypatch, capsys, tmp_path):
    out = ["--out", str(tmp_path / "mutants.json")]
    chosen = ["mutants", "--rule", "ALIGN-02", "--rule", "ALIGN-04", "--layer", "model", *out]
    other = next(mutant for mutant in load_catalogue() if mutant.id == "model-gate-newer-or-equal")
    later = MutantResult(other, ("ALIGN-02",), 2, "gate of 2 channels", "2 channels")
    answered(monkeypatch, KILLED, MutantFailure("killed"))
    assert cli.run(chosen) == 2

    answered(monkeypatch, later)
    capsys.readouterr()
    assert cli.run([*chosen, "--resume"]) == 0
    assert "1 mutants were tested before with the same sources" in capsys.readouterr().out
    kept = score.judged(tmp_path / "mutants.json")
    assert kept == {KILLED.mutant.id: KILLED, later.mutant.id: later}

    monkeypatch.setattr(score, "sources", lambda: "0" * 16)
    assert score.judged(tmp_path / "mutants.json") == {}


def test_a_survivor_and_a_wrong_killer_stand_in_the_document():
    made = score.document([KILLED, SURVIVED, MISTAKEN], 400)

    jsonschema.Draft202012Validator.check_schema(documents.schema("mutants"))
    assert (made["verdict"], made["killed"], made["tried"]) == ("DIVERGES", 1, 3)
    assert [entry["outcome"] for entry in made["mutants"]] == ["killed", "survived", "wrong killer"]
    assert [entry["length"] for entry in made["mutants"]] == [2, None, 3]
    shown = mutants.page([KILLED, SURVIVED, MISTAKEN], 400, "barrierspec mutants", "8c1f2aa")
    assert "1 of 3 mutants of 1 rules were killed" in shown
    assert "| survived | - | - | - | all closed models |" in shown
    assert "| wrong killer | ALIGN-05 | 3 |" in shown


def test_a_mutant_of_the_specification_belongs_to_the_component_of_its_module():
    modules = {name: model.module for name, model in load_manifest().items()}
    mutants = {mutant.id: mutant for mutant in load_catalogue()}
    components = {component_of(mutant, modules) for mutant in mutants.values() if mutant.layer == "spec"}

    assert component_of(mutants["spec-gate-no-abort"], modules) == component_of(MUTANT, modules) == "gate"
    assert components == {*vocabulary(), "dataflow"}


@pytest.mark.parametrize("words", [["--rule", "ALIGN-99"], ["--layer", "spec", "--rule", "ALIGN-19"]])
def test_a_selection_without_a_mutant_is_a_usage_error(words, capsys):
    assert cli.run(["mutants", *words]) == 64
    assert capsys.readouterr().out == ""
