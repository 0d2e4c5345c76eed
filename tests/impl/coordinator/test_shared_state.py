"""Shared state is deleted with the last checkpoint that uses it. The details differ by generation."""

from test_coordinator_endings import OLD, completed


def test_shared_state_lives_as_long_as_the_oldest_retained_checkpoint_may_need_it(job, take, check):
    it = job()
    take(it, 1, completed(1), shared='["x","y"]')
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


def test_in_1_14_shared_state_is_deleted_with_its_last_user(job, take, check):
    it = job(profile=OLD)
    take(it, 1, completed(1), shared='["x","y","x"]')
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
    take(it, 3, completed(3, "  discard checkpoint=1\n  discard state=x\n"), shared='["y"]')
    take(it, 4, completed(4, "  discard checkpoint=3\n  discard state=y\n"))


def test_shared_state_of_recovered_checkpoints_is_deleted_only_up_to_1_14(job, take, check):
    running = """
coordinator_restart
task_status task=a status=RUNNING
task_status task=b status=RUNNING
job_status status=RUNNING
"""
    it = job()
    take(it, 1, completed(1), shared='["x"]')
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
    take(old, 1, completed(1), shared='["x"]')
    check(old, running)
    take(old, 2, completed(2, "  discard checkpoint=1\n  discard state=x\n"))
