"""The aligning gate at level `handler`, at which every item reaches the gate at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.core import COMPONENTS, AlignedGate, ProtocolError
from impl.core.gate.events import Abort, Block, Resume, Trigger


def gate(channels: int, **config: object):
    return COMPONENTS["gate"]({"channels": channels, "level": "handler", **config})


def state(current: int, pending: bool = False, blocked: tuple[int, ...] = (), closed: tuple[int, ...] = ()):
    return {"current": current, "pending": pending, "blocked": list(blocked), "closed": list(closed)}


@pytest.mark.rule("ALIGN-01")
@pytest.mark.rule("ALIGN-02")
def test_barriers_block_their_channels_until_the_last_one_is_awaited(check):
    it = gate(3)
    check(
        it,
        """
barrier channel=1 checkpoint=5
  block channel=1
barrier channel=2 checkpoint=5
  block channel=2
""",
    )
    assert it.observe() == state(5, pending=True, blocked=(1, 2))


@pytest.mark.rule("ALIGN-05")
@pytest.mark.rule("ALIGN-06")
def test_the_last_barrier_triggers_before_it_unblocks(check):
    it = gate(3)
    check(
        it,
        """
barrier channel=2 checkpoint=5
  block channel=2
barrier channel=0 checkpoint=5
  block channel=0
barrier channel=1 checkpoint=5
  block channel=1
  trigger checkpoint=5
  resume channel=0
  resume channel=1
  resume channel=2
""",
    )
    assert it.observe() == state(5)


@pytest.mark.rule("ALIGN-03")
@pytest.mark.rule("SUB-01")
def test_a_newer_barrier_ends_the_pending_alignment(check):
    it = gate(3)
    check(
        it,
        """
barrier channel=1 checkpoint=2
  block channel=1
barrier channel=0 checkpoint=2
  block channel=0
barrier channel=2 checkpoint=3
  resume channel=0
  resume channel=1
  abort checkpoint=2 reason=SUBSUMED
  block channel=2
""",
    )
    assert it.observe() == state(3, pending=True, blocked=(2,))


@pytest.mark.rule("ALIGN-03")
def test_a_newer_barrier_may_come_on_a_channel_that_is_blocked(check):
    it = gate(2)
    check(
        it,
        """
barrier channel=0 checkpoint=2
  block channel=0
barrier channel=0 checkpoint=3
  resume channel=0
  abort checkpoint=2 reason=SUBSUMED
  block channel=0
""",
    )
    assert it.observe() == state(3, pending=True, blocked=(0,))


@pytest.mark.rule("ALIGN-04")
def test_a_late_barrier_only_resumes_its_own_channel(check):
    it = gate(3)
    check(
        it,
        """
barrier channel=0 checkpoint=5
  block channel=0
barrier channel=1 checkpoint=4
  resume channel=1
""",
    )
    assert it.observe() == state(5, pending=True, blocked=(0,))


@pytest.mark.rule("ALIGN-04")
@pytest.mark.rule("ALIGN-18")
def test_a_barrier_of_a_triggered_checkpoint_is_late(check):
    it = gate(2)
    check(
        it,
        """
barrier channel=0 checkpoint=5
  block channel=0
barrier channel=1 checkpoint=5
  block channel=1
  trigger checkpoint=5
  resume channel=0
  resume channel=1
barrier channel=0 checkpoint=5
  resume channel=0
""",
    )
    assert it.observe() == state(5)


@pytest.mark.rule("ALIGN-07")
@pytest.mark.rule("ALIGN-08")
def test_one_open_channel_triggers_at_once_and_skipped_ids_have_no_effect(check):
    it = gate(2)
    check(
        it,
        """
end_of_partition channel=0
barrier channel=1 checkpoint=0
  block channel=1
  trigger checkpoint=0
  resume channel=1
barrier channel=1 checkpoint=1000000
  block channel=1
  trigger checkpoint=1000000
  resume channel=1
""",
    )
    assert it.observe() == state(1000000, closed=(0,))


@pytest.mark.rule("ALIGN-09")
@pytest.mark.rule("ALIGN-12")
def test_a_cancellation_ends_the_pending_alignment_once(check):
    it = gate(3)
    check(
        it,
        """
barrier channel=0 checkpoint=2
  block channel=0
cancel channel=1 checkpoint=2
  resume channel=0
  abort checkpoint=2 reason=ON_CANCELLATION_BARRIER
cancel channel=2 checkpoint=2
cancel channel=2 checkpoint=1
barrier channel=2 checkpoint=2
  resume channel=2
""",
    )
    assert it.observe() == state(2)


@pytest.mark.rule("ALIGN-10")
def test_a_cancellation_ends_an_id_before_its_first_barrier(check):
    it = gate(2)
    check(
        it,
        """
cancel channel=0 checkpoint=4
  abort checkpoint=4 reason=ON_CANCELLATION_BARRIER
barrier channel=1 checkpoint=4
  resume channel=1
barrier channel=1 checkpoint=3
  resume channel=1
""",
    )
    assert it.observe() == state(4)


@pytest.mark.rule("ALIGN-11")
def test_a_newer_cancellation_drops_the_pending_alignment_silently(check):
    it = gate(2)
    check(
        it,
        """
barrier channel=0 checkpoint=1
  block channel=0
cancel channel=1 checkpoint=2
  resume channel=0
  abort checkpoint=2 reason=ON_CANCELLATION_BARRIER
""",
    )
    assert it.observe() == state(2)


@pytest.mark.rule("ALIGN-13")
def test_an_ended_channel_is_not_awaited(check):
    it = gate(3)
    check(
        it,
        """
end_of_partition channel=1
barrier channel=0 checkpoint=1
  block channel=0
barrier channel=2 checkpoint=1
  block channel=2
  trigger checkpoint=1
  resume channel=0
  resume channel=2
""",
    )
    assert it.observe() == state(1, closed=(1,))


@pytest.mark.rule("ALIGN-14")
def test_an_ended_channel_aborts_the_alignment_if_tasks_may_not_finish(check):
    it = gate(3, checkpoints_after_tasks_finish=False)
    check(
        it,
        """
barrier channel=0 checkpoint=1
  block channel=0
barrier channel=1 checkpoint=1
  block channel=1
end_of_partition channel=1
  resume channel=0
  resume channel=1
  abort checkpoint=1 reason=INPUT_END_OF_STREAM
barrier channel=2 checkpoint=1
  resume channel=2
""",
    )
    assert it.observe() == state(1, closed=(1,))


@pytest.mark.rule("ALIGN-15")
def test_an_ended_channel_counts_as_aligned_and_may_trigger(check):
    it = gate(3)
    check(
        it,
        """
barrier channel=0 checkpoint=1
  block channel=0
barrier channel=1 checkpoint=1
  block channel=1
end_of_partition channel=1
end_of_partition channel=2
  trigger checkpoint=1
  resume channel=0
""",
    )
    assert it.observe() == state(1, closed=(1, 2))


@pytest.mark.rule("ALIGN-16")
def test_a_duplicate_barrier_counts_once(check):
    it = gate(3)
    check(
        it,
        """
barrier channel=0 checkpoint=1
  block channel=0
barrier channel=0 checkpoint=1
  block channel=0
barrier channel=1 checkpoint=1
  block channel=1
""",
    )
    assert it.observe() == state(1, pending=True, blocked=(0, 1))


def test_events_outside_the_protocol_change_nothing(check):
    it = gate(2)
    check(
        it,
        """
barrier channel=0 checkpoint=3
  block channel=0
barrier channel=2 checkpoint=3
  refused
barrier channel=-1 checkpoint=3
  refused
barrier channel=1 checkpoint=-1
  refused
barrier channel=1
  refused
barrier channel=true checkpoint=3
  refused
barrier channel=1 checkpoint=3 alignment=unaligned
  refused
record channel=1 value=7
  refused
end_of_partition channel=1
  trigger checkpoint=3
  resume channel=0
cancel channel=1 checkpoint=4
  refused
end_of_partition channel=1
  refused
""",
    )
    assert it.observe() == state(3, closed=(1,))


def test_a_refusal_states_the_expected_and_the_received_value_and_what_to_do():
    with pytest.raises(ProtocolError, match=r"has the channels 0 to 1, got 7; send on one of those"):
        AlignedGate(2).barrier(7, 1)


messages = st.tuples(st.integers(0, 3), st.sampled_from(["barrier", "cancel", "end"]), st.integers(0, 6))


@pytest.mark.rule("ALIGN-18")
@pytest.mark.rule("ALIGN-19")
@given(st.integers(1, 4), st.booleans(), st.lists(messages, max_size=40))
def test_ids_end_once_and_only_a_pending_alignment_blocks(channels, after_finish, story):
    it = AlignedGate(channels, after_finish=after_finish)
    ended: list[int] = []
    blocked: set[int] = set()
    for channel, kind, checkpoint in story:
        if channel >= channels or it.is_closed(channel):
            continue
        step = {"barrier": it.barrier, "cancel": it.cancel}.get(kind)
        effects = step(channel, checkpoint) if step else it.end_of_partition(channel)
        late = effects == (Resume(channel),)
        for effect in effects:
            if isinstance(effect, Block):
                blocked.add(effect.channel)
            elif isinstance(effect, Resume) and not late:
                blocked.remove(effect.channel)
            elif isinstance(effect, Trigger | Abort):
                ended.append(effect.checkpoint)
        if kind == "end":
            blocked.discard(channel)
        assert it.observe()["blocked"] == sorted(blocked)
        assert it.pending or not blocked
    assert ended == sorted(set(ended))
