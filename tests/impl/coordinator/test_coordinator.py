"""The coordinator of a job with two sources, one counter and one sink."""

import pytest

from impl.core import COMPONENTS, ConfigError, Coordinator, CoordinatorOptions, Task

RUN = """
job_status status=RUNNING
task_status task=a status=RUNNING
task_status task=b status=RUNNING
"""


def coordinator(**config: object):
    tasks = [{"id": "a", "source": True}, {"id": "b", "source": False}]
    return COMPONENTS["coordinator"]({"tasks": tasks, **config})


@pytest.fixture
def running(check):
    def make(**config: object):
        it = coordinator(**config)
        check(it, RUN)
        return it

    return make


def state(next_id=1, pending=None, completed=(), queued=(), status="RUNNING"):
    return {
        "status": status,
        "pending": pending or {},
        "completed": list(completed),
        "next_id": next_id,
        "queued": list(queued),
    }


@pytest.mark.rule("COORD-01")
def test_no_checkpoint_starts_while_a_task_is_not_running(check):
    it = coordinator()
    check(
        it,
        """
trigger type=checkpoint
  rejected type=checkpoint reason=NOT_ALL_REQUIRED_TASKS_RUNNING
job_status status=RUNNING
task_status task=a status=RUNNING
task_status task=b status=INITIALIZING
trigger type=savepoint
  rejected type=savepoint reason=NOT_ALL_REQUIRED_TASKS_RUNNING
""",
    )
    assert it.observe() == state()


@pytest.mark.rule("COORD-02")
@pytest.mark.rule("COORD-04")
def test_a_start_triggers_every_source_and_awaits_every_task(running, check):
    it = running()
    check(it, "trigger type=checkpoint\n  trigger_task task=a checkpoint=1 type=checkpoint")
    assert it.observe() == state(next_id=2, pending={"1": ["a", "b"]})


@pytest.mark.rule("COORD-03")
@pytest.mark.rule("COORD-11")
def test_a_checkpoint_waits_for_its_turn_and_a_savepoint_does_not(running, check):
    it = running()
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
trigger type=checkpoint
trigger type=savepoint
  trigger_task task=a checkpoint=2 type=savepoint
decline task=b checkpoint=1 reason=ASYNC_EXCEPTION
  abort checkpoint=1 reason=ASYNC_EXCEPTION
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
""",
    )
    assert it.observe() == state(next_id=3, pending={"2": ["a", "b"]}, queued=["checkpoint"])
    check(
        it,
        """
acknowledge task=a checkpoint=2
  acknowledged task=a checkpoint=2 result=SUCCESS
acknowledge task=b checkpoint=2
  acknowledged task=b checkpoint=2 result=SUCCESS
  complete checkpoint=2
  trigger_task task=a checkpoint=3 type=checkpoint
""",
    )
    assert it.observe() == state(next_id=4, pending={"3": ["a", "b"]})


@pytest.mark.rule("COORD-05")
@pytest.mark.rule("COORD-06")
def test_an_acknowledgement_counts_once(running, check):
    it = running()
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
acknowledge task=b checkpoint=1 state=b1
  acknowledged task=b checkpoint=1 result=SUCCESS
acknowledge task=b checkpoint=1 state=b2
  acknowledged task=b checkpoint=1 result=DUPLICATE
acknowledge task=z checkpoint=1 state=z1
  acknowledged task=z checkpoint=1 result=UNKNOWN
  discard state=z1
acknowledge task=b checkpoint=7 state=b7
  discard state=b7
acknowledge task=b checkpoint=7
""",
    )
    assert it.observe() == state(next_id=2, pending={"1": ["a"]})
    assert it.collected(1) == {"b": "b1"}
    assert it.awaiting(1) == ("a",)


@pytest.mark.rule("COORD-07")
@pytest.mark.rule("COORD-08")
@pytest.mark.rule("SUB-02")
@pytest.mark.rule("SUB-03")
@pytest.mark.rule("SUB-04")
def test_the_effects_of_a_completion_have_their_order(running, check):
    it = running(max_concurrent=5)
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
acknowledge task=a checkpoint=1
  acknowledged task=a checkpoint=1 result=SUCCESS
acknowledge task=b checkpoint=1
  acknowledged task=b checkpoint=1 result=SUCCESS
  complete checkpoint=1
  notify_complete task=a checkpoint=1
  notify_complete task=b checkpoint=1
trigger type=checkpoint
  trigger_task task=a checkpoint=2 type=checkpoint
trigger type=savepoint
  trigger_task task=a checkpoint=3 type=savepoint
trigger type=checkpoint
  trigger_task task=a checkpoint=4 type=checkpoint
trigger type=checkpoint
  trigger_task task=a checkpoint=5 type=checkpoint
acknowledge task=b checkpoint=2 state=old
  acknowledged task=b checkpoint=2 result=SUCCESS
acknowledge task=b checkpoint=5 state=new
  acknowledged task=b checkpoint=5 result=SUCCESS
acknowledge task=b checkpoint=4
  acknowledged task=b checkpoint=4 result=SUCCESS
acknowledge task=a checkpoint=4
  acknowledged task=a checkpoint=4 result=SUCCESS
  discard checkpoint=1
  complete checkpoint=4
  abort checkpoint=2 reason=CHECKPOINT_SUBSUMED
  discard state=old
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
  notify_complete task=a checkpoint=4
  notify_subsumed task=a checkpoint=1
  notify_complete task=b checkpoint=4
  notify_subsumed task=b checkpoint=1
""",
    )
    assert it.observe() == state(next_id=6, pending={"3": ["a", "b"], "5": ["a"]}, completed=[4])


@pytest.mark.rule("SUB-05")
def test_a_completed_savepoint_subsumes_nothing(running, check):
    it = running(max_concurrent=2)
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
trigger type=savepoint
  trigger_task task=a checkpoint=2 type=savepoint
acknowledge task=a checkpoint=2
  acknowledged task=a checkpoint=2 result=SUCCESS
acknowledge task=b checkpoint=2
  acknowledged task=b checkpoint=2 result=SUCCESS
  complete checkpoint=2
""",
    )
    assert it.observe() == state(next_id=3, pending={"1": ["a", "b"]})


@pytest.mark.rule("COORD-09")
def test_a_decline_aborts_discards_and_notifies_every_task(running, check):
    it = running()
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
acknowledge task=a checkpoint=1 state=a1
  acknowledged task=a checkpoint=1 result=SUCCESS
decline task=b checkpoint=1 reason=SUBSUMED
  abort checkpoint=1 reason=SUBSUMED
  discard state=a1
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
decline task=b checkpoint=1 reason=SUBSUMED
acknowledge task=b checkpoint=1 state=b1
  discard state=b1
""",
    )
    assert it.observe() == state(next_id=2)


@pytest.mark.rule("COORD-10")
def test_a_checkpoint_expires_at_its_deadline_and_the_next_starts_then(running, check):
    it = running(timeout_ms=100)
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
trigger type=checkpoint
advance ms=99
advance ms=1
  abort checkpoint=1 reason=CHECKPOINT_EXPIRED
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
  trigger_task task=a checkpoint=2 type=checkpoint
advance ms=50
trigger type=savepoint
  trigger_task task=a checkpoint=3 type=savepoint
advance ms=-1
  refused
advance ms=100
  abort checkpoint=2 reason=CHECKPOINT_EXPIRED
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
  abort checkpoint=3 reason=CHECKPOINT_EXPIRED
  notify_abort task=a checkpoint=3
  notify_abort task=b checkpoint=3
""",
    )
    assert it.observe() == state(next_id=4)


@pytest.mark.rule("COORD-10")
@pytest.mark.rule("COORD-11")
def test_within_a_long_time_each_expires_at_its_own_moment(running, check):
    it = running(timeout_ms=100)
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
trigger type=checkpoint
trigger type=checkpoint
advance ms=250
  abort checkpoint=1 reason=CHECKPOINT_EXPIRED
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
  trigger_task task=a checkpoint=2 type=checkpoint
  abort checkpoint=2 reason=CHECKPOINT_EXPIRED
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
  trigger_task task=a checkpoint=3 type=checkpoint
""",
    )
    assert it.observe() == state(next_id=4, pending={"3": ["a", "b"]})
    assert (it.now, it.next_deadline) == (250, 300)


@pytest.mark.rule("COORD-12")
def test_leaving_running_rejects_waiting_requests_and_aborts_pending_checkpoints(running, check):
    it = running(max_concurrent=2)
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
trigger type=savepoint
  trigger_task task=a checkpoint=2 type=savepoint
trigger type=checkpoint
acknowledge task=b checkpoint=1 state=b1
  acknowledged task=b checkpoint=1 result=SUCCESS
restore
  refused
fail_tasks tasks=["b","z"]
  refused
fail_tasks tasks=["b"]
  rejected type=checkpoint reason=COORDINATOR_SUSPEND
  abort checkpoint=1 reason=COORDINATOR_SUSPEND
  discard state=b1
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
  abort checkpoint=2 reason=COORDINATOR_SUSPEND
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
restore
  restored checkpoint=null
job_status status=RUNNING
trigger type=checkpoint
  rejected type=checkpoint reason=NOT_ALL_REQUIRED_TASKS_RUNNING
task_status task=b status=RUNNING
trigger type=checkpoint
  trigger_task task=a checkpoint=3 type=checkpoint
""",
    )
    assert it.observe() == state(next_id=4, pending={"3": ["a", "b"]})


@pytest.mark.rule("COORD-01")
@pytest.mark.rule("COORD-11")
def test_a_request_waits_also_without_running_tasks_and_is_rejected_at_its_turn(running, check):
    it = running()
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
trigger type=checkpoint
task_status task=b status=CANCELED
trigger type=checkpoint
decline task=b checkpoint=1 reason=TASK_NOT_READY
  abort checkpoint=1 reason=TASK_NOT_READY
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
  rejected type=checkpoint reason=NOT_ALL_REQUIRED_TASKS_RUNNING
  rejected type=checkpoint reason=NOT_ALL_REQUIRED_TASKS_RUNNING
""",
    )
    assert it.observe() == state(next_id=2)


@pytest.mark.rule("ONCE-04")
def test_a_restore_answers_the_newest_retained_checkpoint(check):
    it = Coordinator(CoordinatorOptions([Task("a", True)], retain=2), first_id=8, completed=(5, 6, 7))
    check(it, "restore\n  restored checkpoint=7")
    assert it.observe() == state(next_id=8, completed=[6, 7], status="CREATED")


def test_events_outside_the_protocol_change_nothing(running, check):
    it = running()
    check(
        it,
        """
trigger type=backup
  refused
task_status task=z status=RUNNING
  refused
acknowledge task=a checkpoint=-1
  refused
fail_tasks tasks=b
  refused
restore checkpoint=1
  refused
""",
    )
    assert it.observe() == state()


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"tasks": []},
        {"tasks": [{"id": "a"}, {"id": "a"}]},
        {"tasks": [{"name": "a"}]},
        {"tasks": "a"},
        {"tasks": [{"id": "a", "source": True}], "timeout_ms": 0},
        {"tasks": [{"id": "a", "source": True}], "max_concurrent": 0},
        {"tasks": [{"id": "a", "source": True}], "retain": "1"},
        {"tasks": [{"id": "a", "source": True, "colour": "red"}]},
        {"tasks": [{"id": "a", "source": True}], "profile": "1.8"},
        {"tasks": [{"id": "a", "source": True}], "interval_ms": 0},
        {"tasks": [{"id": "a", "source": True}], "initial_delay_ms": -1},
        {"tasks": [{"id": "a", "source": True}], "min_pause_ms": "1"},
        {"tasks": [{"id": "a", "source": True}], "tolerable_failures": -2},
        {"tasks": [{"id": "a", "source": True}], "unaligned": 1},
        {"tasks": [{"id": "a", "source": True}], "externalized": "perhaps"},
        {"tasks": [{"id": "a", "source": True}], "hooks": "h"},
        {"tasks": [{"id": "a", "source": True}], "hooks": ["h", "h"]},
        {"tasks": [{"id": "a", "source": True}], "profile": "1.9", "operator_coordinators": ["c"]},
        {"tasks": [{"id": "a", "source": True}], "profile": "1.13", "finished_tasks": True},
    ],
)
def test_a_bad_configuration_is_refused(config):
    with pytest.raises(ConfigError):
        COMPONENTS["coordinator"](config)
