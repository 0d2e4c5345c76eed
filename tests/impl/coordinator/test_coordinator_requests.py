"""When a request may start a checkpoint: the queue, the pause, the scheduler, and the stop of the job."""

import pytest

from impl.core import CheckpointType
from impl.core.coordinator.requests import QUEUE_LIMIT, Choice, PostponedRequest, Request, RequestQueue
from impl.core.errors import ProtocolError, UnsupportedError

CHECKPOINT, SAVEPOINT, STOP = CheckpointType.CHECKPOINT, CheckpointType.SAVEPOINT, CheckpointType.STOP


def _request(
    requested: CheckpointType, *, forced: bool = False, periodic: bool = False, number: int = 0
) -> Request:
    return Request(requested, forced, periodic, own=False, number=number)


@pytest.mark.rule("COORD-11")
def test_the_queue_orders_savepoints_before_forced_before_user_requests():
    command = [
        _request(CHECKPOINT, periodic=True, number=1),
        _request(CHECKPOINT, number=2),
        _request(CHECKPOINT, forced=True, periodic=True, number=3),
        _request(SAVEPOINT, number=4),
        _request(STOP, forced=True, number=5),
        _request(CHECKPOINT, number=6),
    ]
    queue = RequestQueue()
    for request in command:
        assert queue.join(request) is None
    assert [one.number for one in queue.waiting] == [5, 4, 3, 2, 6, 1]
    assert queue.clear() == tuple(command[number - 1] for number in (5, 4, 3, 2, 6, 1))
    assert queue.waiting == ()


@pytest.mark.rule("COORD-03")
def test_at_the_limit_of_pending_checkpoints_only_a_forced_head_starts():
    queue = RequestQueue()
    assert queue.choose(has_capacity=True, pausing=False) == Choice()
    queue.join(_request(CHECKPOINT, number=1))
    assert queue.choose(has_capacity=False, pausing=False) == Choice()
    forced = _request(SAVEPOINT, forced=True, number=2)
    queue.join(forced)
    assert queue.choose(has_capacity=False, pausing=True) == Choice(served=forced)
    queue.join(_request(SAVEPOINT, number=3))
    assert queue.choose(has_capacity=False, pausing=False) == Choice()


def test_only_periodic_requests_keep_the_pause():
    queue = RequestQueue()
    manual, periodic = _request(CHECKPOINT, number=1), _request(CHECKPOINT, periodic=True, number=2)
    queue.join(manual)
    queue.join(periodic)
    assert queue.choose(has_capacity=True, pausing=True) == Choice(served=manual)
    assert queue.choose(has_capacity=True, pausing=True) == Choice(too_early=periodic)
    assert queue.waiting == ()


def test_a_full_queue_rejects_periodic_requests_first(job):
    queue = RequestQueue(limit=2)
    first, last = _request(CHECKPOINT, number=1), _request(CHECKPOINT, periodic=True, number=2)
    assert (queue.join(first), queue.join(last)) == (None, None)
    newer = _request(CHECKPOINT, number=3)
    assert queue.join(newer) == last
    assert queue.waiting == (first, newer)
    savepoint = _request(SAVEPOINT, number=4)
    assert queue.join(savepoint) == savepoint
    it = job()
    for _ in range(QUEUE_LIMIT + 1):
        assert it.trigger(CHECKPOINT)[1:] == ()
    assert [effect.wire()["reason"] for effect in it.trigger(CHECKPOINT)] == ["TOO_MANY_CHECKPOINT_REQUESTS"]
    assert len(it.waiting) == QUEUE_LIMIT


def test_without_a_queue_a_request_starts_is_rejected_or_is_postponed():
    request_slot = PostponedRequest()
    wish = _request(CHECKPOINT)
    assert request_slot.refusal(wish, has_capacity=True, pausing=False) is None
    assert request_slot.refusal(wish, has_capacity=True, pausing=True) == "MINIMUM_TIME_BETWEEN_CHECKPOINTS"
    assert request_slot.refusal(wish, has_capacity=False, pausing=True) == "TOO_MANY_CONCURRENT_CHECKPOINTS"
    assert request_slot.refusal(wish, has_capacity=True, pausing=False) == "ALREADY_QUEUED"
    assert request_slot.refusal(_request(SAVEPOINT, forced=True), has_capacity=False, pausing=True) is None
    assert (request_slot.take(), request_slot.take()) == (True, False)


def test_the_scheduler_requests_every_interval_and_within_the_pause_at_its_end(job, check):
    it = job(interval_ms=100, initial_delay_ms=30, min_pause_ms=90, profile="1.20")
    check(
        it,
        """
advance ms=29
advance ms=1
  trigger_task task=a checkpoint=1 type=checkpoint
acknowledge task=a checkpoint=1
  acknowledged task=a checkpoint=1 result=SUCCESS
advance ms=95
acknowledge task=b checkpoint=1
  acknowledged task=b checkpoint=1 result=SUCCESS
  complete checkpoint=1
  notify_complete task=a checkpoint=1
  notify_complete task=b checkpoint=1
advance ms=89
trigger type=checkpoint periodic=true
  rejected type=checkpoint reason=MINIMUM_TIME_BETWEEN_CHECKPOINTS
trigger type=checkpoint
  trigger_task task=a checkpoint=2 type=checkpoint
decline task=b checkpoint=2 reason=SUBSUMED
  abort checkpoint=2 reason=SUBSUMED
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
advance ms=1
  trigger_task task=a checkpoint=3 type=checkpoint
advance ms=100
""",
    )
    assert (it.now, it.observe()["queued"]) == (315, ["checkpoint"])


def test_the_scheduler_runs_while_the_job_runs_and_its_tasks_run_or_have_finished(job, check):
    it = job(interval_ms=100, min_pause_ms=40)
    check(
        it,
        """
advance ms=100
  trigger_task task=a checkpoint=1 type=checkpoint
task_status task=b status=CANCELING
  abort checkpoint=1 reason=COORDINATOR_SUSPEND
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
advance ms=1000
trigger type=checkpoint periodic=true
  rejected type=checkpoint reason=PERIODIC_SCHEDULER_SHUTDOWN
task_status task=b status=RUNNING
advance ms=39
advance ms=1
  trigger_task task=a checkpoint=2 type=checkpoint
task_status task=b status=FINISHED
job_status status=RUNNING
job_status status=FAILING
  abort checkpoint=2 reason=COORDINATOR_SUSPEND
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
""",
    )


def test_up_to_1_20_the_job_alone_starts_the_scheduler_each_time_with_the_whole_delay(job, check):
    it = job(interval_ms=100, min_pause_ms=40, profile="1.20")
    check(
        it,
        """
advance ms=100
  trigger_task task=a checkpoint=1 type=checkpoint
task_status task=b status=CANCELING
job_status status=RESTARTING
  abort checkpoint=1 reason=COORDINATOR_SUSPEND
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
job_status status=RUNNING
advance ms=99
task_status task=b status=RUNNING
advance ms=1
  trigger_task task=a checkpoint=2 type=checkpoint
""",
    )


def test_a_stop_ends_waiting_and_pending_checkpoints_and_halts_the_scheduler(job, check):
    it = job(interval_ms=100, profile="1.20")
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
trigger type=checkpoint
trigger type=savepoint drain=true
  fail error=IllegalArgumentException
trigger type=stop drain=true
  rejected type=checkpoint reason=COORDINATOR_SUSPEND
  abort checkpoint=1 reason=COORDINATOR_SUSPEND
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
  trigger_task task=a checkpoint=2 type=stop
advance ms=1000
trigger type=checkpoint periodic=true
decline task=b checkpoint=2 reason=TASK_CLOSING
  abort checkpoint=2 reason=TASK_CLOSING
  fail_job reason=TASK_CLOSING
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
  rejected type=checkpoint reason=PERIODIC_SCHEDULER_SHUTDOWN
advance ms=1000
job_status status=RESTARTING
job_status status=RUNNING
advance ms=100
  trigger_task task=a checkpoint=3 type=checkpoint
""",
    )


def test_in_1_9_a_completion_repeats_a_postponed_request_and_an_abort_drops_it(job, check):
    it = job(interval_ms=100, profile="1.9")
    check(
        it,
        """
advance ms=100
  trigger_task task=a checkpoint=1 type=checkpoint
trigger type=checkpoint
  rejected type=checkpoint reason=TOO_MANY_CONCURRENT_CHECKPOINTS
trigger type=checkpoint
  rejected type=checkpoint reason=ALREADY_QUEUED
trigger type=savepoint
  trigger_task task=a checkpoint=2 type=savepoint
advance ms=500
decline task=b checkpoint=2 reason=SUBSUMED
  abort checkpoint=2 reason=SUBSUMED
advance ms=100
decline task=b checkpoint=1 reason=SUBSUMED
  abort checkpoint=1 reason=SUBSUMED
advance ms=99
advance ms=1
  trigger_task task=a checkpoint=3 type=checkpoint
trigger type=checkpoint
  rejected type=checkpoint reason=TOO_MANY_CONCURRENT_CHECKPOINTS
acknowledge task=a checkpoint=3
  acknowledged task=a checkpoint=3 result=SUCCESS
acknowledge task=b checkpoint=3
  acknowledged task=b checkpoint=3 result=SUCCESS
  complete checkpoint=3
  notify_complete task=a checkpoint=3
  notify_complete task=b checkpoint=3
  trigger_task task=a checkpoint=4 type=checkpoint
""",
    )
    assert it.observe()["queued"] == []


def test_from_2_3_on_the_graph_starts_a_scheduler_that_the_listener_never_stops(job, check):
    it = job(interval_ms=100, min_pause_ms=40)
    check(
        it,
        """
advance ms=40
  trigger_task task=a checkpoint=1 type=checkpoint
fail_tasks tasks=["b"]
  abort checkpoint=1 reason=COORDINATOR_SUSPEND
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
restore
  restored checkpoint=null
job_status status=RUNNING
task_status task=b status=RUNNING
advance ms=40
  trigger_task task=a checkpoint=2 type=checkpoint
fail_tasks tasks=["b"]
advance ms=200
restore
  abort checkpoint=2 reason=JOB_FAILOVER_REGION
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
  restored checkpoint=null
""",
    )


def test_unaligned_savepoints_wait_for_their_turn_unless_forced(job, check):
    it = job(unaligned=True)
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
trigger type=savepoint
trigger type=savepoint forced=true
  trigger_task task=a checkpoint=2 type=savepoint
""",
    )
    assert it.observe()["queued"] == ["savepoint"]


@pytest.mark.rule("COORD-01")
@pytest.mark.rule("COORD-04")
def test_finished_tasks_take_no_part_and_their_successors_begin(job, check):
    it = job()
    check(
        it,
        """
task_status task=a status=FINISHED
trigger type=checkpoint
  trigger_task task=b checkpoint=1 type=checkpoint
acknowledge task=a checkpoint=1
  acknowledged task=a checkpoint=1 result=UNKNOWN
acknowledge task=b checkpoint=1
  acknowledged task=b checkpoint=1 result=SUCCESS
  complete checkpoint=1
  notify_complete task=b checkpoint=1
task_status task=b status=FINISHED
trigger type=checkpoint
  rejected type=checkpoint reason=TRIGGER_CHECKPOINT_FAILURE
""",
    )
    assert it.observe()["next_id"] == 3
    off = job(finished_tasks=False)
    check(
        off,
        """
task_status task=a status=FINISHED
trigger type=checkpoint
  rejected type=checkpoint reason=NOT_ALL_REQUIRED_TASKS_RUNNING
""",
    )


@pytest.mark.rule("COORD-01")
def test_up_to_1_12_only_sources_must_be_running(job, check):
    it = job(profile="1.12")
    check(
        it,
        """
task_status task=b status=INITIALIZING
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
""",
    )
    assert it.awaiting(1) == ("a", "b")


@pytest.mark.rule("COORD-33")
def test_a_deletion_that_has_nothing_to_delete_ends_at_once_from_1_19_on(job):
    for profile, queued in (("1.18", ["checkpoint"]), ("1.19", [])):
        it = job(cleaning="slow", profile=profile)
        for checkpoint in (1, 2):
            it.apply({"kind": "trigger", "type": "checkpoint"})
            it.apply(
                {"kind": "decline", "task": "src-0", "checkpoint": checkpoint, "reason": "ASYNC_EXCEPTION"}
            )
        it.apply({"kind": "trigger", "type": "checkpoint"})
        assert it.observe()["queued"] == queued


@pytest.mark.rule("COORD-33")
def test_deletions_that_end_at_once_have_no_event(job):
    with pytest.raises(ProtocolError, match="`deleted` needs the option cleaning slow"):
        job().apply({"kind": "deleted"})


def test_io_fails_needs_its_option(job):
    with pytest.raises(ProtocolError, match="`io_fails` needs the option io_failures injected"):
        job().apply({"kind": "io_fails", "what": "id"})


def test_slow_deletions_are_not_offered_before_1_12(job):
    with pytest.raises(UnsupportedError, match=r"from profile 1\.12 on"):
        job(cleaning="slow", profile="1.11")
