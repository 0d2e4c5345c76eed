"""`barrierspec mutants`: a survivor, a wrong killer and a mutant that could not be tried are told apart."""

import pytest

from conformance import cli
from conformance.mutants import campaign
from conformance.mutants.campaign import MutantFailure
from conformance.mutants.campaign import Verdict as Fate
from conformance.mutants.catalogue import load_catalogue
from conformance.report import casualties
from conformance.verdict import Verdict

MUTANT = next(mutant for mutant in load_catalogue() if mutant.id == "model-gate-late-barrier-kept")
KILLED = Fate(MUTANT, ("ALIGN-04",), 2, "gate of 2 channels")
SURVIVED = Fate(MUTANT, (), 0, "all closed models")
MISTAKEN = Fate(MUTANT, ("ALIGN-05",), 3, "gate of 2 channels")


def answered(monkeypatch, *fates):
    """A campaign that comes to these ends; an exception is raised."""

    def campaigned(chosen):
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
def test_exit_codes(monkeypatch, capsys, fates, code, said):
    answered(monkeypatch, *fates)

    assert cli.run(["mutants", "--layer", "model", "--rule", "ALIGN-04"]) == code
    assert said in capsys.readouterr().out


def test_a_row():
    assert casualties.row(KILLED).split() == [
        "model-gate-late-barrier-kept", "ALIGN-04", "killed", "2", "gate", "of", "2", "channels",
    ]  # fmt: skip
    assert casualties.row(SURVIVED).splitlines()[1].strip() == f"{MUTANT.story} nothing was charged"
    assert casualties.verdict([]) is Verdict.UNDETERMINED


def test_one_real_mutant_is_tried(capsys):
    assert cli.run(["mutants", "--layer", "model", "--rule", "ALIGN-02"]) == 0

    heading, row, _, closing = capsys.readouterr().out.splitlines()
    assert heading.split() == ["mutant", "rule", "outcome", "events", "where"]
    assert row.split()[:4] == ["model-gate-newer-or-equal", "ALIGN-02", "killed", "2"]
    assert closing.startswith("CONFORMS   1 mutants")


@pytest.mark.parametrize("words", [["--rule", "ALIGN-99"], ["--layer", "spec", "--rule", "ALIGN-19"]])
def test_a_choice_of_nothing_is_a_usage_error(words, capsys):
    assert cli.run(["mutants", *words]) == 64
    assert capsys.readouterr().out == ""
