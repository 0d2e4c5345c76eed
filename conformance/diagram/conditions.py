"""Which lanes are in which condition, read off a component's observable state.

A condition lasts from the step after which it is observed to the step after which it is not.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from conformance.adapters.protocol import Wire
from conformance.diagram import lanes


class Condition(NamedTuple):
    """A lane is so."""

    lane: str
    look: str
    text: str


def conditions(component: str, state: Wire) -> set[Condition]:
    """All of a state; fields that an implementation leaves out say nothing."""
    read = _READ.get(component)
    return set(read(state)) if read is not None else set()


def closed_lanes(component: str, state: Wire) -> set[str]:
    """The lanes that have come to their end."""
    return {f"channel {channel}" for channel in state.get("closed", ())} if component == "gate" else set()


def _of_gate(state: Wire) -> Iterator[Condition]:
    for channel in state.get("blocked", ()):
        yield Condition(f"channel {channel}", "blocked", f"channel {channel} is blocked")
    for channel in state.get("persisting", ()):
        yield Condition(f"channel {channel}", "persisting", f"records of channel {channel} are stored")
    if state.get("pending") is True:
        yield Condition(lanes.GATE, "pending", "a checkpoint is pending")


def _of_coordinator(state: Wire) -> Iterator[Condition]:
    pending = state.get("pending", {})
    if pending:
        text = f"pending: {', '.join(map(str, pending))}"
        yield Condition(lanes.COORDINATOR, "pending", text)
    for checkpoint, tasks in pending.items():
        for task in tasks:
            yield Condition(str(task), "awaited", f"checkpoint {checkpoint} awaits {task}")


def _of_subtask(state: Wire) -> Iterator[Condition]:
    if state.get("running"):
        text = f"written: {', '.join(map(str, state['running']))}"
        yield Condition(lanes.WRITER, "writing", text)
    if state.get("running_task") is False:
        yield Condition(lanes.SUBTASK, "stopped", "the task does not run")


def _of_store(state: Wire) -> Iterator[Condition]:
    for checkpoint in state.get("completed", ()):
        yield Condition(f"checkpoint {checkpoint}", "retained", f"checkpoint {checkpoint} is retained")


def _of_sink(state: Wire) -> Iterator[Condition]:
    if state.get("open") is not None:
        yield Condition(f"transaction {state['open']}", "open", f"transaction {state['open']} is open")
    for checkpoint, transaction in state.get("pending", ()):
        text = f"transaction {transaction} is pre-committed for checkpoint {checkpoint}"
        yield Condition(f"transaction {transaction}", "pre-committed", text)
    for transaction in state.get("committed", ()):
        text = f"transaction {transaction} is committed"
        yield Condition(f"transaction {transaction}", "committed", text)
    if state.get("running") is False:
        yield Condition("sink", "stopped", "the sink does not run")


def _of_offsets(state: Wire) -> Iterator[Condition]:
    if state.get("remembered"):
        text = f"remembered: {', '.join(str(checkpoint) for checkpoint, _ in state['remembered'])}"
        yield Condition("source", "held", text)


def _of_source(state: Wire) -> Iterator[Condition]:
    if state.get("reads") is False:
        yield Condition("task", "stopped", "no record is read")
    for name in ("told", "ahead"):
        if state.get(name):
            lane = lanes.COORDINATOR if name == "told" else lanes.OUTSIDE
            yield Condition(lane, "held", f"{name}: {', '.join(map(str, state[name]))}")


def _of_channel(state: Wire) -> Iterator[Condition]:
    if state.get("blocked"):
        yield Condition(lanes.SENDER, "blocked", "an aligned barrier has left: nothing follows it")
    if state.get("persisting") is not None:
        text = f"records are stored with checkpoint {state['persisting']}"
        yield Condition(lanes.RECEIVER, "persisting", text)


_READ: Mapping[str, Callable[[Wire], Iterator[Condition]]] = MappingProxyType(
    {
        "gate": _of_gate,
        "coordinator": _of_coordinator,
        "subtask": _of_subtask,
        "store": _of_store,
        "sink": _of_sink,
        "offsets": _of_offsets,
        "source": _of_source,
        "channel": _of_channel,
    }
)
