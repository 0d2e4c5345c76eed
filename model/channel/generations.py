"""The steps of older generations of a channel, Flink 1.12 to 2.2.

Each class derives from the class of the next newer generation. It overrides the steps in which its generation
and all older ones differ. `channel_steps` selects the class for a channel.
"""

from collections.abc import Mapping

from model.channel.channel import CHANNEL_PROFILES, Channel, ChannelProfile, ChannelSteps, is_urgent
from model.channel.items import Mark
from model.events import Step


class BlocksUrgentItems(ChannelSteps):
    """1.16 to 2.2: after a barrier in order the sender also holds back urgent items."""

    def may_leave(self, channel: Channel) -> bool:
        """Whether the sender has an item, and has not stopped after a barrier in order."""
        return bool(channel.output) and not channel.blocked


class NeverTimesOutAtSender(BlocksUrgentItems):
    """1.13 to 1.15: a barrier with a time-out that waits at the sender overtakes nothing."""

    def await_time_out(self, channel: Channel, checkpoint: int) -> Step[Channel]:
        """The barrier travels in order, and has no time-out at the sender."""
        return Step(channel, (), ())


class CountsOnlyUrgent(NeverTimesOutAtSender):
    """1.12: a barrier that waits in order does not count as arrived, and the gate never prioritises it."""

    def counts(self, barrier: Mark) -> bool:
        """Whether the barrier counts as arrived before the gate reads it: only if it is urgent."""
        return is_urgent(barrier)

    def may_prioritise(self, channel: Channel, checkpoint: int) -> bool:
        """False: the gate prioritises no barrier."""
        return False


_STEPS: Mapping[ChannelProfile, ChannelSteps] = {
    CHANNEL_PROFILES["flink-1.12"]: CountsOnlyUrgent(),
    CHANNEL_PROFILES["flink-1.13"]: NeverTimesOutAtSender(),
    CHANNEL_PROFILES["flink-1.16"]: BlocksUrgentItems(),
    CHANNEL_PROFILES["flink-2.3"]: ChannelSteps(),
}


def channel_steps(channel: Channel) -> ChannelSteps:
    """The steps of the channel's generation."""
    return _STEPS[channel.profile]
