"""The part `proofs` fails if a required rule is not proved. No published case is vacuous by accident."""

import pytest
import z3

from conformance.parts import proofs
from conformance.parts.result import Context
from conformance.verdict import Verdict
from model.channel.channel import CHANNEL_PROFILES
from model.channel.proofs import channel_cases
from model.checker.induction import assumed_facts, open_shapes
from model.checker.prove import Report, prove, start_case
from model.checker.symbolic import bool_term, int_term
from model.gate.events import Barrier, Cancel, Injection
from model.gate.profiles import PROFILES
from model.gate.proofs.aligned import gate_cases, history_cases, network_cases
from model.gate.proofs.modes import mode_cases
from model.offsets.proofs import all_offsets_cases
from model.proofs import start_cases
from model.properties import PROPERTIES, Property, of_component
from model.sizes import SIZES
from model.store.proofs.store import store_cases

STEPS = (
    *gate_cases(2),
    *network_cases(2, 0),
    *history_cases(2),
    *mode_cases(2),
    *channel_cases(0, CHANNEL_PROFILES["flink-2.3"]),
    *store_cases(1, 0),
)


def test_a_case_that_the_invariants_exclude_proves_nothing():
    report = prove(store_cases(1, 3), PROPERTIES)  # a store that retains 1 never holds 3

    assert report == Report(frozenset(), frozenset(), (), 0, 0, 0)


def test_a_rule_that_no_proof_covers_is_a_finding(monkeypatch, tmp_path):
    monkeypatch.setattr(proofs, "ProcessPoolExecutor", InThisProcess)
    monkeypatch.setattr(proofs, "_claim", lambda _: None)  # tests/model/test_generations.py proves them
    monkeypatch.setattr(proofs, "_share", lambda *_: reported({"ALIGN-01"}, ()))
    result = proofs.run(Context(0, tmp_path))

    assert result.verdict is Verdict.UNDETERMINED
    assert "ALIGN-02" in result.findings[0].line


def test_a_property_that_rejects_nothing_is_a_finding(monkeypatch, tmp_path):
    """A property that holds for every result, or concerns only impossible events, proves nothing."""

    def never_occurs(before, event, effects, after):
        return not (type(event) is Cancel and before.pending and before.current < 0) or not effects

    vacuous = (
        Property("ALIGN-09", "gate", True, never_occurs),
        Property("ALIGN-19", "gate", False, lambda gate: gate.pending or not gate.pending),
    )
    stepped = [*gate_cases(1), *gate_cases(2), *gate_cases(2, PROFILES["flink-1.13"])]
    cases = [*start_cases(stepped), *stepped]
    report = prove(cases, (*of_component("gate"), *vacuous))
    assert report.refutations == ()
    monkeypatch.setattr("model.properties.PROPERTIES", (*of_component("gate"), *vacuous))
    assert proofs.vacuous_in(cases, [report]) == list(vacuous)

    monkeypatch.setattr(proofs, "ProcessPoolExecutor", InThisProcess)
    monkeypatch.setattr(proofs, "_claim", lambda _: None)  # tests/model/test_generations.py proves them
    monkeypatch.setattr(proofs, "_cases", lambda *_: cases)
    monkeypatch.setattr(proofs, "_share", lambda *_: report)
    monkeypatch.setattr(proofs, "PROVED_HERE", frozenset({"ALIGN-01", "ALIGN-09", "ALIGN-19"}))
    result = proofs.run(Context(0, tmp_path))
    assert result.verdict is Verdict.UNDETERMINED
    assert "ALIGN-01" in result.rules
    assert "; inductive: gate; " in result.brief
    assert not {"ALIGN-09", "ALIGN-19"} & set(result.rules)
    assert [finding.line for finding in result.findings] == [
        "ALIGN-09: never_occurs of gate rejects no wrong result of any case",
        "ALIGN-19: <lambda> of gate rejects no wrong result of any case",
    ]


def test_the_bound_states_each_component_with_its_sizes(monkeypatch):
    few = SIZES["gate"]._replace(includes=lambda gate: len(gate.closed) == 1, beyond=True)
    monkeypatch.setattr(proofs, "SIZES", {"offsets": SIZES["offsets"], "gate": few})
    cases = [*all_offsets_cases(), *gate_cases(1), *gate_cases(2), *gate_cases(3, PROFILES["flink-1.12"])]
    assert proofs.induction_of(cases, [prove(cases, PROPERTIES)]) == (
        "inductive: offsets (remembered snapshots 1 to 3), gate (channels 1 in flink-1.14); "
        "one step, at sizes: gate (channels 2 to 3 in 2 generations)",
        [],
    )


def test_a_failed_gate_takes_no_further_step():
    assert lacking([*gate_cases(2), *gate_cases(2, PROFILES["flink-1.12"])]) == []


def test_a_component_with_a_shape_that_no_case_starts_in_is_not_inductive():
    (gap,) = lacking(case for case in all_offsets_cases() if len(case.state.remembered) != 1)
    assert "offsets is not proved inductive: a step ends in a shape without cases" in gap


@pytest.mark.parametrize("absent", [Injection, Cancel])
def test_a_component_without_a_case_for_an_event_is_not_inductive(absent):
    every = [*gate_cases(1), *gate_cases(2)]
    assert lacking(every) == []
    (gap,) = lacking(case for case in every if type(case.event) is not absent or len(case.state.closed) == 1)
    assert f"gate is not proved inductive: no case has {absent.__name__}(" in gap
    (gap,) = lacking(case for case in every if type(case.event) is not absent)
    assert gap == f"gate is not proved inductive: no case has the event {absent.__name__}"


def test_a_case_may_relate_its_event_to_the_state_and_may_not_assume_a_fact_of_the_state():
    (case, *_) = (case for case in gate_cases(2) if type(case.event) is Cancel)
    # the case relates the event to the state: its channel 0 is open, and its id is not negative
    assert list(assumed_facts(case)) == []

    fact = int_term(case.state.current) >= 0
    assert list(assumed_facts(with_assumption(case, fact))) == [fact]
    both = z3.And(int_term(case.event.checkpoint) >= 0, fact)
    assert list(assumed_facts(with_assumption(case, both))) == [fact]
    of_another_channel = z3.Not(bool_term(case.state.closed[1]))
    assert list(assumed_facts(with_assumption(case, of_another_channel))) == [of_another_channel]
    related = int_term(case.event.checkpoint) > int_term(case.state.current)
    assert list(assumed_facts(with_assumption(case, related))) == []

    (gap,) = lacking([*gate_cases(2), with_assumption(case, fact)])
    assert "gate is not proved inductive: a case assumes a fact of the state, gate.current >= 0" in gap


def test_a_channel_is_closed_within_its_size():
    cases = [case for items in (0, 1) for case in channel_cases(items, CHANNEL_PROFILES["flink-1.12"])]
    report = prove(cases, PROPERTIES, within={"channel": SIZES["channel"].holds})
    assert report.refutations == ()
    assert list(open_shapes(report.starts, report.afters)) == []


def test_an_initial_state_that_breaks_an_invariant_is_refuted(monkeypatch):
    """The base of the induction is proved for the sizes of each case, independently of the exploration."""
    cases = [*gate_cases(3), *mode_cases(1)]
    assert prove(start_cases(cases), PROPERTIES).refutations == ()

    unbounded = {name: size._replace(permits=None) for name, size in SIZES.items()}
    gate = unbounded["gate"]
    unbounded["gate"] = gate._replace(new=lambda state: gate.new(state)._replace(pending=True))
    monkeypatch.setattr("model.proofs.SIZES", unbounded)
    refuted = prove(start_cases(cases), PROPERTIES).refutations
    assert {(one.rule, one.label) for one in refuted} == {
        ("ALIGN-01", "new gate"),
        ("ALIGN-19", "new gate"),
        ("UNAL-26", "new unaligned"),
        ("UNAL-26", "new passage"),
        ("UNAL-26", "new threads"),
    }


@pytest.mark.parametrize(
    ("component", "changes", "rule"),
    [
        ("gate", {"current": 1}, "ALIGN-01"),
        ("network", {"waiting": (Barrier(0, 1),)}, "ALIGN-17"),
        ("history", {"last": (1, 0)}, "ALIGN-25"),
        ("buffer", {"stored": (Barrier(0, 1),)}, "ALIGN-22"),
        ("tracker", {"latest": 1}, "TRACK-02"),
        ("unaligned", {"since": 1}, "UNAL-01"),
        ("passage", {"held": (True, True)}, "UNAL-24"),
        ("threads", {"reading": True}, "UNAL-30"),
        ("channel", {"before": 1}, "UNAL-32"),
        ("store", {"open": False}, "SUB-06"),
    ],
)
def test_a_wrong_initial_state_is_refuted_by_its_rule(component, changes, rule):
    size = SIZES[component]
    state = next(case.state for case in STEPS if case.component == component)
    new, initial = size.new(state), [one for one in PROPERTIES if one.over_starts]
    report = prove([start_case(component, new)], initial)
    assert report.refutations == ()
    assert rule in {of for _, of, _ in report.mattered}

    wrong = start_case(component, new._replace(**changes))
    assert rule in {one.rule for one in prove([wrong], initial).refutations}


@pytest.mark.parametrize(("component", "rule"), [("network", "ALIGN-01"), ("threads", "UNAL-01")])
def test_an_initial_state_with_a_used_gate_is_refuted(component, rule):
    new = SIZES[component].new(next(case.state for case in STEPS if case.component == component))
    wrong = start_case(component, new._replace(gate=new.gate._replace(current=1)))
    initial = [one for one in PROPERTIES if one.over_starts]
    assert rule in {one.rule for one in prove([wrong], initial).refutations}


def lacking(cases):
    """The reasons why these cases are not inductive."""
    cases = list(cases)
    within = {name: size.holds for name, size in SIZES.items()}
    return proofs.induction_of(cases, [prove(cases, PROPERTIES, within=within)])[1]


def with_assumption(case, term):
    return case._replace(assumptions=(*case.assumptions, term))


def reported(proved, mattered):
    return Report(frozenset(proved), frozenset(mattered), (), 1, 1, 1)


class InThisProcess:
    """Replaces the pool of processes: it runs everything in this process."""

    def __init__(self, processes):
        self.processes = processes

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    map = staticmethod(map)
