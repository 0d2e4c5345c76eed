"""A suite sends its sequences to a process without waiting for each answer."""

import pytest

from conformance.drive.lockstep import Played
from conformance.drive.plan import Plan, for_offer
from conformance.suites import play, sequences

PINNED = {"checkpoints_after_tasks_finish": True}


@pytest.fixture
def played(start):
    """A function that plays the suites. Returns guarantees, all outcomes, and the number of processes."""

    def run(how):
        adapter = start("fake_gates", how)
        plan = for_offer(
            Plan(0, 1, pinned=PINNED, extra_states=0), "gate", adapter.hello().components["gate"]
        )
        total = Played()
        guarantees = play.play_suites("gate", adapter, plan, total)
        return guarantees, total, adapter.starts

    return run


def test_all_sequences_are_sent_to_one_process(played, monkeypatch):
    monkeypatch.setattr(sequences, "drive", None)  # a step-by-step run of a case would fail
    (guarantee,), total, starts = played("right")
    assert (guarantee.states, guarantee.extra) == (11, 0)
    assert (guarantee.sequences, guarantee.events) == (total.cases, total.steps)
    assert total.fired["ALIGN-04"] > 100
    assert total.tried.highest_id == 21
    assert starts == 1


def test_a_wrong_state_in_the_middle_of_every_sequence_is_found(played):
    (guarantee,), total, _ = played("blinks")
    assert guarantee.extra is None
    assert len(total.divergence.events) == 1


def test_a_process_that_cannot_read_ahead_is_played_step_by_step(played):
    (guarantee,), total, starts = played("reads-one")
    assert total.is_sound
    assert guarantee.extra == 0
    assert starts == 2
