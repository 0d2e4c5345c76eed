"""The theorem with regional checkpoints (FLIP-600, proposed): what it changes, and each condition."""

import pytest

from model.theorem.dataflow import CHANNEL, ID, POSITION, TASK
from model.theorem.finite.small_scope import SCOPE, refuted
from model.theorem.logic import State
from model.theorem.prove import Obligation, Unbounded, preserved, stated
from model.theorem.regional import BROKEN, REGIONAL, broken


@pytest.mark.parametrize("name", ["fall back", "commit", "restore"])
def test_every_clause_is_preserved_by_the_steps_that_the_proposal_changes(name):
    domain = Unbounded()
    fields = (*REGIONAL.constants, *REGIONAL.fields)
    state = State({field.name: domain.function(field) for field in fields}, domain)
    known = {one.name: stated(one, state, domain) for one in (*REGIONAL.axioms, *REGIONAL.invariant)}
    (action,) = (one for one in REGIONAL.actions if one.name == name)

    lemmas = list(preserved(action, REGIONAL.invariant, known, state, domain))

    assert len(lemmas) == len(REGIONAL.invariant)
    assert [lemma.obligation.clause for lemma in lemmas if not lemma.is_proved] == []


@pytest.mark.parametrize(("action", "part"), BROKEN)
def test_each_condition_is_needed_and_the_theory_itself_is_not_refuted(monkeypatch, action, part):
    for sort, many in ((TASK, 2), (CHANNEL, 2), (ID, 3), (POSITION, 2)):
        monkeypatch.setitem(SCOPE, sort, many)
    obligation = Obligation(action, BROKEN[action, part])

    assert list(refuted(broken(action, part), [obligation])) == [obligation]
    assert list(refuted(REGIONAL, [obligation])) == []
