"""One channel, both ends: unaligned barriers overtake, and what they overtake is stored and restored.

The network in between holds nothing: `transfer` carries one item from the sending end to the receiving one.
Rules: UNAL-32 to UNAL-36.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, assert_never

from impl.core.channel.events import (
    ChannelEffects,
    ChannelEvent,
    Emit,
    GiveUp,
    LetGo,
    Prioritise,
    RestoreLink,
    SendBarrier,
    StartPersisting,
    StopPersisting,
    Take,
    TimeOut,
    Transfer,
)
from impl.core.channel.receiver import Announced, ReceivingEnd
from impl.core.channel.sender import Barrier, Payload, SendingEnd
from impl.core.component import Component, events_of, only_keys, require_checkpoint_id, supported
from impl.core.errors import ProtocolError
from impl.core.gate.unaligned_events import Alignment


class LinkGeneration(NamedTuple):
    """What changed in Flink's channels from release to release."""

    hears_regular: bool
    """A barrier that overtakes nothing ends what the receiver stores, and can be asked for."""
    converts: bool
    """The sender makes a barrier overtake whose time is out."""
    express_while_held: bool
    """A barrier that overtakes travels while the sender is held."""


LINK_GENERATIONS: Final[Mapping[str, LinkGeneration]] = {
    "flink-1.12": LinkGeneration(hears_regular=False, converts=False, express_while_held=False),
    "flink-1.13": LinkGeneration(hears_regular=True, converts=False, express_while_held=False),
    "flink-1.16": LinkGeneration(hears_regular=True, converts=True, express_while_held=False),
    "flink-2.3": LinkGeneration(hears_regular=True, converts=True, express_while_held=True),
}
_NEWEST: Final = "flink-2.3"


class Link(Component):
    """The channel between two subtasks."""

    def __init__(self, generation: LinkGeneration = LINK_GENERATIONS[_NEWEST]) -> None:
        self._generation = generation
        self._begin([], [])

    def _begin(self, received: list[object], written: list[object]) -> None:
        known = self._generation
        self._sender = SendingEnd(
            written, converts=known.converts, express_while_held=known.express_while_held
        )
        self._receiver = ReceivingEnd(received, hears_regular=known.hears_regular)

    def emit(self, value: object) -> ChannelEffects:
        """The sending task writes a record."""
        self._sender.write(value)
        return ()

    def send_barrier(self, checkpoint: int, alignment: Alignment) -> ChannelEffects:
        """The sending task's barrier goes into the channel, or past what is in it."""
        require_checkpoint_id(checkpoint)
        return self._sender.barrier(checkpoint, alignment)

    def time_out(self, checkpoint: int) -> ChannelEffects:
        """A barrier that still waits at the sender overtakes."""
        require_checkpoint_id(checkpoint)
        return self._sender.time_out(checkpoint)

    def give_up(self, checkpoint: int) -> ChannelEffects:
        """The sending task hears that the checkpoint is aborted."""
        require_checkpoint_id(checkpoint)
        return self._sender.give_up(checkpoint)

    def let_go(self) -> ChannelEffects:
        """The receiving gate goes on; `ProtocolError` if it has nothing to let go."""
        if not self._sender.held:
            raise ProtocolError("no aligned barrier has left; resume what one has held up")
        self._sender.let_go()
        return ()

    def transfer(self) -> ChannelEffects:
        """One item travels; none does while restored input is unread (UNAL-36)."""
        if self._receiver.recovering:
            return ()
        item, said = self._sender.leave()
        return said if item is None else (*said, *self._receiver.arrive(item))

    def take(self) -> ChannelEffects:
        """The receiving gate reads one item."""
        return self._receiver.read()

    def start_persisting(self, checkpoint: int) -> ChannelEffects:
        """The receiving task's snapshot begins."""
        require_checkpoint_id(checkpoint)
        return self._receiver.start(checkpoint)

    def stop_persisting(self, checkpoint: int) -> ChannelEffects:
        """The receiving task's snapshot has all of the channel."""
        require_checkpoint_id(checkpoint)
        self._receiver.stop(checkpoint)
        return ()

    def prioritise(self, checkpoint: int) -> ChannelEffects:
        """The receiving gate wants the announced barrier."""
        require_checkpoint_id(checkpoint)
        if not self._receiver.is_known(checkpoint):
            raise ProtocolError(
                f"no barrier of checkpoint {checkpoint} is known as the newest at the receiver; from 1.13 on "
                "prioritise that one, between its announcement and the end of its snapshot"
            )
        self._receiver.prioritise(checkpoint)
        return ()

    def restore(self, input: object, output: object) -> ChannelEffects:  # noqa: A002 - the word of the wire
        """A new attempt begins with the records that a checkpoint stored at both ends."""
        self._begin(_records(input, "input"), _records(output, "output"))
        return ()

    def observe(self) -> dict[str, Any]:
        """`output`, `input`, `blocked`, `promised`, `persisting`, `recovering`."""
        return {
            "output": [_shown(item) for item in self._sender.waiting()],
            "input": [_shown(item) for item in self._receiver.waiting()],
            "blocked": self._sender.held,
            "promised": self._sender.open_part,
            "persisting": self._receiver.awaiting,
            "recovering": self._receiver.recovering,
        }

    def handle(self, event: ChannelEvent) -> ChannelEffects:
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
        match event:
            case Emit(value):
                return self.emit(value)
            case SendBarrier(checkpoint, alignment):
                return self.send_barrier(checkpoint, alignment)
            case TimeOut(checkpoint):
                return self.time_out(checkpoint)
            case GiveUp(checkpoint):
                return self.give_up(checkpoint)
            case LetGo():
                return self.let_go()
            case Transfer():
                return self.transfer()
            case Take():
                return self.take()
            case StartPersisting(checkpoint):
                return self.start_persisting(checkpoint)
            case StopPersisting(checkpoint):
                return self.stop_persisting(checkpoint)
            case Prioritise(checkpoint):
                return self.prioritise(checkpoint)
            case RestoreLink(input, output):
                return self.restore(input, output)
            case _:
                assert_never(event)

    _events = events_of(ChannelEvent)


def _shown(item: Payload | Barrier | Announced) -> list[object]:
    match item:
        case Payload():
            return ["record", item.value]
        case Barrier():
            return ["barrier", item.checkpoint, item.alignment.value]
        case Announced():
            return ["announce", item.checkpoint]


def _records(values: object, name: str) -> list[object]:
    if not isinstance(values, list | tuple):
        raise ProtocolError(f"{name} has to be a list of record values, came {values!r}; send [] for none")
    return list(values)


def link_from_config(config: Mapping[str, object]) -> Link:
    """The channel that a wire configuration asks for."""
    only_keys(config, ("profile",))
    return Link(LINK_GENERATIONS[supported(config, "profile", LINK_GENERATIONS, _NEWEST)])
