"""The prover shows rules for every id; it shows a state and an event if a rule does not hold."""

from model.checker.prove import Watched, fields_read, prove
from model.coordinator.proofs.coordinator import coordinator_cases, request_cases
from model.gate.aligned import Gate
from model.gate.events import Abort, Barrier
from model.gate.proofs.aligned import gate_cases
from model.gate.proofs.modes import mode_cases
from model.properties import PROPERTIES, of_component
from model.registry import Property
from model.store.proofs.store import store_cases
from model.subtask.proofs.subtask import subtask_cases


def test_every_rule_of_the_gate_holds_for_every_id_with_two_channels():
    report = prove(gate_cases(2), PROPERTIES)

    assert report.refutations == ()
    assert report.proved == {known.rule for known in of_component("gate")}


def test_every_rule_of_the_store_holds_for_every_id_and_type():
    report = prove(store_cases(1, 2), PROPERTIES)

    assert report.refutations == ()
    assert report.proved == {"SUB-06", "SUB-07", "SUB-08", "SUB-09", "SUB-10"}


def test_subsumption_holds_for_every_id_with_two_pending_checkpoints():
    report = prove(coordinator_cases(2, 2, 0, 1, 2), PROPERTIES)

    assert report.refutations == ()
    assert {"SUB-02", "SUB-03", "SUB-04", "SUB-05", "COORD-08"} <= report.proved


def test_requests_of_any_urgency_wait_in_their_order():
    report = prove([*request_cases(2, 1), *request_cases(3, 1)], PROPERTIES)

    assert report.refutations == ()
    assert {"COORD-03", "COORD-11", "COORD-13", "COORD-14"} <= report.proved


def test_the_steps_of_a_subtask_hold_for_every_id():
    report = prove(subtask_cases(1, 1, 2), PROPERTIES)

    assert report.refutations == ()


def test_a_false_property_is_refuted_by_a_state_and_an_event_that_show_it():
    def never_aborts(before: Gate, event: object, effects: tuple, after: Gate) -> bool:
        return not any(type(effect) is Abort for effect in effects)

    false = Property("ALIGN-03", "gate", True, never_aborts)
    report = prove(gate_cases(2), (*of_component("gate"), false))

    refuted = [found for found in report.refutations if found.property == "never_aborts"]
    assert refuted
    assert "ALIGN-03" not in report.proved
    barriers = [found for found in refuted if type(found.event) is Barrier]
    assert barriers
    assert all(found.state.pending and found.event.checkpoint > found.state.current for found in barriers)


def test_without_its_invariant_a_rule_is_not_inductive():
    """The check can fail: a gate in a state that violates the invariant completes a finished checkpoint."""
    steps = tuple(known for known in of_component("gate") if known.over_steps)
    report = prove(gate_cases(1), steps)

    assert report.refutations


def test_the_fields_that_a_property_reads_are_noted_whatever_their_names():
    """The name of a field may be that of a method of the symbolic record, such as `read` of threads."""
    (threads, *_) = (case.state for case in mode_cases(1) if case.component == "threads")
    watched = Watched(threads)
    assert (watched.read, watched.gate) == (threads.read, threads.gate)
    assert fields_read(watched) == {"read", "gate"}
    assert watched == threads
    assert fields_read(watched) == {*threads._fields}
