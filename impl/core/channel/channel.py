"""One channel with its sender and its receiver. Unaligned barriers overtake records in it.

Checkpoints store the overtaken records, and a restore puts them back. The network between the two ends holds
no item: `transfer` moves one item from the sender to the receiver. Rules: UNAL-32 to UNAL-36.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from impl.core.channel import events
from impl.core.channel.receiver import Announced, ChannelReceiver
from impl.core.channel.sender import Barrier, ChannelSender, Payload
from impl.core.component import Component, events_of, only_keys, require_checkpoint_id, supported
from impl.core.errors import ProtocolError
from impl.core.gate.unaligned_events import Alignment


class ChannelProfile(NamedTuple):
    """The switches of one generation of channels."""

    counts_aligned: bool
    """Whether an aligned barrier ends the storing of records when it arrives, and may be prioritised."""
    converts_timed_out: bool
    """Whether a barrier at the sender becomes unaligned when its alignment times out."""
    urgent_pass_block: bool
    """Whether the network also transfers unaligned barriers while the sender is blocked."""


CHANNEL_PROFILES: Final[Mapping[str, ChannelProfile]] = {
    "flink-1.12": ChannelProfile(counts_aligned=False, converts_timed_out=False, urgent_pass_block=False),
    "flink-1.13": ChannelProfile(counts_aligned=True, converts_timed_out=False, urgent_pass_block=False),
    "flink-1.16": ChannelProfile(counts_aligned=True, converts_timed_out=True, urgent_pass_block=False),
    "flink-2.3": ChannelProfile(counts_aligned=True, converts_timed_out=True, urgent_pass_block=True),
}
"""The switches of each generation, by its name on the wire, oldest first."""
_NEWEST: Final = "flink-2.3"


class Channel(Component[events.ChannelEvent, events.ChannelEffect]):
    """The channel between two subtasks."""

    def __init__(self, profile: ChannelProfile = CHANNEL_PROFILES[_NEWEST]) -> None:
        self._profile = profile
        self._begin([], [])

    def _begin(self, received: list[object], written: list[object]) -> None:
        profile = self._profile
        self._sender = ChannelSender(
            written,
            converts_timed_out=profile.converts_timed_out,
            urgent_pass_block=profile.urgent_pass_block,
        )
        self._receiver = ChannelReceiver(received, counts_aligned=profile.counts_aligned)

    def emit(self, value: object) -> events.ChannelEffects:
        """The sender emits a record."""
        self._sender.write(value)
        return ()

    def send_barrier(self, checkpoint: int, alignment: Alignment) -> events.ChannelEffects:
        """The sender emits a barrier."""
        require_checkpoint_id(checkpoint)
        return self._sender.barrier(checkpoint, alignment)

    def time_out(self, checkpoint: int) -> events.ChannelEffects:
        """The time-out of a barrier that waits at the sender has passed."""
        require_checkpoint_id(checkpoint)
        return self._sender.time_out(checkpoint)

    def abort(self, checkpoint: int) -> events.ChannelEffects:
        """The sender's task has aborted the checkpoint."""
        require_checkpoint_id(checkpoint)
        return self._sender.abort(checkpoint)

    def resume(self) -> events.ChannelEffects:
        """The receiver's gate resumes the sender. Raises ProtocolError if the sender is not blocked."""
        if not self._sender.blocked:
            raise ProtocolError("no aligned barrier has left, so the sender is not blocked; resume later")
        self._sender.resume()
        return ()

    def transfer(self) -> events.ChannelEffects:
        """One item moves to the receiver. While restored records are unread, no item moves (UNAL-36)."""
        if self._receiver.recovering:
            return ()
        item, effects = self._sender.leave()
        return effects if item is None else (*effects, *self._receiver.arrive(item))

    def take(self) -> events.ChannelEffects:
        """The receiver's gate reads the first item."""
        return self._receiver.read()

    def start_persisting(self, checkpoint: int) -> events.ChannelEffects:
        """The receiver begins to store the records that the checkpoint's barrier overtakes."""
        require_checkpoint_id(checkpoint)
        return self._receiver.start(checkpoint)

    def stop_persisting(self, checkpoint: int) -> events.ChannelEffects:
        """The receiver stops storing for the checkpoint."""
        require_checkpoint_id(checkpoint)
        self._receiver.stop(checkpoint)
        return ()

    def prioritise(self, checkpoint: int) -> events.ChannelEffects:
        """The receiver moves the announced barrier to the front. Raises ProtocolError if it may not."""
        require_checkpoint_id(checkpoint)
        if not self._receiver.is_known(checkpoint):
            raise ProtocolError(
                f"expected the newest barrier at the receiver, got checkpoint {checkpoint}; from flink-1.13 "
                "on, prioritise this barrier after its announcement and before its checkpoint ends"
            )
        self._receiver.prioritise(checkpoint)
        return ()

    def restore(self, input: object, output: object) -> events.ChannelEffects:  # noqa: A002 - the word of the wire
        """A new attempt begins with the records that a checkpoint stored at the receiver and the sender."""
        self._begin(_records(input, "input"), _records(output, "output"))
        return ()

    def observe(self) -> dict[str, Any]:
        """The state fields `output`, `input`, `blocked`, `promised`, `persisting` and `recovering`."""
        return {
            "output": [_observed(item) for item in self._sender.waiting()],
            "input": [_observed(item) for item in self._receiver.waiting()],
            "blocked": self._sender.blocked,
            "promised": self._sender.promised,
            "persisting": self._receiver.awaiting,
            "recovering": self._receiver.recovering,
        }

    _events = events_of(events.ChannelEvent)


def _observed(item: Payload | Barrier | Announced) -> list[object]:
    match item:
        case Payload():
            return ["record", item.value]
        case Barrier():
            return ["barrier", item.checkpoint, item.alignment.value]
        case Announced():
            return ["announce", item.checkpoint]


def _records(values: object, name: str) -> list[object]:
    if not isinstance(values, list | tuple):
        raise ProtocolError(f"{name} must be a list of record values, got {values!r}; send [] for none")
    return list(values)


def channel_from_config(config: Mapping[str, object]) -> Channel:
    """A new channel with the options of a configuration of the wire.

    Raises ConfigError for an unknown key, UnsupportedError for an unknown profile.
    """
    only_keys(config, ("profile",))
    return Channel(CHANNEL_PROFILES[supported(config, "profile", CHANNEL_PROFILES, _NEWEST)])
