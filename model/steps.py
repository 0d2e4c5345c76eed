"""The step function for the class of each event: a table without rules."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from model.channel import channel, exchange
from model.channel import events as channel_events
from model.channel.events import BeginPersisting, EndPersisting
from model.coordinator import events as coordinator_events
from model.coordinator.generations import coordinator_steps
from model.coordinator.trigger import MasterAnswer
from model.events import Advance, Event, Step
from model.gate import buffering, polled_gate, polled_unaligned_gate, two_threads
from model.gate.events import (
    Announce,
    Barrier,
    Cancel,
    EndOfPartition,
    Inject,
    Injection,
    OptionedBarrier,
    ReceiveBarrier,
    Record,
    RunMail,
)
from model.gate.generations import aligned_steps, tracking_steps
from model.gate.unaligned_generations import unaligned_steps
from model.offsets import events as offsets_events
from model.offsets import offsets
from model.sink import events as sink_events
from model.sink import two_phase_commit
from model.source import events as source_events
from model.source import source_task
from model.store import store
from model.store.events import Add, LatestRequest, Shutdown
from model.store.generations import store_steps
from model.subtask import events as subtask_events
from model.subtask.generations import subtask_steps

Handler = Callable[..., Step[Any]]


def _name(event: type) -> str:
    """The name of the step function for a class of events: `on_`, and the kind."""
    return f"on_{getattr(event, '_field_defaults')['kind']}"  # noqa: B009 - mypy: a NamedTuple class


def _of(steps: object, events: Iterable[type]) -> Mapping[type, Handler]:
    """By event, its step in a module."""
    return {event: getattr(steps, _name(event)) for event in events}


def _of_generation(steps_of: Callable[[Any], object], events: Iterable[type]) -> Mapping[type, Handler]:
    """By event, its step in the state's generation."""

    def handler(name: str) -> Handler:
        return lambda state, *fields: getattr(steps_of(state), name)(state, *fields)

    return {event: handler(_name(event)) for event in events}


HANDLERS: Mapping[str, Mapping[type, Handler]] = {
    "gate": _of_generation(aligned_steps, (Barrier, Cancel, EndOfPartition, Injection)),
    "tracker": _of_generation(tracking_steps, (Record, Barrier, Cancel, EndOfPartition)),
    "unaligned": _of_generation(
        unaligned_steps, (OptionedBarrier, Announce, Inject, Cancel, EndOfPartition, Advance)
    ),
    "threads": _of(two_threads, (ReceiveBarrier, RunMail, OptionedBarrier, Cancel, EndOfPartition, Advance)),
    "channel": _of(channel, channel_events.EVENTS),
    "subtask": _of_generation(subtask_steps, subtask_events.EVENTS),
    "source": _of(source_task, source_events.EVENTS),
    "coordinator": _of_generation(coordinator_steps, (*coordinator_events.EVENTS, MasterAnswer)),
    "store": {**_of(store, (LatestRequest, Shutdown)), **_of_generation(store_steps, (Add,))},
    "sink": _of(two_phase_commit, sink_events.EVENTS),
    "offsets": _of(offsets, offsets_events.EVENTS),
}


def step_of(component: str) -> Callable[[Any, Event], Step[Any]]:
    """The step of one component: it passes the event's fields to the function of its class."""
    if component == "network":
        return network_step
    if component == "buffer":
        return buffer_step
    if component == "passage":
        return passage_step
    if component == "exchange":
        return exchange_step
    handlers = HANDLERS[component]

    def step(state: Any, event: Event) -> Step[Any]:  # noqa: ANN401 - any component's state
        return handlers[type(event)](state, *event[:-1])

    return step


def network_step(inbox: polled_gate.Inbox, item: Any) -> Step[Any]:  # noqa: ANN401 - an Item
    """The step of the polled gate, which takes items whole."""
    if type(item) is Injection:
        return polled_gate.on_inject(inbox, item.checkpoint)
    return polled_gate.on_arrival(inbox, item)


def buffer_step(buffer: buffering.Buffer, item: Any) -> Step[Any]:  # noqa: ANN401 - an Item
    """The step of the gate that stores items."""
    return buffering.on_arrival(buffer, item)


def passage_step(passage: polled_unaligned_gate.Passage, event: Any) -> Step[Any]:  # noqa: ANN401 - an Item or a call
    """The step of the polled gate of unaligned checkpoints; a call goes to the gate at once."""
    if type(event) is Advance or type(event) is Inject:
        return polled_unaligned_gate.on_call(passage, event)
    return polled_unaligned_gate.on_arrival(passage, event)


def exchange_step(state: exchange.Exchange, event: Event) -> Step[Any]:
    """The step of a channel between two tasks: the tasks take some events, the channel the others."""
    if type(event) is exchange.Recover:
        return exchange.on_recover(state, event.checkpoint)
    if type(event) is BeginPersisting:
        return exchange.on_begin(state, event.checkpoint)
    if type(event) is EndPersisting:
        return exchange.on_give_up(state)
    return exchange.on_event(state, event, HANDLERS["channel"][type(event)](state.channel, *event[:-1]))
