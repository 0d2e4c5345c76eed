"""What every gate knows of its input channels, and what every gate behind a network refuses to be sent.

Which channels there are, which have ended, which wait, and whether the gate still takes anything: the modes
differ in what they do with a barrier, not in this.
"""

from typing import Any, Final, Generic, TypeVar

from impl.core.component import Component
from impl.core.errors import ConfigError, ProtocolError

MAX_CHANNELS: Final = 32_768
"""More subtasks than this cannot stand before a gate: it is Flink's bound on the parallelism."""


class Gate(Component):
    """A gate over the channels 0 to `channels` - 1; `ConfigError` if there are none, or too many."""

    def __init__(self, channels: int) -> None:
        if not 1 <= channels <= MAX_CHANNELS:
            raise ConfigError(f"a gate has 1 to {MAX_CHANNELS} channels, came {channels}; correct `channels`")
        self._channels = channels
        self._failed = False
        self._blocked: set[int] = set()
        self._closed: set[int] = set()

    @property
    def channels(self) -> int:
        """How many channels the gate reads, ended ones among them."""
        return self._channels

    @property
    def has_failed(self) -> bool:
        """Whether an event was refused: the gate takes nothing more."""
        return self._failed

    def is_blocked(self, channel: int) -> bool:
        """Whether the channel has delivered an aligned barrier and waits."""
        return channel in self._blocked

    def is_closed(self, channel: int) -> bool:
        """Whether the channel has ended."""
        return channel in self._closed

    def require_working(self) -> None:
        """Raise `ProtocolError` for a gate that has failed."""
        if self._failed:
            raise ProtocolError("the gate has refused an event and takes nothing more; make a new gate")

    def require_open(self, channel: int) -> None:
        """Raise `ProtocolError` for a failed gate, for a channel that it does not have or that ended."""
        self.require_working()
        if not 0 <= channel < self._channels:
            raise ProtocolError(
                f"the gate has the channels 0 to {self._channels - 1}, came {channel}; send on one of those"
            )
        if channel in self._closed:
            raise ProtocolError(
                f"channel {channel} has ended and nothing may follow; send on another or make a new gate"
            )


OneGate = TypeVar("OneGate", bound=Gate)


class Polled(Component, Generic[OneGate]):
    """A gate behind a network that obeys `block` and `resume`: what is sent may wait there."""

    def __init__(self, gate: OneGate) -> None:
        self._gate = gate
        self._ending: set[int] = set()  # the end has been sent, and waits behind a blocked channel

    def observe(self) -> dict[str, Any]:
        """The state of the gate; what waits is not yet part of it."""
        return self._gate.observe()

    def _require_sendable(self, channel: int) -> None:
        """What arrives has to be legal now: nobody could be told later."""
        self._gate.require_open(channel)
        if channel in self._ending:
            raise ProtocolError(
                f"the end of channel {channel} was sent and waits behind its block, so nothing may follow; "
                "send on another channel or make a new gate"
            )
