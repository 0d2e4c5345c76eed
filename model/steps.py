"""The step function of each component. It calls the function for the class of the event.

The module only selects functions. The rules are in the called modules.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from model.channel import channel, exchange
from model.channel import events as channel_events
from model.channel.events import BeginPersisting, EndPersisting
from model.channel.generations import channel_steps
from model.component_modules import BY_NAME, module_of, part_of
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
from model.sink import events as sink_events
from model.sink import two_phase_commit
from model.sink.events import Finish
from model.sink.generations import finish
from model.source import events as source_events
from model.source import source_task
from model.source.generations import source_steps
from model.store import events as store_events
from model.store import store
from model.store.generations import store_steps
from model.subtask import events as subtask_events
from model.subtask.generations import subtask_steps
from model.subtask.subtask import CheckpointOnBarrier

Handler = Callable[..., Step[Any]]


def name_of(event: type) -> str:
    """The name of the step function for a class of events: `on_` and the kind."""
    return f"on_{getattr(event, '_field_defaults')['kind']}"  # noqa: B009 - mypy: a NamedTuple class


def _of(
    events: Iterable[type], module: object, steps_of: Callable[[Any], object] | None = None
) -> Mapping[type, Handler]:
    """Maps a class of events to a function of `module` or, if it has none, a method of `steps_of(state)`."""

    def of_generation(name: str) -> Handler:
        assert steps_of is not None, f"no step is named {name}"
        return lambda state, *fields: getattr(steps_of(state), name)(state, *fields)

    names = {event: name_of(event) for event in events}
    return {event: getattr(module, name, None) or of_generation(name) for event, name in names.items()}


HANDLERS: Mapping[str, Mapping[type, Handler]] = {
    "gate": _of((Barrier, Cancel, EndOfPartition, Injection), None, aligned_steps),
    "tracker": _of((Record, Barrier, Cancel, EndOfPartition), None, tracking_steps),
    "unaligned": _of(
        (OptionedBarrier, Announce, Inject, Cancel, EndOfPartition, Advance), None, unaligned_steps
    ),
    "threads": _of((ReceiveBarrier, RunMail, OptionedBarrier, Cancel, EndOfPartition, Advance), two_threads),
    "channel": _of(channel_events.EVENTS, channel, channel_steps),
    "subtask": _of((*subtask_events.EVENTS, CheckpointOnBarrier), None, subtask_steps),
    "source": _of(source_events.EVENTS, source_task, source_steps),
    "coordinator": _of((*coordinator_events.EVENTS, MasterAnswer), None, coordinator_steps),
    "store": _of(store_events.EVENTS, store, store_steps),
    "sink": {**_of(sink_events.EVENTS, two_phase_commit), Finish: finish},
    **{name: _of(part_of(name, "events", "EVENTS"), module_of(name, name)) for name in BY_NAME},
}


def step_of(component: str) -> Callable[[Any, Event], Step[Any]]:
    """Returns the step function of a component, a function of a state and an event."""
    if component == "network":
        return network_step
    if component == "history":
        return history_step
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
    """The step of the polled gate. The event is an item or an injection."""
    if type(item) is Injection:
        return polled_gate.on_inject(inbox, item.checkpoint)
    return polled_gate.on_arrival(inbox, item)


def history_step(watched: polled_gate.Watched, item: Any) -> Step[Any]:  # noqa: ANN401 - an Item
    """The step of the polled gate that records the items that it reads (`polled_gate.Watched`)."""
    if type(item) is Injection:
        return polled_gate.on_watched_inject(watched, item.checkpoint)
    return polled_gate.on_watched_item(watched, item)


def buffer_step(buffer: buffering.Buffer, item: Any) -> Step[Any]:  # noqa: ANN401 - an Item
    """The step of the gate that stores the items of blocked channels (up to Flink 1.10)."""
    return buffering.on_arrival(buffer, item)


def passage_step(passage: polled_unaligned_gate.Passage, event: Any) -> Step[Any]:  # noqa: ANN401 - an Item or a call
    """The step of the polled gate of unaligned checkpoints. The network delays no trigger and no time."""
    if type(event) is Advance or type(event) is Inject:
        return polled_unaligned_gate.on_call(passage, event)
    return polled_unaligned_gate.on_arrival(passage, event)


def exchange_step(state: exchange.Exchange, event: Event) -> Step[Any]:
    """The step of a channel between two tasks. Some events are for the tasks, the others for the channel."""
    if type(event) is exchange.Recover:
        return exchange.on_recover(state, event.checkpoint)
    if type(event) is BeginPersisting:
        return exchange.on_begin(state, event.checkpoint)
    if type(event) is EndPersisting:
        return exchange.on_give_up(state)
    return exchange.on_event(state, event, HANDLERS["channel"][type(event)](state.channel, *event[:-1]))
