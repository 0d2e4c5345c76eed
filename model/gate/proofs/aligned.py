"""The symbolic cases of the aligned gate, for every profile: any state, any id, also with waiting items."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import z3

from model.checker.prove import Case
from model.checker.symbolic import bool_term, int_term, symbolic_like
from model.gate import aligned, polled_gate
from model.gate.events import Barrier, Cancel, EndOfPartition, Injection, Record
from model.gate.polled_gate import Watched
from model.gate.profiles import NEWEST, Profile
from model.gate.properties.polled import follow_an_end
from model.steps import step_of


def symbolic_gate(channels: int, profile: Profile) -> aligned.Gate:
    """A gate with `channels` channels in any state in which it has not failed."""
    gate: aligned.Gate = symbolic_like(aligned.new_gate(channels, True, profile), "gate")
    return gate._replace(failed=False) if profile.repeats_count else gate._replace(failed=False, repeats=0)


def gate_cases(channels: int, profile: Profile = NEWEST) -> Iterator[Case]:
    """A gate with `channels` channels in any state, and every event that an open channel may deliver."""
    state = symbolic_gate(channels, profile)
    for channel in range(channels):
        for event in (Barrier(channel, 0), Cancel(channel, 0), EndOfPartition(channel)):
            yield Case(
                "gate",
                f"{profile.name}, {channels} channels, {event.kind} on {channel}",
                state,
                item := arriving(event),
                step_of("gate"),
                is_open(state, item),
            )
    if profile.ends_count:
        injected = symbolic_like(Injection(0), "event")
        yield Case(
            "gate",
            f"{profile.name}, {channels} channels, inject",
            state,
            injected,
            step_of("gate"),
            (int_term(injected.checkpoint) >= 0,),
        )


def arriving(event: Any) -> Any:  # noqa: ANN401 - an Item
    """The item with a symbol for its id or value. Its channel stays a number."""
    if type(event) is EndOfPartition:
        return event
    if type(event) is Record:
        return event._replace(value=symbolic_like(0, f"event.{event.channel}.value"))
    return event._replace(checkpoint=symbolic_like(0, "event.checkpoint"))


def is_open(gate: aligned.Gate, item: Any) -> tuple[z3.BoolRef, ...]:  # noqa: ANN401 - an Item
    """The item's channel is open, and its id is not negative."""
    opened = z3.Not(bool_term(gate.closed[item.channel]))
    if type(item) is EndOfPartition or type(item) is Record:
        return (opened,)
    return (opened, int_term(item.checkpoint) >= 0)


def network_cases(channels: int, waiting: int) -> Iterator[Case]:
    """A polled gate with `waiting` waiting items of every class and on every channel, and every event."""

    for held in held_back(channels, waiting):
        for item in next_items(channels, held):
            yield _network_case(channels, held, item)
        if waiting < 2:
            yield _network_case(channels, held, symbolic_like(Injection(0), "event"))


def history_cases(channels: int, profile: Profile = NEWEST) -> Iterator[Case]:
    """A gate in any state with a record of the items that it has read, and every event."""
    gate = symbolic_gate(channels, profile)
    last = tuple(symbolic_like(0, f"last.{channel}") for channel in range(channels))
    at_barrier = tuple(symbolic_like(False, f"at barrier.{channel}") for channel in range(channels))
    for channel in range(channels):
        for event in _items(channel, "event"):
            yield _history_case(Watched(gate, last, at_barrier), event, is_open(gate, event))
    if profile.ends_count:
        injected = symbolic_like(Injection(0), "event")
        yield _history_case(Watched(gate, last, at_barrier), injected, (int_term(injected.checkpoint) >= 0,))


def _history_case(watched: Watched, event: Any, allowed: tuple[z3.BoolRef, ...]) -> Case:  # noqa: ANN401 - an Item
    gate = watched.gate
    name = f"{gate.profile.name}, {len(gate.closed)} channels, {event.kind}"
    return Case("history", name, watched, event, step_of("history"), allowed)


def held_back(channels: int, number: int) -> Iterator[tuple[polled_gate.Item, ...]]:
    """All sequences of `number` items that the channels may have delivered, by class and channel."""
    sequences = product(
        *(
            [item for channel in range(channels) for item in _items(channel, f"waiting.{place}")]
            for place in range(number)
        )
    )
    return (held for held in sequences if not follow_an_end(held))


def next_items(channels: int, held: tuple[polled_gate.Item, ...]) -> Iterator[polled_gate.Item]:
    """An item of every class that a channel may deliver after the items of `held`."""
    for channel in range(channels):
        for item in _items(channel, "event"):
            if not follow_an_end((*held, item)):
                yield item


def _items(channel: int, name: str) -> tuple[polled_gate.Item, ...]:
    checkpoint = symbolic_like(0, f"{name}.checkpoint")
    value = symbolic_like(0, f"{name}.value")
    return (
        Record(channel, value),
        Barrier(channel, checkpoint),
        Cancel(channel, checkpoint),
        EndOfPartition(channel),
    )


def blocked_again_cases() -> Iterator[Case]:
    """The first waiting item blocks its channel again: the gate reads the third item, not the second."""
    waiting = (
        Barrier(0, symbolic_like(0, "waiting.0.checkpoint")),
        Record(0, symbolic_like(0, "waiting.1.value")),
        Record(1, symbolic_like(0, "waiting.2.value")),
    )
    for event in (Barrier(2, 0), Cancel(2, 0), EndOfPartition(2)):
        yield _network_case(3, waiting, arriving(event))


def _network_case(channels: int, held: tuple[polled_gate.Item, ...], event: Any) -> Case:  # noqa: ANN401 - an Item
    gate = symbolic_gate(channels, NEWEST)
    injected = type(event) is Injection
    allowed = (int_term(event.checkpoint) >= 0,) if injected else is_open(gate, event)
    return Case(
        "network",
        f"{channels} channels, {[item.kind for item in held]} waiting, {event.kind}"
        + ("" if injected else f" on {event.channel}"),
        polled_gate.Inbox(gate, held),
        event,
        step_of("network"),
        allowed,
    )
