"""The symbolic cases of one channel in any state, with up to three items of every class and any ids."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import z3

from model.channel.channel import (
    CHANNEL_PROFILES,
    NEWEST_CHANNEL,
    Channel,
    ChannelProfile,
    Queue,
    new_channel,
)
from model.channel.events import (
    AbortAtSender,
    BeginPersisting,
    Emit,
    EndPersisting,
    MakeUrgent,
    RestoreChannel,
    ResumeSender,
    SendBarrier,
    Take,
    TimeOut,
    Transfer,
)
from model.channel.generations import channel_steps
from model.channel.items import Datum, Item, Mark, Notice
from model.checker.prove import Case
from model.checker.symbolic import bool_term, formula, symbolic_like
from model.events import Event
from model.gate.alignment import ALIGNED, TIMED
from model.steps import step_of


def channel_cases(items: int, profile: ChannelProfile = NEWEST_CHANNEL) -> Iterator[Case]:
    """Yields every event in every state with `items` items, at both ends together."""
    for sent in range(items + 1):
        for output in _queues("output", sent):
            for unread in _queues("input", items - sent, Notice(0)):
                state = _channel(profile)._replace(output=output, input=unread)
                for event in _events(state):
                    yield _case(state, event)


def announced_cases(profile: ChannelProfile) -> Iterator[Case]:
    """Yields two events: the gate reads one of two announcements, or prioritises the barrier behind them."""
    (unread,) = (queue for queue in _queues("input", 3, Notice(0)) if _named(queue) == _TWO_ANNOUNCED)
    state = _channel(profile)._replace(input=unread)
    for event in (Take(), MakeUrgent(symbolic_like(0, "event.checkpoint"))):
        yield _case(state, event)


_TWO_ANNOUNCED = ["announce", "announce", "barrier"]


def _channel(profile: ChannelProfile) -> Channel:
    state: Channel = symbolic_like(new_channel(profile), "channel")
    return state._replace(profile=profile)


def _case(state: Channel, event: Event) -> Case:
    return Case(
        "channel",
        f"{_named(state.output)} at the sender, {_named(state.input)} at the receiver, "
        f"{state.profile.name}, {event[-1]}",
        state,
        event,
        step_of("channel"),
        _promise(state, event),
    )


def _queues(name: str, length: int, *more: Item) -> Iterator[Queue]:
    """Yields queues of `length` symbolic items. No announcement is directly behind a record."""
    for items in product((Datum(0), Mark(0, 0), *more), repeat=length):
        queue = tuple(symbolic_like(item, f"{name}.{place}") for place, item in enumerate(items))
        if "record announce" not in " ".join(item.kind for item in queue if type(item) is not Mark):
            yield queue


def _events(state: Channel) -> Iterator[Event]:
    """Yields every event. A restore has up to two records."""
    known = symbolic_like(0, "event.checkpoint")
    yield Emit(symbolic_like(0, "event.value"))
    yield SendBarrier(known, symbolic_like(0, "event.alignment"))
    yield from (TimeOut(known), AbortAtSender(known), ResumeSender(), Transfer(), Take())
    yield from (BeginPersisting(known), EndPersisting(known))
    if may_become_urgent(state.input):
        yield MakeUrgent(known)
    values = symbolic_like((0, 0), "value")
    for end in range(3):
        yield from (RestoreChannel(values[:start], values[start:end]) for start in range(end + 1))


def may_become_urgent(queue: Queue) -> bool:
    """Whether the gate may prioritise a barrier of this queue: some barrier is behind all announcements."""
    return "barrier" in " ".join(_named(queue)).rpartition("announce")[2]


def _promise(state: Channel, event: Any) -> tuple[z3.BoolRef, ...]:  # noqa: ANN401 - any event of a channel
    """The assumptions about an event: ids and alignments are valid, and the gate may prioritise."""
    bounds: list[z3.BoolRef] = []
    if getattr(event, "checkpoint", None) is not None:
        bounds.append(bool_term(event.checkpoint >= 0))
    if type(event) is SendBarrier:
        bounds.extend(map(bool_term, (event.alignment >= ALIGNED, event.alignment <= TIMED)))
    if type(event) is MakeUrgent:
        bounds.append(formula(lambda: channel_steps(state).may_prioritise(state, event.checkpoint)))
    return tuple(bounds)


def _named(queue: Queue) -> list[str]:
    return [item.kind for item in queue]


def all_channel_cases() -> Iterator[Case]:
    """All cases of the published proofs."""
    for items in (0, 1, 2):
        yield from channel_cases(items)
    yield from announced_cases(NEWEST_CHANNEL)
    for profile, items in product(OLDER, (0, 1)):
        yield from channel_cases(items, profile)


def thorough_channel_cases() -> Iterator[Case]:
    """The additional cases of a thorough verification: one more item, in every generation."""
    yield from channel_cases(3)
    for profile in OLDER:
        yield from channel_cases(2, profile)


OLDER = tuple(profile for profile in CHANNEL_PROFILES.values() if profile is not NEWEST_CHANNEL)
