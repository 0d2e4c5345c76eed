"""`conform` refuses a sample of mutants that run as implementations. The lists of mutants are consistent."""

from pathlib import Path
from random import Random

import pytest

from conformance.mutants import planted
from conformance.mutants.catalogue import load_catalogue
from conformance.mutants.planted import (
    CONFORMS,
    RUNS,
    Outcome,
    Planted,
    class_table,
    mutant_table,
    of_catalogue,
    of_list,
    of_mutant,
    outcomes,
    read_outcomes,
    tried,
    with_tables,
)
from model.components import COMPONENTS

LIST = Path(__file__).with_name("broken_adapters.toml")
OUTCOMES = Path(__file__).with_name("planted_outcomes.jsonl")
PAGE = Path(__file__).parents[3] / "docs" / "verify" / "planted-defects.md"
QUICK = [one for one in load_catalogue() if one.component in ("offsets", "source", "store", "channel")]
SAMPLE = Random(0).sample([one for one in QUICK if one.layer != "spec" and not one.conforms], 6)


@pytest.mark.parametrize("mutant", SAMPLE, ids=lambda mutant: mutant.id)
def test_a_mutant_in_a_process_of_its_own_diverges(mutant):
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


def test_one_mutant_is_in_a_component_that_no_adapter_offers():
    outside = [one.id for one in of_catalogue() if one.component not in COMPONENTS]

    assert outside == ["model-exchange-restores-sender-only"]


def test_a_measured_mutant_is_not_measured_again(tmp_path, monkeypatch):
    one = Planted("a", "model", "gate", "cmd", ("default",))
    measured = []

    def result(planted):
        measured.append(planted.id)
        return Outcome(planted.id, "default", "DIVERGES", "rule", "ALIGN-01", 0.1)

    monkeypatch.setattr(planted, "tried", result)
    for _ in range(2):
        found = list(outcomes(tmp_path / "out.jsonl", [one, one._replace(id="b")]))

    assert measured == ["a", "b"]
    assert mutant_table(found).splitlines()[2:] == ["| model, gate | 2 | 2 |  |  |", "| all | 2 | 2 |  |  |"]


def test_the_tables_count_by_run_and_name_what_was_not_measured():
    listed = [
        Planted(f"gate: python tests/adapters/{name}.py", "frames", "gate", "cmd", ("default",))
        for name in "abc"
    ]
    found = [
        (listed[0], Outcome(listed[0].id, "default", "DIVERGES", "rule", "", 0.1)),
        (listed[1], Outcome(listed[1].id, "thorough", "DIVERGES", "life", "", 0.1)),
        (listed[2], None),
    ]
    mutants = [Planted(name, "impl", "sink", "cmd", ("default",)) for name in ("one", "two")]
    page = "<!-- planted: measured -->\n\nold\n\n<!-- planted: mutants -->\n\n| old |\n"
    made = with_tables(page, mutants, {"one": Outcome("one", CONFORMS, "CONFORMS", "", "", 0.1)})

    assert class_table(found).splitlines()[2:] == ["| frames | 3 | 1 rule | 1 life | `c.py` |"]
    assert "1 of 2 mutants have an outcome; not measured: two." in made
    assert "| impl, sink | 1 |" in made
    assert "old" not in made


def test_the_page_has_the_tables_of_the_outcomes(pytestconfig):
    made = with_tables(
        PAGE.read_text(encoding="utf-8"), [*of_catalogue(), *of_list(LIST)], read_outcomes(OUTCOMES)
    )
    if pytestconfig.getoption("--rewrite"):
        PAGE.write_text(made, encoding="utf-8")

    assert PAGE.read_text(encoding="utf-8") == made
    assert all(row in made for row in ("| all | ", "| names in hello | 7 | ", " mutants have an outcome"))


def test_every_outcome_is_of_a_run_that_the_lists_allow():
    allowed = {one.id: one.runs for one in (*of_catalogue(), *of_list(LIST))}

    wrong = [one for one in read_outcomes(OUTCOMES).values() if one.run not in allowed.get(one.id, RUNS)]
    assert wrong == []
