"""How checkpoints end, generation by generation: completion, storing, shared state, failures, restarts."""

import pytest

NEW, OLD = "2.3", "1.14"


def told(checkpoint, first=""):
    """The ending of a checkpoint that replaces nothing."""
    tasks = "".join(f"  notify_complete task={task} checkpoint={checkpoint}\n" for task in "ab")
    return f"  complete checkpoint={checkpoint}\n{first}{tasks}"


@pytest.mark.rule("COORD-08")
def test_up_to_1_15_a_checkpoint_is_complete_before_it_is_stored(job, take):
    it = job(profile="1.15")
    take(
        it,
        1,
        told(1),
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


def test_up_to_1_14_savepoints_are_stored_subsume_and_are_told_of(job, check, take):
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
        told(3),
    )
    assert it.completed == (3,)


def test_a_stop_subsumes_and_is_told_of_but_not_stored(job, check, take):
    it = job(max_concurrent=2)
    take(
        it,
        1,
        told(1),
    )
    take(
        it,
        2,
        told(2),
        requested="stop",
    )
    assert it.completed == (1,)


def test_in_1_9_nobody_is_told_of_aborts_and_a_forced_checkpoint_is_not_subsumed(job, check, take):
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
def test_what_was_written_is_found_by_the_next_coordinator(job, take, check, profile, when, deleted, found):
    it = job(profile=profile, retain=2)
    take(it, 1, told(1))
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


def test_shared_state_lives_as_long_as_the_oldest_retained_checkpoint_may_need_it(job, take, check):
    it = job()
    take(it, 1, told(1), shared='["x","y"]')
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=2 type=checkpoint
acknowledge task=a checkpoint=2 state=s shared=["z","y"]
  acknowledged task=a checkpoint=2 result=SUCCESS
acknowledge task=b checkpoint=2 attempt=7 state=t shared=["w"]
  acknowledged task=b checkpoint=2 result=UNKNOWN
  discard state=t
decline task=b checkpoint=2 reason=SUBSUMED
  abort checkpoint=2 reason=SUBSUMED
  discard state=s
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
acknowledge task=b checkpoint=2 shared=["v"]
trigger type=savepoint
  trigger_task task=a checkpoint=3 type=savepoint
acknowledge task=z checkpoint=3 shared=["u","x"]
  acknowledged task=z checkpoint=3 result=UNKNOWN
  discard state=u
decline task=b checkpoint=3 reason=SUBSUMED
  abort checkpoint=3 reason=SUBSUMED
  notify_abort task=a checkpoint=3
  notify_abort task=b checkpoint=3
""",
    )
    take(
        it,
        4,
        """
  discard checkpoint=1
  discard state=x
  discard state=z
  discard state=w
  discard state=v
  complete checkpoint=4
  notify_complete task=a checkpoint=4
  notify_subsumed task=a checkpoint=1
  notify_complete task=b checkpoint=4
  notify_subsumed task=b checkpoint=1
""",
        shared='["y"]',
    )
    check(
        it,
        "shutdown\n  discard checkpoint=4\n  discard state=y\nshutdown\n"
        "acknowledge task=a checkpoint=4 state=s",
    )


def test_up_to_1_14_the_last_user_takes_shared_state_along(job, take, check):
    it = job(profile=OLD)
    take(it, 1, told(1), shared='["x","y","x"]')
    check(
        it,
        """
trigger type=checkpoint
  trigger_task task=a checkpoint=2 type=checkpoint
acknowledge task=a checkpoint=2 shared=["y","z"]
  acknowledged task=a checkpoint=2 result=SUCCESS
decline task=b checkpoint=2 reason=SUBSUMED
  abort checkpoint=2 reason=SUBSUMED
  discard state=z
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
""",
    )
    take(it, 3, told(3, "  discard checkpoint=1\n  discard state=x\n"), shared='["y"]')
    take(it, 4, told(4, "  discard checkpoint=3\n  discard state=y\n"))


def test_from_1_15_on_shared_state_of_recovered_checkpoints_is_not_deleted(job, take, check):
    running = """
coordinator_restart
task_status task=a status=RUNNING
task_status task=b status=RUNNING
job_status status=RUNNING
"""
    it = job()
    take(it, 1, told(1), shared='["x"]')
    check(it, running)
    take(
        it,
        2,
        """
  discard checkpoint=1
  complete checkpoint=2
  notify_complete task=a checkpoint=2
  notify_subsumed task=a checkpoint=1
  notify_complete task=b checkpoint=2
  notify_subsumed task=b checkpoint=1
""",
        shared='["y"]',
    )
    check(it, "shutdown\n  discard checkpoint=2\n  discard state=y")
    old = job(profile=OLD)
    take(old, 1, told(1), shared='["x"]')
    check(old, running)
    take(old, 2, told(2, "  discard checkpoint=1\n  discard state=x\n"))


def test_strangers_of_an_older_attempt_are_unknown_and_may_still_decline(job, check):
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


def test_a_region_that_restores_ends_what_is_pending_and_begins_new_attempts(job, check):
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


def test_coordinators_and_hooks_take_their_part_before_the_tasks(job, check):
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


ABORTED = "  notify_abort task=a checkpoint={0}\n  notify_abort task=b checkpoint={0}\n"


def declined(checkpoint, reason, failing="", requested="checkpoint"):
    failed = f"  fail_job reason={reason}\n" if failing else ""
    return (
        f"trigger type={requested}\n  trigger_task task=a checkpoint={checkpoint} type={requested}\n"
        f"decline task=b checkpoint={checkpoint} reason={reason}\n"
        f"  abort checkpoint={checkpoint} reason={reason}\n"
        f"{failed}{ABORTED.format(checkpoint)}"
    )


def test_one_failure_more_than_tolerated_fails_the_job(job, check):
    it = job(tolerable_failures=1)
    check(it, declined(1, "IO_EXCEPTION") + declined(2, "SUBSUMED") + declined(3, "ASYNC_EXCEPTION", "fails"))
    check(it, declined(4, "CHECKPOINT_DECLINED") + declined(5, "CHECKPOINT_EXPIRED", "fails"))


def test_a_savepoint_that_the_coordinator_gives_up_is_no_failure_of_the_job(job, check):
    older = "  fail_job reason=CHECKPOINT_EXPIRED\n"
    for profile, fails in ((NEW, ""), ("1.14", ""), ("1.13", older)):
        it = job(profile=profile, tolerable_failures=0, timeout_ms=10)
        check(
            it,
            "trigger type=savepoint\n  trigger_task task=a checkpoint=1 type=savepoint\n"
            f"advance ms=10\n  abort checkpoint=1 reason=CHECKPOINT_EXPIRED\n{fails}{ABORTED.format(1)}"
            + declined(2, "CHECKPOINT_DECLINED", "fails", requested="savepoint"),
        )


def test_a_failed_stop_fails_the_job_at_once(job, check):
    stop = "trigger type=stop\n  trigger_task task=a checkpoint=1 type=stop\n"
    lost = "job_status status=FAILING\n  abort checkpoint=1 reason=COORDINATOR_SUSPEND\n"
    check(job(), declined(1, "SUBSUMED", "fails", requested="stop"))
    check(job(), stop + lost + ABORTED.format(1))
    check(job(profile="1.14"), stop + lost + ABORTED.format(1))
    check(job(profile="1.13"), stop + lost + "  fail_job reason=COORDINATOR_SUSPEND\n" + ABORTED.format(1))
    check(job(profile="1.13"), declined(1, "NOT_ALL_REQUIRED_TASKS_RUNNING", requested="stop"))


@pytest.mark.parametrize(("profile", "aborts"), [(NEW, True), ("1.14", True), ("1.13", False)])
def test_a_lost_trigger_aborts_from_1_14_on(job, check, profile, aborts):
    it = job(profile=profile)
    aborted = "  abort checkpoint=1 reason=TRIGGER_CHECKPOINT_FAILURE\n" + ABORTED.format(1)
    check(
        it,
        "trigger type=checkpoint\n  trigger_task task=a checkpoint=1 type=checkpoint\n"
        "trigger_fails task=a checkpoint=7\ntrigger_fails task=b checkpoint=1\n"
        "trigger_fails task=nobody checkpoint=1\n  refused\n"
        "trigger_fails task=nobody checkpoint=7\n  refused\n"
        "trigger_fails task=a checkpoint=1\n" + (aborted if aborts else ""),
    )


@pytest.mark.parametrize(
    ("status", "externalized", "deleted"),
    [
        ("FINISHED", "retain", True),
        ("CANCELED", "delete", True),
        ("CANCELED", "retain", False),
        ("FAILED", "delete", True),
        ("FAILED", "retain", False),
        ("SUSPENDED", "delete", False),
    ],
)
def test_a_shut_down_coordinator_leaves_what_another_life_of_the_job_may_need(
    job, check, take, status, externalized, deleted
):
    it = job(externalized=externalized)
    take(
        it,
        1,
        told(1),
    )
    discard = "  discard checkpoint=1\n" if deleted else ""
    check(
        it,
        f"""
trigger type=checkpoint
  trigger_task task=a checkpoint=2 type=checkpoint
trigger type=checkpoint
shutdown status={status}
  rejected type=checkpoint reason=COORDINATOR_SHUTDOWN
  abort checkpoint=2 reason=COORDINATOR_SHUTDOWN
  notify_abort task=a checkpoint=2
  notify_abort task=b checkpoint=2
{discard}trigger type=savepoint
  rejected type=savepoint reason=COORDINATOR_SHUTDOWN
restore
  fail error=IllegalStateException
coordinator_restart
""",
    )
    assert it.observe()["completed"] == ([1] if status == "SUSPENDED" else [])


def test_a_scheduler_does_not_start_after_shutdown(job, check):
    it = job(interval_ms=100, profile="1.20")
    check(
        it,
        "shutdown\njob_status status=FINISHED\njob_status status=RUNNING\n"
        "  fail error=IllegalArgumentException",
    )
    check(it, "advance ms=1000")
