"""The gate at level `polled`: items of a blocked channel wait."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.core import COMPONENTS
from impl.core.errors import ConfigError, ProtocolError, UnsupportedError
from impl.core.gate.events import Barrier, Cancel, Process, Record


def gate(channels: int, **config: object):
    return COMPONENTS["gate"]({"channels": channels, **config})


@pytest.mark.rule("ALIGN-17")
def test_records_of_a_blocked_channel_wait_for_the_trigger(check):
    it = gate(2)
    check(
        it,
        """
record channel=0 value=a
  process channel=0 value=a
barrier channel=0 checkpoint=1
  block channel=0
record channel=0 value=b
record channel=1 value=c
  process channel=1 value=c
record channel=0 value=d
barrier channel=1 checkpoint=1
  block channel=1
  trigger checkpoint=1
  resume channel=0
  resume channel=1
  process channel=0 value=b
  process channel=0 value=d
""",
    )
    assert it.observe() == {"current": 1, "pending": False, "blocked": [], "closed": []}


@pytest.mark.rule("ALIGN-17")
def test_waiting_items_are_processed_in_the_order_of_arrival_over_all_channels(check):
    check(
        gate(3),
        """
barrier channel=1 checkpoint=1
  block channel=1
barrier channel=0 checkpoint=1
  block channel=0
record channel=1 value=a
record channel=0 value=b
record channel=1 value=c
cancel channel=2 checkpoint=1
  resume channel=0
  resume channel=1
  abort checkpoint=1 reason=ON_CANCELLATION_BARRIER
  process channel=1 value=a
  process channel=0 value=b
  process channel=1 value=c
""",
    )


@pytest.mark.rule("ALIGN-17")
def test_a_waiting_barrier_that_is_processed_blocks_its_channel_for_later_items(check):
    it = gate(2)
    check(
        it,
        """
barrier channel=0 checkpoint=1
  block channel=0
record channel=0 value=a
barrier channel=0 checkpoint=2
record channel=0 value=b
barrier channel=1 checkpoint=1
  block channel=1
  trigger checkpoint=1
  resume channel=0
  resume channel=1
  process channel=0 value=a
  block channel=0
""",
    )
    assert it.observe() == {"current": 2, "pending": True, "blocked": [0], "closed": []}


@pytest.mark.rule("ALIGN-17")
def test_a_processed_item_may_unblock_a_channel_with_older_waiting_items(check):
    check(
        gate(3),
        """
barrier channel=0 checkpoint=1
  block channel=0
barrier channel=0 checkpoint=2
record channel=0 value=a
barrier channel=1 checkpoint=1
  block channel=1
barrier channel=1 checkpoint=3
record channel=1 value=b
barrier channel=2 checkpoint=1
  block channel=2
  trigger checkpoint=1
  resume channel=0
  resume channel=1
  resume channel=2
  block channel=0
  resume channel=0
  abort checkpoint=2 reason=SUBSUMED
  block channel=1
  process channel=0 value=a
""",
    )


@pytest.mark.rule("ALIGN-17")
def test_an_end_of_partition_waits_too_and_no_item_may_follow_it(check):
    it = gate(2)
    check(
        it,
        """
barrier channel=0 checkpoint=1
  block channel=0
end_of_partition channel=0
record channel=0 value=a
  refused
barrier channel=1 checkpoint=1
  block channel=1
  trigger checkpoint=1
  resume channel=0
  resume channel=1
record channel=0 value=a
  refused
""",
    )
    assert it.observe() == {"current": 1, "pending": False, "blocked": [], "closed": [0]}


@pytest.mark.rule("ALIGN-17")
@given(st.data())
def test_no_record_is_lost_doubled_or_reordered_within_its_channel(data):
    channels = data.draw(st.integers(1, 3))
    it = gate(channels)
    sent: dict[int, list[int]] = {channel: [] for channel in range(channels)}
    processed: dict[int, list[int]] = {channel: [] for channel in range(channels)}
    for number in range(data.draw(st.integers(0, 30))):
        channel = data.draw(st.integers(0, channels - 1))
        kind = data.draw(st.sampled_from([Record, Record, Barrier, Cancel]))
        if kind is Record:
            sent[channel].append(number)
            effects = it.handle(Record(channel, number))
        else:
            effects = it.handle(kind(channel, data.draw(st.integers(0, 5))))
        for effect in effects:
            if isinstance(effect, Process):
                processed[effect.channel].append(effect.value)
    for channel in range(channels):
        waits = channel in it.observe()["blocked"]
        seen = processed[channel]
        assert seen == sent[channel][: len(seen)] if waits else seen == sent[channel]


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({}, ConfigError),
        ({"channels": 0}, ConfigError),
        ({"channels": True}, ConfigError),
        ({"channels": 2, "colour": "red"}, ConfigError),
        ({"channels": 2, "checkpoints_after_tasks_finish": 1}, ConfigError),
        ({"channels": 2, "mode": "at-most-once"}, UnsupportedError),
        ({"channels": 2, "profile": "flink-1.6"}, UnsupportedError),
        ({"channels": 2, "level": "bytes"}, UnsupportedError),
    ],
)
def test_a_bad_configuration_is_refused(config, error):
    with pytest.raises(error):
        COMPONENTS["gate"](config)


def test_the_error_for_a_wrong_kind_names_the_right_ones():
    with pytest.raises(
        ProtocolError, match="takes the events record, barrier, cancel, end_of_partition, inject; got"
    ):
        gate(1).apply({"kind": ["barrier"]})
