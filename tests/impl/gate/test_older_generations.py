"""Gates and subtasks of older generations: each rule in which they differ from the newest one."""

import pytest

from impl.core import COMPONENTS

PAGE = 32_768
"""What one stored item counts for."""


def gate(profile: str, channels: int = 2, **config: object):
    return COMPONENTS["gate"]({"channels": channels, "level": "handler", "profile": profile, **config})


def subtask(profile: str):
    return COMPONENTS["subtask"]({"profile": profile})


@pytest.mark.rule("ALIGN-20")
@pytest.mark.parametrize("profile", ["flink-1.7", "flink-1.9", "flink-1.11", "flink-1.12"])
def test_up_to_1_12_a_repeated_barrier_fails_the_task(check, profile):
    check(
        gate(profile),
        """
barrier channel=0 checkpoint=5
  block channel=0
barrier channel=0 checkpoint=5
  fail error=channel 0 delivered the barrier of checkpoint 5 twice
barrier channel=1 checkpoint=5
  refused
""",
    )


@pytest.mark.rule("ALIGN-21")
def test_in_1_13_a_repeated_barrier_counts_for_a_channel_that_has_delivered_none(check):
    check(
        gate("flink-1.13"),
        """
barrier channel=0 checkpoint=5
  block channel=0
barrier channel=0 checkpoint=5
  block channel=0
  trigger checkpoint=5
  resume channel=0
barrier channel=1 checkpoint=5
  resume channel=1
""",
    )


@pytest.mark.rule("ALIGN-22")
def test_an_alignment_that_exceeds_its_buffer_is_aborted(check):
    check(
        gate("flink-1.9", level="polled", alignment_limit_bytes=2 * PAGE),
        """
barrier channel=0 checkpoint=5
  block channel=0
record channel=0 value=1
record channel=0 value=2
record channel=0 value=3
  resume channel=0
  abort checkpoint=5 reason=ALIGNMENT_LIMIT_EXCEEDED
  process channel=0 value=1
  process channel=0 value=2
  process channel=0 value=3
barrier channel=1 checkpoint=5
""",
    )


@pytest.mark.rule("ALIGN-23")
def test_buffered_items_are_read_in_the_order_of_arrival(check):
    told = """
barrier channel=1 checkpoint=5
  block channel=1
record channel=1 value=1
barrier channel=0 checkpoint=5
  block channel=0
record channel=0 value=2
record channel=1 value=3
barrier channel=2 checkpoint=5
  block channel=2
  resume channel=0
  resume channel=1
  resume channel=2
  trigger checkpoint=5
  process channel=1 value=1
  process channel=0 value=2
  process channel=1 value=3
"""
    check(gate("flink-1.9", channels=3, level="polled"), told)
    check(gate("flink-1.12", channels=3, level="polled"), told)


@pytest.mark.rule("ALIGN-24")
def test_a_task_that_is_triggered_itself_counts_every_open_channel_at_once(check):
    check(
        gate("flink-1.14", channels=3),
        """
barrier channel=0 checkpoint=4
  block channel=0
end_of_partition channel=2
inject checkpoint=5
  resume channel=0
  abort checkpoint=4 reason=SUBSUMED
  trigger checkpoint=5
inject checkpoint=5
  resume channel=0
  resume channel=1
""",
    )


@pytest.mark.rule("UNAL-08")
def test_where_ended_channels_do_not_count_an_end_aborts(check):
    check(
        gate("flink-1.14", mode="unaligned", checkpoints_after_tasks_finish=False),
        """
barrier channel=0 checkpoint=5 alignment=unaligned
  start_persisting checkpoint=5
  trigger checkpoint=5 unaligned=true
end_of_partition channel=1
  stop_persisting checkpoint=5
  abort checkpoint=5 reason=INPUT_END_OF_STREAM
""",
    )


@pytest.mark.rule("UNAL-20")
def test_the_timer_of_a_checkpoint_that_has_ended_has_no_effect(check):
    check(
        gate("flink-1.14", mode="alternating", alignment_timeout_ms=10),
        """
barrier channel=0 checkpoint=5 alignment=timeout
  block channel=0
cancel channel=1 checkpoint=5
  resume channel=0
  abort checkpoint=5 reason=ON_CANCELLATION_BARRIER
advance ms=11
""",
    )


@pytest.mark.rule("UNAL-25")
@pytest.mark.rule("UNAL-26")
def test_an_ended_id_blocks_no_channel_again(check):
    it = gate("flink-1.14", mode="alternating", alignment_timeout_ms=10)
    check(
        it,
        """
barrier channel=0 checkpoint=5
  block channel=0
cancel channel=1 checkpoint=5
  resume channel=0
  abort checkpoint=5 reason=ON_CANCELLATION_BARRIER
barrier channel=1 checkpoint=5
  resume channel=1
""",
    )
    assert it.observe()["blocked"] == []
    assert not it.observe()["pending"]


@pytest.mark.rule("TASK-11")
@pytest.mark.rule("TASK-12")
def test_up_to_1_10_every_trigger_is_executed_and_no_abort_is_notified(check):
    it = subtask("1.9")
    check(
        it,
        """
abort_notification checkpoint=3 completed=-1
checkpoint checkpoint=5
  broadcast_barrier checkpoint=5
  snapshot checkpoint=5
checkpoint checkpoint=3
  broadcast_barrier checkpoint=3
  snapshot checkpoint=3
""",
    )
    assert it.observe()["last"] == -1
    assert it.observe()["aborted"] == []


@pytest.mark.rule("TASK-14")
@pytest.mark.rule("TASK-15")
def test_up_to_1_10_a_snapshot_that_throws_is_declined_without_its_cause(check):
    check(
        subtask("1.9"),
        """
checkpoint checkpoint=5 fails=true
  broadcast_barrier checkpoint=5
  decline checkpoint=5 reason=JOB_FAILURE
checkpoint checkpoint=6
  broadcast_barrier checkpoint=6
  snapshot checkpoint=6
async_failed checkpoint=6 reason=IO_EXCEPTION
  decline checkpoint=6 reason=JOB_FAILURE
""",
    )
    check(
        subtask("1.10"),
        """
checkpoint checkpoint=6
  broadcast_barrier checkpoint=6
  snapshot checkpoint=6
async_failed checkpoint=6 reason=IO_EXCEPTION
  decline checkpoint=6 reason=ASYNC_EXCEPTION
""",
    )
    check(
        subtask("1.11"),
        """
checkpoint checkpoint=6
  broadcast_barrier checkpoint=6
  snapshot checkpoint=6
async_failed checkpoint=6 reason=IO_EXCEPTION
  decline checkpoint=6 reason=IO_EXCEPTION
""",
    )


@pytest.mark.rule("TASK-16")
@pytest.mark.parametrize(
    ("profile", "told"),
    [
        ("1.9", "\n  decline checkpoint=6 reason=JOB_FAILURE"),
        ("1.10", "\n  decline checkpoint=6 reason=ASYNC_EXCEPTION"),
        ("1.11", ""),
    ],
)
def test_a_failure_after_the_task_has_stopped_is_declined_up_to_1_10_only(check, profile, told):
    check(
        subtask(profile),
        f"""
checkpoint checkpoint=6
  broadcast_barrier checkpoint=6
  snapshot checkpoint=6
status running=false
async_failed checkpoint=6{told}
""",
    )


@pytest.mark.rule("TASK-17")
def test_up_to_1_13_an_older_completion_is_passed_on_as_it_comes(check):
    told = """
complete_notification checkpoint=6
  notify_complete checkpoint=6
complete_notification checkpoint=5
"""
    check(subtask("1.14"), told)
    check(subtask("1.13"), told + "  notify_complete checkpoint=5\n")


@pytest.mark.rule("TASK-18")
def test_from_1_15_on_a_dropped_checkpoint_is_aborted(check):
    it = subtask("1.15")
    before = it.observe()
    check(it, "subsumed_notification checkpoint=5\n  notify_subsumed checkpoint=5\n")
    assert it.observe() == before
    check(subtask("1.14"), "subsumed_notification checkpoint=5\n")
