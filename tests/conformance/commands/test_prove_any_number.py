"""`barrierspec prove any-number` states what is proved, and proves nothing where z3 gives no answer."""

import pytest

from conformance.commands.specification import prove
from conformance.errors import InputError
from conformance.verdict import Exit


def test_a_component_is_proved_in_a_process_of_its_own(capsys):
    assert prove.any_number(("gate",), variants=False) == Exit.CONFORMS

    printed = capsys.readouterr().out
    assert "gate, any number of channels: 23 rules proved" in printed
    assert printed.endswith("PROVED\n")


@pytest.mark.parametrize(
    ("proof", "shown"),
    [
        (None, "UNDETERMINED  gate: z3 crashed\nUNDETERMINED\n"),
        (("UNDETERMINED  gate: undecided", None), "UNDETERMINED  gate: undecided\nUNDETERMINED\n"),
    ],
)
def test_no_answer_of_z3_is_no_proof(monkeypatch, capsys, proof, shown):
    monkeypatch.setattr(prove, "alone", lambda function, argument: proof)

    assert prove.any_number(("gate",), variants=False) == Exit.UNDETERMINED
    assert capsys.readouterr().out == shown


def test_a_refuted_rule_is_no_proof(monkeypatch, capsys):
    monkeypatch.setattr(prove, "alone", lambda function, argument: ("gate: ALIGN-05 fails", False))

    assert prove.any_number(("gate",), variants=False) == Exit.DIVERGES
    assert capsys.readouterr().out == "gate: ALIGN-05 fails\nNOT PROVED\n"


def test_a_refuted_rule_counts_before_what_is_undecided(monkeypatch):
    found = {"gate": ("gate: ALIGN-05 fails", False), "history": None}
    monkeypatch.setattr(prove, "alone", lambda function, argument: found[argument])

    assert prove.any_number(("history", "gate"), variants=False) == Exit.DIVERGES


def test_an_unknown_component_is_refused():
    with pytest.raises(InputError, match="expected one of gate"):
        prove.any_number(("gates",), variants=False)
