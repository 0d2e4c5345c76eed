"""Decisions that the runtime adds to the protocol: when a job fails, and when to request a checkpoint."""

import pytest

from impl.core import CheckpointFailureManager, ConfigError
from impl.core.coordinator.events import CHECKPOINT_DECLINED, CHECKPOINT_EXPIRED, CHECKPOINT_SUBSUMED
from impl.core.coordinator.failures import UNLIMITED
from impl.core.effects import ASYNC_EXCEPTION, SUBSUMED
from impl.spark.coordination.periodic_trigger import Decision, PeriodicTrigger


def test_more_failures_in_a_row_than_tolerated_fail_the_job():
    it = CheckpointFailureManager(tolerable=2)
    command = [
        it.failed(1, CHECKPOINT_DECLINED),
        it.failed(2, ASYNC_EXCEPTION),
        it.failed(3, CHECKPOINT_EXPIRED),
        it.failed(4, CHECKPOINT_EXPIRED),
    ]
    assert command == [False, False, True, False]
    assert it.failures == 1


def test_one_checkpoint_counts_once_until_the_counter_is_cleared():
    it = CheckpointFailureManager(tolerable=1)
    assert [it.failed(1, CHECKPOINT_DECLINED) for _ in range(5)] == [False] * 5
    it = CheckpointFailureManager(tolerable=0)
    assert [it.failed(1, CHECKPOINT_DECLINED) for _ in range(2)] == [True, True]


def test_failures_that_the_job_did_not_cause_never_count():
    it = CheckpointFailureManager(tolerable=0)
    assert not it.failed(1, SUBSUMED)
    assert not it.failed(2, CHECKPOINT_SUBSUMED)
    assert not it.failed(3, "TASK_NOT_READY")
    assert it.failures == 0


def test_only_the_highest_success_clears_and_older_failures_are_ignored():
    it = CheckpointFailureManager(tolerable=1)
    it.completed(5)
    assert not it.failed(6, CHECKPOINT_DECLINED)
    it.completed(4)
    assert it.failures == 1
    assert not it.failed(3, CHECKPOINT_DECLINED)
    assert it.failed(7, CHECKPOINT_DECLINED)
    assert not it.failed(8, CHECKPOINT_DECLINED)
    it.completed(9)
    assert it.failures == 0


def test_any_number_may_be_tolerated_and_less_than_none_may_not():
    it = CheckpointFailureManager(UNLIMITED)
    assert not any(it.failed(number, CHECKPOINT_EXPIRED) for number in range(100))
    with pytest.raises(ConfigError, match="tolerable must be -1 or more, got -2"):
        CheckpointFailureManager(-2)


def test_a_checkpoint_every_interval_after_the_first_delay():
    it = PeriodicTrigger(100, initial_delay_ms=30)
    assert it.poll(5) == Decision(False, None)
    assert it.start(1000) == 1030
    assert it.poll(1029) == Decision(False, 1030)
    assert it.poll(1030) == Decision(True, 1130)
    assert it.poll(1130) == Decision(True, 1230)
    it.stop()
    assert it.poll(1230) == Decision(False, None)


def test_missed_slots_are_not_made_up_for():
    it = PeriodicTrigger(100)
    it.start(0)
    assert it.poll(350) == Decision(True, 400)
    assert it.poll(350) == Decision(False, 400)


def test_the_pause_is_measured_from_the_completion_and_moves_the_slot_to_its_end():
    it = PeriodicTrigger(100, min_pause_ms=80)
    it.start(0)
    assert it.poll(0) == Decision(True, 100)
    it.completed(70)
    assert it.poll(100) == Decision(False, 150)
    assert it.poll(150) == Decision(True, 250)


def test_the_interval_is_raised_to_the_pause():
    assert PeriodicTrigger(10, min_pause_ms=500).interval_ms == 500


def test_a_slot_that_finds_a_request_waiting_is_left_out():
    it = PeriodicTrigger(100)
    it.start(0)
    assert it.poll(0, waiting=True) == Decision(False, 100)
    assert it.poll(100) == Decision(True, 200)


def test_without_an_interval_a_started_schedule_makes_no_request():
    it = PeriodicTrigger(None, min_pause_ms=80)
    assert it.interval_ms is None
    assert it.start(0) is None
    it.completed(70)
    assert it.poll(10**9) == Decision(False, None)


@pytest.mark.parametrize("options", [{"interval_ms": 0}, {"interval_ms": 1, "min_pause_ms": -1}])
def test_a_bad_schedule_is_refused(options):
    with pytest.raises(ConfigError):
        PeriodicTrigger(**options)
