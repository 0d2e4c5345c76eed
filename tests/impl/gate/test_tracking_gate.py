"""The gate in mode at-least-once: it blocks no channel and tracks several checkpoints at once."""

import pytest

from impl.core import COMPONENTS, ConfigError, ProtocolError
from impl.core.gate.events import Abort, Trigger
from impl.core.gate.tracking import TRACKED_AT_MOST, BarrierTracker


def tracker(channels: int, **config: object):
    return COMPONENTS["gate"]({"channels": channels, "mode": "at-least-once", "level": "handler", **config})


def state(current: int, tracked: list[list[object]], closed: tuple[int, ...] = ()):
    return {
        "current": current,
        "pending": bool(tracked),
        "blocked": [],
        "closed": list(closed),
        "tracked": tracked,
    }


@pytest.mark.rule("TRACK-02")
@pytest.mark.rule("TRACK-03")
def test_barriers_before_the_last_have_no_effect(check):
    it = tracker(3)
    check(
        it,
        """
barrier channel=2 checkpoint=5
barrier channel=2 checkpoint=7
barrier channel=0 checkpoint=5
""",
    )
    assert it.observe() == state(7, [[5, [0, 2], False], [7, [2], False]])


@pytest.mark.rule("TRACK-04")
@pytest.mark.rule("TRACK-05")
def test_the_last_barrier_triggers_and_older_checkpoints_end_without_an_effect(check):
    it = tracker(2)
    check(
        it,
        """
barrier channel=0 checkpoint=5
barrier channel=0 checkpoint=6
barrier channel=1 checkpoint=6
  trigger checkpoint=6
barrier channel=1 checkpoint=5
""",
    )
    assert it.observe() == state(6, [])


@pytest.mark.rule("TRACK-06")
def test_a_newer_checkpoint_continues_when_an_older_one_completes(check):
    it = tracker(2)
    check(
        it,
        """
barrier channel=0 checkpoint=5
barrier channel=0 checkpoint=6
barrier channel=1 checkpoint=5
  trigger checkpoint=5
barrier channel=1 checkpoint=6
  trigger checkpoint=6
""",
    )


@pytest.mark.rule("TRACK-07")
def test_a_checkpoint_beyond_the_bound_removes_the_oldest():
    it = tracker(2)
    for checkpoint in range(TRACKED_AT_MOST):
        assert it.apply({"kind": "barrier", "channel": 0, "checkpoint": checkpoint}) == []
    assert it.observe()["tracked"][0] == [0, [0], False]

    assert it.apply({"kind": "barrier", "channel": 0, "checkpoint": TRACKED_AT_MOST}) == []

    kept = it.observe()["tracked"]
    assert [entry[0] for entry in kept] == list(range(1, TRACKED_AT_MOST + 1))
    assert it.apply({"kind": "barrier", "channel": 1, "checkpoint": 0}) == []
    assert it.apply({"kind": "barrier", "channel": 1, "checkpoint": 1}) == [
        {"kind": "trigger", "checkpoint": 1}
    ]


@pytest.mark.rule("TRACK-08")
@pytest.mark.rule("TRACK-10")
def test_a_newer_cancellation_aborts_every_older_checkpoint_once(check):
    it = tracker(3)
    check(
        it,
        """
barrier channel=0 checkpoint=1
barrier channel=0 checkpoint=2
cancel channel=1 checkpoint=4
  abort checkpoint=1 reason=ON_CANCELLATION_BARRIER
  abort checkpoint=2 reason=ON_CANCELLATION_BARRIER
  abort checkpoint=4 reason=ON_CANCELLATION_BARRIER
""",
    )
    assert it.observe() == state(4, [[4, [1], True]])


@pytest.mark.rule("TRACK-09")
@pytest.mark.rule("TRACK-12")
def test_a_cancelled_checkpoint_is_aborted_once_and_never_triggers(check):
    it = tracker(3)
    check(
        it,
        """
barrier channel=0 checkpoint=4
cancel channel=1 checkpoint=4
  abort checkpoint=4 reason=ON_CANCELLATION_BARRIER
cancel channel=1 checkpoint=4
""",
    )
    assert it.observe() == state(4, [[4, [0, 1], True]])
    check(it, "barrier channel=2 checkpoint=4")
    assert it.observe() == state(4, [])


@pytest.mark.rule("TRACK-11")
def test_a_late_cancellation_aborts_only_what_is_older(check):
    it = tracker(2)
    check(
        it,
        """
barrier channel=0 checkpoint=1
barrier channel=0 checkpoint=3
cancel channel=1 checkpoint=2
  abort checkpoint=1 reason=ON_CANCELLATION_BARRIER
""",
    )
    assert it.observe() == state(3, [[3, [0], False]])


@pytest.mark.rule("TRACK-13")
@pytest.mark.rule("TRACK-15")
def test_an_end_of_partition_aborts_all_and_later_checkpoints_await_open_channels(check):
    it = tracker(3, checkpoints_after_tasks_finish=False)
    check(
        it,
        """
barrier channel=0 checkpoint=1
barrier channel=0 checkpoint=2
end_of_partition channel=2
  abort checkpoint=1 reason=INPUT_END_OF_STREAM
  abort checkpoint=2 reason=INPUT_END_OF_STREAM
barrier channel=0 checkpoint=3
barrier channel=1 checkpoint=3
  trigger checkpoint=3
""",
    )
    assert it.observe() == state(3, [], closed=(2,))


@pytest.mark.rule("TRACK-13")
@pytest.mark.rule("TRACK-15")
def test_up_to_1_13_later_checkpoints_need_the_ended_channels_too(check):
    it = tracker(2, profile="flink-1.12")
    check(
        it,
        """
barrier channel=0 checkpoint=1
end_of_partition channel=0
  abort checkpoint=1 reason=INPUT_END_OF_STREAM
barrier channel=1 checkpoint=2
""",
    )
    assert it.observe() == state(2, [[2, 1, False]], closed=(0,))


@pytest.mark.rule("TRACK-14")
def test_an_end_counts_for_all_and_completes_only_the_newest(check):
    it = tracker(3)
    check(
        it,
        """
barrier channel=0 checkpoint=1
barrier channel=1 checkpoint=1
barrier channel=0 checkpoint=2
barrier channel=1 checkpoint=2
barrier channel=0 checkpoint=3
end_of_partition channel=2
  trigger checkpoint=2
""",
    )
    assert it.observe() == state(3, [[3, [0, 2], False]], closed=(2,))


@pytest.mark.rule("TRACK-16")
@pytest.mark.parametrize(
    ("profile", "said"), [("flink-1.14", []), ("flink-1.13", [{"kind": "trigger", "checkpoint": 1}])]
)
def test_a_repeated_barrier_counts_once_and_up_to_1_13_again(profile, said):
    it = tracker(2, profile=profile)
    it.apply({"kind": "barrier", "channel": 0, "checkpoint": 1})

    assert it.apply({"kind": "barrier", "channel": 0, "checkpoint": 1}) == said


@pytest.mark.rule("TRACK-17")
def test_a_lone_open_channel_remembers_nothing(check):
    it = tracker(2)
    check(
        it,
        """
end_of_partition channel=0
barrier channel=1 checkpoint=4
  trigger checkpoint=4
barrier channel=1 checkpoint=4
  trigger checkpoint=4
cancel channel=1 checkpoint=4
  abort checkpoint=4 reason=ON_CANCELLATION_BARRIER
""",
    )
    assert it.observe() == state(-1, [], closed=(0,))


@pytest.mark.rule("TRACK-18")
def test_up_to_1_8_an_end_does_not_reach_the_tracker(check):
    it = tracker(2, profile="flink-1.7")
    check(
        it,
        """
barrier channel=0 checkpoint=1
end_of_partition channel=1
barrier channel=0 checkpoint=2
""",
    )
    assert it.observe() == state(2, [[1, 1, False], [2, 1, False]], closed=(1,))


@pytest.mark.rule("TRACK-01")
def test_a_record_is_processed_at_once_during_any_checkpoint(check):
    it = tracker(2, level="polled")
    check(
        it,
        """
barrier channel=0 checkpoint=1
record channel=0 value=101
  process channel=0 value=101
""",
    )


def test_illegal_events_are_refused_and_change_nothing(check):
    it = tracker(2)
    check(
        it,
        """
end_of_partition channel=0
barrier channel=0 checkpoint=1
  refused
barrier channel=2 checkpoint=1
  refused
barrier channel=1 checkpoint=-1
  refused
record channel=1 value=1
  refused
""",
    )


def test_a_tracker_is_driven_by_typed_steps_too():
    it = BarrierTracker(2, tracked_at_most=1)

    assert it.barrier(0, 1) == ()
    assert it.barrier(0, 2) == ()
    assert it.cancel(1, 1) == ()
    assert it.cancel(1, 2) == (Abort(2, "ON_CANCELLATION_BARRIER"),)
    assert it.end_of_partition(0) == ()
    assert it.barrier(1, 3) == (Trigger(3),)
    with pytest.raises(ProtocolError, match="has ended"):
        it.barrier(0, 4)


def test_an_invalid_configuration_of_a_tracker_is_refused():
    with pytest.raises(ConfigError, match="1 to 32768 channels, got 0"):
        BarrierTracker(0)
    with pytest.raises(ConfigError, match="at least one checkpoint"):
        BarrierTracker(2, tracked_at_most=0)
    with pytest.raises(ConfigError, match="this generation has no checkpoints_after_tasks_finish"):
        tracker(2, profile="flink-1.13", checkpoints_after_tasks_finish=True)
