"""Explains a wrong answer: the model's actions with their failing guards, and a minimal reason.

The reason is a set of values in the state that excludes the answer. Without any one of them the answer would
be possible.
"""

from random import Random

import pytest

from conformance import cli
from conformance.adapters.protocol import canonical
from conformance.drive.lockstep import drawn
from conformance.drive.oracle import Oracle
from conformance.generators import generate
from conformance.refusals import candidates as candidates_module
from conformance.refusals import explanation
from conformance.refusals.candidates import candidates
from conformance.refusals.conflict import conflict
from conformance.refusals.refused_answer import RefusedAnswer
from conformance.verdict import Exit
from model.components import COMPONENTS

GATE = {"channels": 2, "mode": "exactly-once", "level": "handler"}
FIRST = {"kind": "barrier", "channel": 1, "checkpoint": 2}
SECOND = {"kind": "barrier", "channel": 0, "checkpoint": 3}


def asked(said, seen=None, event=SECOND):
    oracle = Oracle("gate", GATE)
    return RefusedAnswer("gate", oracle.step(oracle.start, FIRST).after.state, event, said, seen)


@pytest.mark.parametrize("component", generate.COMPONENTS)
def test_only_the_action_that_the_model_takes_has_no_failing_guard(component):
    every = generate.configs(component)
    for number, config in enumerate(every[:: max(1, len(every) // 2)]):
        oracle = Oracle(component, config)
        events, _ = drawn(oracle, generate.chooser(component, config, Random(number)), 5)
        for length in range(1, len(events) + 1):
            edges = oracle.transcript(events[:length])
            before = edges[-2].after if length > 1 else oracle.start
            found = candidates(RefusedAnswer(component, before.state, events[length - 1], []))
            (taken,) = [way for way in found.ways if not way.failing]
            assert (taken.rules, taken.refused) == (edges[-1].rules, edges[-1].refused is not None)
            right = RefusedAnswer(
                component,
                before.state,
                events[length - 1],
                None if taken.refused else edges[-1].effects,
                None if taken.refused else edges[-1].after.observed,
            )
            assert conflict(found._replace(refused=right)) is None


@pytest.mark.rule("ALIGN-03")
def test_each_action_is_reported_with_its_guard_and_its_value():
    shown = "\n".join(explanation.lines(asked([{"kind": "block", "channel": 0}])))

    assert "  Before it current=2, pending=true, blocked=[1], closed=[]." in shown
    assert "ALIGN-03, SUB-01: resume 1, abort current (SUBSUMED), block 0\n      the protocol does" in shown
    assert "ALIGN-01: block 0\n      this answer; needs not pending (is true)" in shown
    assert "ALIGN-04: resume 0\n      needs current > 3 (is 2)" in shown


def test_the_core_is_minimal():
    found = candidates(asked([{"kind": "block", "channel": 0}]))
    excluded = conflict(found)

    assert excluded.facts == ("pending = true", "blocked[1] = true")
    core = {"inbox.gate.pending": True, "inbox.gate.blocked.1": True}
    assert conflict(found._replace(facts=core)).facts == excluded.facts
    for name in core:
        fewer = {known: value for known, value in core.items() if known != name}
        assert conflict(found._replace(facts=fewer)) is None


def test_an_impossible_next_state_is_excluded_by_the_state_before():
    seen = {"current": 2, "pending": True, "blocked": [], "closed": []}
    late = {"kind": "barrier", "channel": 1, "checkpoint": 1}
    excluded = conflict(candidates(asked([{"kind": "resume", "channel": 1}], seen, late)))

    assert excluded.facts == ("blocked[1] = true",)


def test_effects_that_no_run_has_are_reported():
    shown = explanation.lines(asked([{"kind": "trigger", "checkpoint": 7}]))

    assert shown[-1] == "  No action gives this answer, whatever values its guards need."


def test_a_replayed_divergence_fits_two_screens(little_adapter, tmp_path, capsys):
    command = ["conform", "--adapter", little_adapter("gate_forgets_subsumption"), "--examples", "2"]
    assert cli.run([*command, "--out", str(tmp_path)]) == Exit.DIVERGES
    (saved,) = tmp_path.glob("*.json")
    capsys.readouterr()
    assert cli.run(["conform", "--replay", str(saved)]) == Exit.DIVERGES

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 48
    assert all(len(line) <= 80 for line in lines)
    assert "  The actions of the model for barrier 2 on 0, most similar first:" in lines
    assert lines[-1] == "  No action gives this answer, whatever values its guards need."


def test_an_event_that_is_refused_is_reported_with_what_would_allow_it():
    oracle = Oracle("sink", {})
    shown = "\n".join(
        explanation.lines(
            RefusedAnswer("sink", oracle.start.state, {"kind": "restore", "checkpoint": None}, [])
        )
    )

    assert "no rule: an error\n      the protocol does this here" in shown
    assert "needs not running (is true)" in shown


def test_no_symbol_appears_in_an_explanation():
    for event in (FIRST, SECOND, {"kind": "cancel", "channel": 0, "checkpoint": 4}):
        assert "?" not in "\n".join(explanation.lines(asked([], event=event)))
    assert canonical(asked([]).event) == canonical(SECOND)


def test_code_that_spells_a_symbol_as_text_is_reported_as_it_happens(monkeypatch):
    gate = COMPONENTS["gate"]

    def spelling(session, event):
        int(f"{session.inbox.gate.current}")
        return gate.step(session, event)

    monkeypatch.setattr(candidates_module, "COMPONENTS", {"gate": gate._replace(step=spelling)})
    found = candidates(asked([{"kind": "block", "channel": 0}]))

    (way,) = found.ways
    assert (way.rules, way.failing, found.is_complete) == (("ALIGN-03", "SUB-01"), (), False)
