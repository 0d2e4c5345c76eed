"""In each generation: the failures of checkpoints that fail the job, and what a shutdown keeps."""

import pytest
from test_coordinator_endings import NEW, completed

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


def test_an_expired_savepoint_fails_the_job_only_up_to_1_14_2(job, check):
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
def test_status_and_option_decide_whether_shutdown_deletes_checkpoints(
    job, check, take, status, externalized, deleted
):
    it = job(externalized=externalized)
    take(
        it,
        1,
        completed(1),
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
