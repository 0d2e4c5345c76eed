"""The pictures of composed components: a channel with its two tasks, and the whole dataflow.

They are closed models, not components of the adapter protocol: their environments decide which events come.
"""

from typing import Any

from conformance.pictures.graph import Closed
from model.channel.channel import Queue
from model.channel.environment import closed_exchange
from model.channel.events import Emit, SendBarrier, Transfer
from model.channel.exchange import Exchange
from model.channel.items import Datum
from model.checker.closed_model import ClosedModel
from model.dataflow.dataflow import Channel, Dataflow, Wires
from model.dataflow.environment import Scope, closed_dataflow
from model.events import Event
from model.gate.alignment import UNALIGNED
from model.gate.events import Record


def _queue(items: Queue) -> str:
    return " ".join(f"r{item.value}" if type(item) is Datum else "B" for item in items)


def _show_exchange(state: Exchange) -> tuple[str, ...]:
    """Lines with the items in flight at both ends, oldest first, and with the stored ones."""
    there, entry = state.channel, state.checkpoints[0]
    stored = [f"out {' '.join(f'r{value}' for value in entry.output)}"] * bool(entry.output)
    stored += [f"in {' '.join(f'r{value}' for value in entry.input)}"] * bool(entry.input)
    done = f"read {state.read}" if state.read else ""
    return (
        f"[{_queue(there.output)}] [{_queue(there.input)}]",
        " · ".join(word for word in (done, *stored) if word),
    )


def _may_exchange(action: str, event: Event) -> bool:
    if type(event) is SendBarrier:
        return event.alignment == UNALIGNED
    return action in ("Transfer", "Take")


def _items(channel: Channel) -> str:
    return f"[{' '.join('r' if type(sent.item) is Record else 'B' for sent in channel)}]"


def _checkpoint(state: Dataflow) -> str:
    """The parts that have stored checkpoint 1, and whether the sink was notified of its completion."""
    if state.completed > 0:
        return "1 complete, not notified" if state.messages else "1 complete"
    if not state.coordinator.pending:
        return ""
    names = [f"s{source}" for source in range(len(state.tasks.offsets))] + ["op"]
    stored = state.cuts[-1].stored if state.cuts else ()
    return f"1 has {','.join(name for name, done in zip(names, stored, strict=False) if done) or 'none'}"


def _show_record(state: Dataflow) -> tuple[str, ...]:
    """The records in flight and the counted ones, from the source to the sink."""
    tasks = state.tasks
    written = any(content.records[0][0] for content in state.contents)
    return (
        f"{tasks.offsets[0]} {_items(tasks.inputs[0])} {tasks.counted[0][0]} {_items(tasks.output)} "
        f"{'visible' if state.committed[0][0] else int(written)}",
        _checkpoint(state),
    )


def _show_failing(state: Dataflow) -> tuple[str, ...]:
    tasks = state.tasks
    again = "again " if state.attempt > 1 else ""
    done = " committed" if state.sink.committed else ""
    return (
        f"{again}{_items(tasks.inputs[0])} {_items(tasks.inputs[1])} {_items(tasks.output)}{done}",
        _checkpoint(state),
    )


def _label_dataflow(action: str, event: Any) -> str:  # noqa: ANN401 - one of the actions
    words = {
        "Emit": "emit",
        "SourceTriggered": "trigger",
        "OperatorCounts": "count",
        "OperatorAligns": "align",
        "SinkWrites": "write",
        "SinkSnapshots": "pre-commit",
        "TaskReceives": "commit",
        "Request": "checkpoint",
        "Fail": "fail",
    }
    place = getattr(event, "source", getattr(event, "channel", ""))
    if action == "SourceTriggered":
        place = event.message.task
    return f"{words[action]} {place}".strip()


def _dataflow(sources: int, records: int, failures: int) -> ClosedModel:
    """A closed model with one checkpoint. Answers arrive at once; only the sink gets a notification."""
    tasks = sources + 2
    none = (False,) * tasks
    wires = Wires(none, (*none[1:], True), none)
    bounds = Scope(records, 1, 1, failures, 0, sources=sources, loses=False, wires=wires)
    return closed_dataflow(bounds)


JOINED = (
    Closed(
        "channel",
        closed_exchange(2, 1, 0),
        (Emit(1), Emit(2), Transfer()),
        _show_exchange,
        lambda action, event: "barrier" if type(event) is SendBarrier else action.lower(),
        _may_exchange,
    ),
    Closed("dataflow", _dataflow(1, 1, 0), (), _show_record, _label_dataflow, lambda action, event: True),
    Closed(
        "dataflow-fails", _dataflow(2, 0, 1), (), _show_failing, _label_dataflow, lambda action, event: True
    ),
)
"""The pictures of composed components, in the order of the page; they follow those of the coordinator."""
