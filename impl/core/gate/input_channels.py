"""`Gate`: the input channels of a gate, and the checks that every mode shares."""

from typing import Final

from impl.core.component import Component, EventT
from impl.core.errors import ConfigError, ProtocolError
from impl.core.gate.profiles import NEWEST, PROFILES, Profile
from impl.core.gate.unaligned_events import GateEffect

MAX_CHANNELS: Final = 32_768
"""Largest number of channels: Flink's bound on the parallelism."""


class Gate(Component[EventT, GateEffect]):
    """A gate over the channels 0 to `channels` - 1.

    `after_finish`: whether an ended channel counts for a checkpoint; None: the default of the profile.
    Raises ConfigError if the number of channels is not between 1 and 32,768.
    """

    def __init__(
        self, channels: int, profile: Profile = PROFILES[NEWEST], after_finish: bool | None = None
    ) -> None:
        if not 1 <= channels <= MAX_CHANNELS:
            raise ConfigError(f"a gate has 1 to {MAX_CHANNELS} channels, got {channels}; correct `channels`")
        self._channels = channels
        self._profile = profile
        self._after_finish = profile.ends_count if after_finish is None else after_finish
        self._failed = False
        self._blocked: set[int] = set()
        self._closed: set[int] = set()

    @property
    def channels(self) -> int:
        """Number of channels, ended ones included."""
        return self._channels

    @property
    def has_failed(self) -> bool:
        """Whether the task has failed; the gate then accepts no event."""
        return self._failed

    def is_blocked(self, channel: int) -> bool:
        """Whether the gate does not read the channel until it resumes it."""
        return channel in self._blocked

    def is_closed(self, channel: int) -> bool:
        """Whether the channel has ended."""
        return channel in self._closed

    def require_working(self) -> None:
        """Raise ProtocolError if the task has failed."""
        if self._failed:
            raise ProtocolError("the gate has failed and accepts no event; make a new gate")

    def require_open(self, channel: int) -> None:
        """Raise ProtocolError if the task has failed, or the channel does not exist or has ended."""
        self.require_working()
        if not 0 <= channel < self._channels:
            raise ProtocolError(
                f"the gate has the channels 0 to {self._channels - 1}, got {channel}; send on one of those"
            )
        if channel in self._closed:
            raise ProtocolError(
                f"channel {channel} has ended, so no event may follow; send on another or make a new gate"
            )
