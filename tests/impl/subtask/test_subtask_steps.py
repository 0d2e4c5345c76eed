"""The snapshot steps of one subtask."""

import pytest

from impl.core import COMPONENTS, ConfigError, ProtocolError


def subtask(max_concurrent: int = 1, **options):
    return COMPONENTS["subtask"]({"max_concurrent": max_concurrent, **options})


def state(last=-1, aborted=(), running=(), completed=-1, running_task=True, highest_aborted=-1):
    return {
        "running_task": running_task,
        "last": last,
        "aborted": list(aborted),
        "running": list(running),
        "completed": completed,
        "highest_aborted": highest_aborted,
    }


@pytest.mark.rule("TASK-01")
@pytest.mark.rule("TASK-07")
def test_the_barrier_leaves_before_the_snapshot_which_is_acknowledged_once(check):
    it = subtask()
    check(
        it,
        """
checkpoint checkpoint=3
  broadcast_barrier checkpoint=3
  snapshot checkpoint=3
async_done checkpoint=3
  acknowledge checkpoint=3
async_done checkpoint=3
async_failed checkpoint=3
""",
    )
    assert it.observe() == state(last=3)


@pytest.mark.rule("TASK-02")
def test_an_out_of_order_trigger_is_ignored_and_its_abort_forgotten(check):
    it = subtask()
    check(
        it,
        """
abort_notification checkpoint=2 completed=-1
  notify_abort checkpoint=2
abort_on_barrier checkpoint=2 reason=SUBSUMED
  decline checkpoint=2 reason=SUBSUMED
  broadcast_cancel checkpoint=2
""",
    )
    assert it.observe() == state(last=2, aborted=(2,), highest_aborted=2)
    check(it, "checkpoint checkpoint=2")
    assert it.observe() == state(last=2, highest_aborted=2)


@pytest.mark.rule("TASK-03")
def test_a_trigger_of_an_aborted_checkpoint_cancels_downstream(check):
    it = subtask()
    check(
        it,
        """
abort_notification checkpoint=1 completed=-1
  notify_abort checkpoint=1
checkpoint checkpoint=1
  broadcast_cancel checkpoint=1
checkpoint checkpoint=1
""",
    )
    assert it.observe() == state(last=1, highest_aborted=1)


@pytest.mark.rule("TASK-04")
def test_an_abort_at_the_gate_declines_then_cancels_and_prunes_from_the_oldest(check):
    it = subtask(max_concurrent=4)
    check(
        it,
        """
abort_notification checkpoint=2 completed=-1
  notify_abort checkpoint=2
abort_notification checkpoint=6 completed=-1
  notify_abort checkpoint=6
abort_notification checkpoint=3 completed=-1
  notify_abort checkpoint=3
abort_on_barrier checkpoint=4 reason=ON_CANCELLATION_BARRIER
  decline checkpoint=4 reason=ON_CANCELLATION_BARRIER
  broadcast_cancel checkpoint=4
abort_on_barrier checkpoint=1 reason=SUBSUMED
  decline checkpoint=1 reason=SUBSUMED
  broadcast_cancel checkpoint=1
""",
    )
    assert it.observe() == state(last=4, aborted=(6, 3), highest_aborted=6)
    check(
        it,
        """
abort_on_barrier checkpoint=7 reason=SUBSUMED
  decline checkpoint=7 reason=SUBSUMED
  broadcast_cancel checkpoint=7
""",
    )
    assert it.observe() == state(last=7, highest_aborted=6)


@pytest.mark.rule("TASK-05")
def test_an_abort_notification_stops_a_running_snapshot_and_remembers_future_ids(check):
    it = subtask(max_concurrent=2)
    check(
        it,
        """
checkpoint checkpoint=2
  broadcast_barrier checkpoint=2
  snapshot checkpoint=2
abort_notification checkpoint=2 completed=-1
  cancel_async checkpoint=2
  notify_abort checkpoint=2
async_done checkpoint=2
abort_notification checkpoint=1 completed=-1
  notify_abort checkpoint=1
abort_notification checkpoint=4 completed=-1
  notify_abort checkpoint=4
abort_notification checkpoint=4 completed=-1
  notify_abort checkpoint=4
""",
    )
    assert it.observe() == state(last=2, aborted=(4,), highest_aborted=4)


@pytest.mark.rule("TASK-06")
def test_completions_are_notified_in_ascending_order_only(check):
    it = subtask()
    check(
        it,
        """
complete_notification checkpoint=3
  notify_complete checkpoint=3
complete_notification checkpoint=2
complete_notification checkpoint=3
abort_notification checkpoint=6 completed=5
  notify_complete checkpoint=5
  notify_abort checkpoint=6
abort_notification checkpoint=7 completed=5
  notify_abort checkpoint=7
""",
    )
    assert it.observe() == state(aborted=(7,), completed=5, highest_aborted=7)


@pytest.mark.rule("TASK-06")
@pytest.mark.parametrize("profile", ["1.14", "1.17", "2.3"])
def test_a_restored_task_does_not_pass_on_the_completion_of_its_checkpoint(check, profile):
    it = subtask(restored=5, profile=profile)
    assert it.observe() == state(completed=5)
    check(
        it,
        """
abort_notification checkpoint=7 completed=5
  notify_abort checkpoint=7
complete_notification checkpoint=5
complete_notification checkpoint=4
complete_notification checkpoint=6
  notify_complete checkpoint=6
""",
    )


@pytest.mark.rule("TASK-17")
@pytest.mark.parametrize("profile", ["1.9", "1.10", "1.11", "1.13"])
def test_up_to_1_13_a_restored_task_passes_on_every_completion(check, profile):
    it = subtask(restored=5, profile=profile)
    assert it.observe() == state()
    check(it, "complete_notification checkpoint=5\n  notify_complete checkpoint=5")
    assert it.observe() == state()


@pytest.mark.parametrize(
    ("restored", "what"), [(-2, "checkpoint id, or -1"), (True, "an int"), ("5", "an int")]
)
def test_an_invalid_id_cannot_be_restored(restored, what):
    with pytest.raises(ConfigError, match=what):
        subtask(restored=restored)


@pytest.mark.rule("TASK-08")
def test_a_failed_snapshot_is_declined_once(check):
    it = subtask()
    check(
        it,
        """
checkpoint checkpoint=1
  broadcast_barrier checkpoint=1
  snapshot checkpoint=1
async_failed checkpoint=1
  decline checkpoint=1 reason=ASYNC_EXCEPTION
async_failed checkpoint=1
async_done checkpoint=1
""",
    )
    assert it.observe() == state(last=1)


@pytest.mark.rule("TASK-09")
def test_an_abort_beyond_the_bound_removes_the_first_remembered_one(check):
    it = subtask(max_concurrent=2)
    check(
        it,
        """
abort_notification checkpoint=9 completed=-1
  notify_abort checkpoint=9
abort_notification checkpoint=4 completed=-1
  notify_abort checkpoint=4
abort_notification checkpoint=5 completed=-1
  notify_abort checkpoint=5
""",
    )
    assert it.observe() == state(aborted=(4, 5), highest_aborted=9)


@pytest.mark.rule("TASK-10")
def test_a_task_that_does_not_run_declines_and_keeps_its_state(check):
    it = subtask()
    check(
        it,
        """
status running=false
checkpoint checkpoint=4
  broadcast_cancel checkpoint=4
  decline checkpoint=4 reason=TASK_NOT_READY
abort_notification checkpoint=5 completed=3
complete_notification checkpoint=3
""",
    )
    assert it.observe() == state(running_task=False, completed=3)


def test_events_outside_the_protocol_change_nothing(check):
    it = subtask()
    check(
        it,
        """
checkpoint checkpoint=-1
  refused
abort_notification checkpoint=1
  refused
abort_notification checkpoint=1 completed=-2
  refused
status running=1
  refused
snapshot checkpoint=1
  refused
""",
    )
    assert it.observe() == state()


@pytest.mark.rule("TASK-09")
@pytest.mark.parametrize(("profile", "remembered"), [("1.11", 128), ("1.15", 128), ("1.17", 3), ("2.3", 3)])
def test_how_many_aborts_are_remembered_depends_on_the_release(profile, remembered):
    it = COMPONENTS["subtask"]({"max_concurrent": 3, "profile": profile})
    for checkpoint in range(1, 131):
        it.apply({"kind": "abort_notification", "checkpoint": checkpoint, "completed": -1})
    assert it.observe()["aborted"] == list(range(131 - remembered, 131))


@pytest.mark.rule("TASK-19")
def test_an_id_far_below_the_highest_abort_counts_as_aborted(check):
    it = subtask(max_concurrent=1)
    check(
        it,
        """
abort_notification checkpoint=1 completed=-1
  notify_abort checkpoint=1
abort_notification checkpoint=3 completed=-1
  notify_abort checkpoint=3
checkpoint checkpoint=1
  broadcast_cancel checkpoint=1
checkpoint checkpoint=2
  broadcast_barrier checkpoint=2
  snapshot checkpoint=2
""",
    )


@pytest.mark.rule("TASK-13")
def test_a_snapshot_that_throws_fails_the_task_permanently():
    it = subtask()
    barrier, fail = it.apply({"kind": "checkpoint", "checkpoint": 1, "fails": True})
    assert (barrier["kind"], fail["kind"]) == ("broadcast_barrier", "fail")
    with pytest.raises(ProtocolError, match="accepts no event"):
        it.apply({"kind": "async_done", "checkpoint": 1})


@pytest.mark.rule("TASK-20")
def test_a_task_that_has_ended_stops_its_snapshots(check):
    it = subtask(max_concurrent=2)
    check(
        it,
        """
checkpoint checkpoint=1
  broadcast_barrier checkpoint=1
  snapshot checkpoint=1
checkpoint checkpoint=2
  broadcast_barrier checkpoint=2
  snapshot checkpoint=2
close
  cancel_async checkpoint=1
  cancel_async checkpoint=2
async_done checkpoint=1
""",
    )
