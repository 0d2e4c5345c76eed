"""The proofs of one channel: up to two items at each end, of every class, with any ids."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import z3

from model.channel.channel import (
    ARRIVED,
    AWAITED,
    CHANNEL_PROFILES,
    IDLE,
    NEWEST_CHANNEL,
    Channel,
    ChannelProfile,
    Queue,
    is_urgent,
    new_channel,
    records_in,
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
from model.channel.items import Datum, Item, Mark, Notice
from model.checker.prove import Case
from model.checker.symbolic import int_term, symbolic_like
from model.events import NONE, Event
from model.gate.alignment import ALIGNED, TIMED, UNALIGNED
from model.steps import step_of

ALIGNMENTS = (ALIGNED, UNALIGNED, TIMED)


def queues(name: str, length: int, *, notices: bool) -> Iterator[Queue]:
    """Queues of `length` items, urgent ones first; values and ids are symbols."""

    def items(place: int) -> Iterator[Item]:
        known = symbolic_like(0, f"{name}.{place}")
        yield Datum(known)
        yield from (Mark(known, alignment) for alignment in ALIGNMENTS)
        if notices:
            yield Notice(known)

    for queue in product(*(tuple(items(place)) for place in range(length))):
        urgent = [is_urgent(item) for item in queue]
        if urgent == sorted(urgent, reverse=True):
            yield queue


def sender_cases(length: int, profile: ChannelProfile) -> Iterator[Case]:
    """Every event at the sender's queue."""
    known = symbolic_like(0, "event.checkpoint")
    events: tuple[Event, ...] = (
        Emit(symbolic_like(0, "event.value")),
        *(SendBarrier(known, alignment) for alignment in ALIGNMENTS),
        TimeOut(known),
        AbortAtSender(known),
        ResumeSender(),
        Transfer(),
        RestoreChannel((symbolic_like(0, "in"),), (symbolic_like(0, "out"),)),
    )
    for output in queues("output", length, notices=False):
        for owes in (False, True) if profile.times_out_at_sender else (False,):
            if owes and not any(type(item) is Mark and item.alignment == TIMED for item in output):
                continue
            for event in events:
                state = _channel(profile)._replace(
                    output=output,
                    blocked=symbolic_like(False, "blocked"),
                    promised=symbolic_like(0, "promised") if owes else NONE,
                )
                yield from _in_phases(state, event, f"{_named(output)} at the sender")


def receiver_cases(length: int, profile: ChannelProfile) -> Iterator[Case]:
    """Every event at the receiver's queue; one item of each class may arrive."""
    known = symbolic_like(0, "event.checkpoint")
    events: tuple[Event, ...] = (Take(), BeginPersisting(known), EndPersisting(known), MakeUrgent(known))
    for unread in queues("input", length, notices=True):
        records = len(records_in(unread))
        for before, is_last in ((0, False), *((count, True) for count in range(records + 1))):
            state = _channel(profile)._replace(
                input=unread,
                before=before,
                last=symbolic_like(0, "last") if is_last else NONE,
            )
            label = f"{_named(unread)} at the receiver, {before} before the barrier"
            for event in events:
                yield from _in_phases(state, event, label)
            for arriving in queues("output", 1, notices=False):
                yield from _in_phases(state._replace(output=arriving), Transfer(), f"{label}, one comes")
        if unread and records == len(unread):
            for event in (*events[:3], Transfer()):
                state = _channel(profile)._replace(input=unread, restored=records)
                yield from _in_phases(state, event, f"{_named(unread)} restored")


def announced_cases(profile: ChannelProfile) -> Iterator[Case]:
    """The gate reads one of two announcements, or asks for the barrier behind them."""
    notices = (Notice(symbolic_like(0, "first")), Notice(symbolic_like(0, "second")))
    waits = Mark(symbolic_like(0, "waits"), TIMED)
    state = _channel(profile)._replace(input=(*notices, waits), last=symbolic_like(0, "last"))
    for event in (Take(), MakeUrgent(symbolic_like(0, "event.checkpoint"))):
        yield from _in_phases(state, event, "two announcements")


def _channel(profile: ChannelProfile) -> Channel:
    return new_channel(profile)._replace(seen=symbolic_like(0, "seen"))


def _in_phases(state: Channel, event: Event, label: str) -> Iterator[Case]:
    if type(event) is MakeUrgent and not any(
        type(item) is Mark and item.alignment == TIMED for item in state.input
    ):
        return
    for phase in (IDLE, AWAITED, ARRIVED):
        if type(event) not in _BY_PHASE and phase != IDLE:
            continue
        yield Case(
            "channel",
            f"{label}, phase {phase}, {state.profile.name}, {event[-1]}",
            state._replace(phase=phase),
            event,
            step_of("channel"),
            _promise(state, event),
        )


_BY_PHASE = (Transfer, Take, BeginPersisting, EndPersisting)
"""Events whose outcome depends on the phase."""


_OF_CHECKPOINT = (SendBarrier, TimeOut, AbortAtSender, BeginPersisting, EndPersisting, MakeUrgent)


def _promise(state: Channel, event: Event) -> tuple[z3.BoolRef, ...]:
    """Ids are not negative; the gate prioritises only barriers that wait."""
    ids: list[Any] = [item[0] for item in (*state.output, *state.input) if type(item) is not Datum]
    if type(event) in _OF_CHECKPOINT:
        ids.append(event[0])
    if type(state.promised) is not int:
        ids.append(state.promised)
    if type(state.last) is not int:
        ids.append(state.last)
    prioritised: tuple[z3.BoolRef, ...] = ()
    if type(event) is MakeUrgent:
        waits = [item.checkpoint for item in state.input if type(item) is Mark and item.alignment == TIMED]
        prioritised = (z3.Or(*(int_term(one) == int_term(event.checkpoint) for one in waits)),)
    return (*(int_term(known) >= 0 for known in ids), int_term(state.seen) >= NONE, *prioritised)


def _named(queue: Queue) -> list[str]:
    return [type(item).__name__ for item in queue]


def all_channel_cases() -> Iterator[Case]:
    """All cases of the published proofs: one item at the sender, and one that arrives at the receiver."""
    for length in (0, 1):
        yield from sender_cases(length, NEWEST_CHANNEL)
    yield from announced_cases(NEWEST_CHANNEL)
    for profile in (NEWEST_CHANNEL, *_OLDER):
        yield from receiver_cases(0, profile)


def thorough_channel_cases() -> Iterator[Case]:
    """One and two items at each end, in every generation."""
    for profile in (NEWEST_CHANNEL, *_OLDER):
        for length in (1, 2):
            yield from sender_cases(length, profile)
            yield from receiver_cases(length, profile)


_OLDER = tuple(profile for profile in CHANNEL_PROFILES.values() if profile is not NEWEST_CHANNEL)
