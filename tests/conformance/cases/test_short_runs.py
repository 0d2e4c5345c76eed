"""The short runs refuse defects that random cases rarely find."""

from dataclasses import replace

import pytest

from conformance.adapters.choose import ours
from conformance.drive.examine import short_runs
from conformance.drive.loop import drive
from conformance.drive.plan import Plan
from impl.core.coordinator.failures import CheckpointFailureManager
from impl.core.gate.alternating import AlternatingGate, Phase
from impl.core.gate.polled_gate import Polled, PolledGate
from impl.core.gate.polled_unaligned_gate import PolledUnalignedGate
from impl.core.gate.unaligned_events import Announcement, BarrierWithOptions

count, handle, applied = AlternatingGate._count, PolledUnalignedGate.handle, PolledGate.apply


def options_of_the_last_barrier(patched):
    def counted(gate, channel, options, *, sender_stops):
        if gate._phase in (Phase.WAITING, Phase.ALIGNING):
            gate._begun_by = options
        count(gate, channel, options, sender_stops=sender_stops)

    patched.setattr(AlternatingGate, "_count", counted)


def time_of_delivery(patched):
    def handled(gate, event):
        return (
            gate._arrive(event.channel, event) if is_optioned(event) and legal(event) else handle(gate, event)
        )

    patched.setattr(PolledUnalignedGate, "handle", handled)


def items_behind_an_end_that_waits(patched):
    patched.setattr(Polled, "_require_sendable", lambda gate, channel: gate._gate.require_open(channel))


def savepoints_refused_at_delivery(patched):
    def handled(gate, event):
        if is_optioned(event) and not legal(event):
            present = gate._gate._now if event.timestamp is None else event.timestamp
            return gate._arrive(event.channel, replace(event, timestamp=present))
        return handle(gate, event)

    patched.setattr(PolledUnalignedGate, "handle", handled)


def time_in_exactly_once(patched):
    def apply(gate, event):
        return [] if event["kind"] in ("announce", "advance") else applied(gate, event)

    patched.setattr(PolledGate, "apply", apply)


def is_optioned(event):
    return isinstance(event, BarrierWithOptions | Announcement)


def legal(event):
    return not (event.savepoint and event.alignment.name == "UNALIGNED")


MISREADINGS = (
    options_of_the_last_barrier,
    time_of_delivery,
    items_behind_an_end_that_waits,
    savepoints_refused_at_delivery,
    time_in_exactly_once,
)


@pytest.mark.parametrize("misread", MISREADINGS)
def test_the_runs_for_all_gates_refuse_a_misreading(monkeypatch, misread):
    misread(monkeypatch)

    assert drive(short_runs("gate", Plan(0, 1)), ours("impl")).divergence is not None


def test_the_success_of_an_older_savepoint_clears_no_failures(monkeypatch):
    monkeypatch.setattr(CheckpointFailureManager, "completed", lambda manager, _: manager._clear())

    assert "COORD-17" in drive(short_runs("coordinator", Plan(0, 1)), ours("impl")).divergence.rules


@pytest.mark.parametrize(("component", "cases"), [("gate", 200), ("coordinator", 20)])
def test_the_bundled_implementation_is_right_in_these_runs(component, cases):
    played = drive(short_runs(component, Plan(0, 1)), ours("impl"))

    assert played.is_sound
    assert played.cases > cases
