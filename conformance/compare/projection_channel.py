"""The projection of a channel between two tasks: ChannelModel.tla and `model.channel.exchange`."""

from collections.abc import Mapping
from typing import Any

from model.channel.channel import ARRIVED, AWAITED, CHANNEL_PROFILES, IDLE, Channel, ChannelProfile, Queue
from model.channel.environment import closed_exchange
from model.channel.events import Datum, GiveBarrier, Mark, Notice, SendBarrier
from model.channel.exchange import DONE, GIVEN_UP, OPEN, Exchange, StoredCheckpoint
from model.checker.closed_model import ClosedModel
from model.events import Effect, Event
from model.gate.unaligned_events import ALIGNED, TIMED, UNALIGNED

ALIGNMENTS = {"aligned": ALIGNED, "unaligned": UNALIGNED, "timeout": TIMED}
_NAMES = {code: name for name, code in ALIGNMENTS.items()}
_PHASES = {"idle": IDLE, "awaited": AWAITED, "arrived": ARRIVED}
_RECEIVERS = {"open": OPEN, "done": DONE, "given up": GIVEN_UP}


def closed_channel_of(constants: Mapping[str, int | bool]) -> ClosedModel:
    """The closed model that the constants of a configuration ask for."""
    wanted = tuple(bool(constants[name]) for name in ("Hears", "TimesOut", "Passes"))
    profiles = [profile for profile in CHANNEL_PROFILES.values() if profile[1:] == wanted]
    return closed_exchange(int(constants["R"]), int(constants["M"]), int(constants["F"]), profiles[0])


def exchange_of(state: Mapping[str, Any], profile: ChannelProfile) -> Exchange:
    """The record of the model that a TLA+ state is."""
    there = state["channel"]
    books = state["books"]
    stored = books.values() if isinstance(books, Mapping) else books
    return Exchange(
        Channel(
            _queue(there["output"]),
            there["blocked"],
            there["promised"],
            _queue(there["input"]),
            there["restored"],
            _PHASES[there["phase"]],
            there["seen"],
            there["last"],
            there["before"],
            profile,
        ),
        state["sent"],
        state["read"],
        state["begun"],
        tuple(
            StoredCheckpoint(
                book["sent"],
                book["output"],
                book["owed"],
                book["read"],
                book["input"],
                _RECEIVERS[book["receiver"]],
            )
            for book in stored
        ),
    )


def _queue(items: tuple[tuple[Any, ...], ...]) -> Queue:
    queue: Queue = ()
    for item in items:
        if item[0] == "record":
            queue = (*queue, Datum(item[1]))
        elif item[0] == "barrier":
            queue = (*queue, Mark(item[1], ALIGNMENTS[item[2]]))
        else:
            queue = (*queue, Notice(item[1]))
    return queue


def said(event: Event, effects: tuple[Effect, ...]) -> tuple[tuple[Any, ...], ...]:
    """The value of `out`; alignments by name."""
    return tuple(_words(word) for word in (event, *effects))


def _words(word: Event | Effect) -> tuple[Any, ...]:
    if type(word) is SendBarrier or type(word) is GiveBarrier:
        return (word.kind, word.checkpoint, _NAMES[word.alignment])
    return (word[-1], *word[:-1])
