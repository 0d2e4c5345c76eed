"""How checkpoints end in each generation: completion, storing, restarts, masters."""

import pytest

from impl.core import ProtocolError

NEW, OLD = "2.3", "1.14"


def completed(checkpoint, first=""):
    """The effects of a completion that subsumes no checkpoint."""
    tasks = "".join(f"  notify_complete task={task} checkpoint={checkpoint}\n" for task in "ab")
    return f"  complete checkpoint={checkpoint}\n{first}{tasks}"


@pytest.mark.rule("COORD-08")
def test_in_1_15_a_checkpoint_is_complete_before_it_is_stored(job, take):
    it = job(profile="1.15")
    take(
        it,
        1,
        completed(1),
    )
    take(
        it,
        2,
        """
  complete checkpoint=2
  discard checkpoint=1
  notify_complete task=a checkpoint=2
  notify_subsumed task=a checkpoint=1
  notify_complete task=b checkpoint=2
  notify_subsumed task=b checkpoint=1
""",
    )
    it.apply({"kind": "store_fails", "when": "before"})
    take(
        it,
        3,
        """
  complete checkpoint=3
  discard checkpoint=3
  notify_abort task=a checkpoint=3
  notify_abort task=b checkpoint=3
  fail error=CheckpointException
""",
    )
    assert it.completed == (2,)


def test_in_1_14_a_savepoint_is_stored_subsumes_and_is_notified_as_complete(job, check, take):
    it = job(profile=OLD, max_concurrent=2)
    check(it, "trigger type=checkpoint\n  trigger_task task=a checkpoint=1 type=checkpoint")
    take(
        it,
        2,
        """
  complete checkpoint=2
  abort checkpoint=1 reason=CHECKPOINT_SUBSUMED
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
  notify_complete task=a checkpoint=2
  notify_complete task=b checkpoint=2
""",
        requested="savepoint",
    )
    assert it.completed == (2,)
    take(
        it,
        3,
        completed(3),
    )
    assert it.completed == (3,)


def test_a_stop_is_notified_as_complete_but_not_stored(job, check, take):
    it = job(max_concurrent=2)
    take(
        it,
        1,
        completed(1),
    )
    take(
        it,
        2,
        completed(2),
        requested="stop",
    )
    assert it.completed == (1,)


def test_in_1_9_no_task_is_notified_of_aborts_and_a_forced_checkpoint_is_not_subsumed(job, check, take):
    it = job(profile="1.9", max_concurrent=3)
    check(
        it,
        """
trigger type=checkpoint forced=true
  trigger_task task=a checkpoint=1 type=checkpoint
trigger type=checkpoint
  trigger_task task=a checkpoint=2 type=checkpoint
""",
    )
    take(
        it,
        3,
        """
  complete checkpoint=3
  abort checkpoint=2 reason=CHECKPOINT_SUBSUMED
  notify_complete task=a checkpoint=3
  notify_complete task=b checkpoint=3
""",
    )
    assert it.pending == (1,)


@pytest.mark.parametrize(
    ("profile", "when", "deleted", "found"),
    [
        (NEW, "before", True, [1]),
        (NEW, "after", True, [1, 2]),
        (NEW, "maybe", False, [1, 2]),
        ("1.11", "maybe", True, [1, 2]),
    ],
)
def test_the_next_coordinator_finds_a_checkpoint_that_was_written(
    job, take, check, profile, when, deleted, found
):
    it = job(profile=profile, retain=2)
    take(it, 1, completed(1))
    check(it, f"store_fails when={when}")
    first = (
        "abort checkpoint=2 reason=FINALIZE_CHECKPOINT_FAILURE" if profile == NEW else "complete checkpoint=2"
    )
    discard = "  discard checkpoint=2\n" if deleted else ""
    take(
        it,
        2,
        f"  {first}\n{discard}  notify_abort task=a checkpoint=2\n  notify_abort task=b checkpoint=2\n"
        "  fail error=CheckpointException",
    )
    assert it.completed == (1,)
    check(
        it, "trigger type=checkpoint\n  trigger_task task=a checkpoint=3 type=checkpoint\ncoordinator_restart"
    )
    assert it.observe() == {
        "status": "CREATED",
        "pending": {},
        "completed": found,
        "next_id": 4,
        "queued": [],
    }
    check(
        it,
        f"acknowledge task=a checkpoint=3 state=s\n  discard state=s\nrestore\n"
        f"  restored checkpoint={found[-1]}",
    )


def test_tasks_of_an_older_attempt_are_unknown_and_may_still_decline(job, check):
    it = job()
    check(
        it,
        """
fail_tasks tasks=["b"]
restore
  restored checkpoint=null
task_status task=b status=RUNNING
job_status status=RUNNING
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
acknowledge task=a checkpoint=1 attempt=0 state=old
  acknowledged task=a checkpoint=1 result=UNKNOWN
  discard state=old
acknowledge task=a checkpoint=1 attempt=1 state=new
  acknowledged task=a checkpoint=1 result=SUCCESS
decline task=b checkpoint=1 attempt=0 reason=TASK_FAILURE
  abort checkpoint=1 reason=TASK_FAILURE
  discard state=new
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
""",
    )


def test_a_restore_of_a_region_aborts_pending_checkpoints_and_begins_new_attempts(job, check):
    it = job()
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=1 type=checkpoint
trigger type=checkpoint
restore scope=region tasks=["z"]
  refused
restore scope=region tasks=["b"]
  abort checkpoint=1 reason=JOB_FAILOVER_REGION
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
  restored checkpoint=null
  trigger_task task=a checkpoint=2 type=checkpoint
acknowledge task=b checkpoint=2 attempt=0
  acknowledged task=b checkpoint=2 result=UNKNOWN
acknowledge task=a checkpoint=2 attempt=0
  acknowledged task=a checkpoint=2 result=SUCCESS
""",
    )


def test_operator_coordinators_and_hooks_take_part_before_the_tasks(job, check):
    it = job(operator_coordinators=["c", "d"], hooks=["h"])
    check(
        it,
        """
trigger type=checkpoint
  checkpoint_coordinator name=c checkpoint=1
  checkpoint_coordinator name=d checkpoint=1
trigger type=savepoint
hook_done name=h checkpoint=1
coordinator_done name=c checkpoint=1
coordinator_fails name=c checkpoint=1
acknowledge task=a checkpoint=1
  acknowledged task=a checkpoint=1 result=SUCCESS
acknowledge task=b checkpoint=1
  acknowledged task=b checkpoint=1 result=SUCCESS
coordinator_done name=d checkpoint=1
  trigger_hook name=h checkpoint=1
coordinator_done name=x checkpoint=1
  refused
hook_fails name=c checkpoint=1
  refused
hook_done name=h checkpoint=1
  trigger_task task=a checkpoint=1 type=checkpoint
  complete checkpoint=1
  notify_complete task=a checkpoint=1
  notify_complete task=b checkpoint=1
  notify_coordinator name=c checkpoint=1 what=complete
  notify_coordinator name=d checkpoint=1 what=complete
  checkpoint_coordinator name=c checkpoint=2
  checkpoint_coordinator name=d checkpoint=2
coordinator_fails name=d checkpoint=2
  abort checkpoint=2 reason=TRIGGER_CHECKPOINT_FAILURE
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
  notify_coordinator name=c checkpoint=2 what=abort
  notify_coordinator name=d checkpoint=2 what=abort
""",
    )
    alone = job(hooks=["h"])
    check(
        alone,
        """
trigger type=checkpoint
  trigger_hook name=h checkpoint=1
hook_fails name=h checkpoint=1
  abort checkpoint=1 reason=TRIGGER_CHECKPOINT_FAILURE
  notify_abort task=a checkpoint=1
  notify_abort task=b checkpoint=1
""",
    )


def test_an_unknown_end_of_the_job_and_an_attempt_below_0_are_refused(job):
    it = job()
    it.apply({"kind": "trigger", "type": "checkpoint"})
    before = it.observe()
    with pytest.raises(ProtocolError, match="FINISHED, CANCELED, FAILED, SUSPENDED"):
        it.apply({"kind": "shutdown", "status": "RUNNING"})
    for message in ({"kind": "acknowledge"}, {"kind": "decline", "reason": "IO_EXCEPTION"}):
        with pytest.raises(ProtocolError, match="from 0 on"):
            it.apply({**message, "task": "a", "checkpoint": 1, "attempt": -1})
    assert it.observe() == before
