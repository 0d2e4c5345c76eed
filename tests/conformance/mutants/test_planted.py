"""Mutants as implementations of their own: a sample is refused, and what the lists state fits."""

from pathlib import Path
from random import Random

import pytest

from conformance.mutants import planted
from conformance.mutants.catalogue import load_catalogue
from conformance.mutants.planted import CONFORMS, Outcome, Planted, of_list, of_mutant, outcomes, table, tried
from model.components import COMPONENTS

LIST = Path(__file__).with_name("broken_adapters.toml")
QUICK = [one for one in load_catalogue() if one.component in ("offsets", "source", "store", "channel")]
SAMPLE = Random(0).sample([one for one in QUICK if one.layer != "spec" and not one.conforms], 6)


@pytest.mark.parametrize("mutant", SAMPLE, ids=lambda mutant: mutant.id)
def test_a_mutant_in_a_process_of_its_own_is_refused(mutant):
    outcome = tried(of_mutant(mutant))

    assert (outcome.run, outcome.verdict) == ("default", "DIVERGES")


def test_the_list_names_adapters_of_known_components_once():
    listed = list(of_list(LIST))

    assert {one.component for one in listed} <= set(COMPONENTS)
    assert len({one.id for one in listed}) == len(listed)
    assert {one.runs for one in listed} == {("default",), ("thorough",)}


def test_a_mutant_that_conforms_is_expected_only_with_a_reason():
    mutant = SAMPLE[0]

    assert CONFORMS not in of_mutant(mutant).runs
    assert of_mutant(mutant._replace(conforms="a reason")).runs == (CONFORMS,)


def test_what_was_measured_is_not_measured_again(tmp_path, monkeypatch):
    one = Planted("a", "model", "gate", "cmd", ("default",))
    measured = []

    def result(planted):
        measured.append(planted.id)
        return Outcome(planted.id, "default", "DIVERGES", "rule", "ALIGN-01", 0.1)

    monkeypatch.setattr(planted, "tried", result)
    for _ in range(2):
        found = list(outcomes(tmp_path / "out.jsonl", [one, one._replace(id="b")]))

    assert measured == ["a", "b"]
    assert table(found).splitlines()[2:] == ["| model, gate | 2 | 2 |  |  |", "| all | 2 | 2 |  |  |"]
