"""The models of the playground: a gate in each mode, the coordinator, and the small dataflow.

Each subject is a closed model with a view of its state for readers: a lane for each channel, and named fields
for the rest.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from conformance.report.divergence.phrases import of_effect, of_event, of_value
from model import fields
from model.checker.closed_model import ClosedModel
from model.components import COMPONENTS
from model.coordinator.environment.whole_coordinator import closed_coordinator
from model.coordinator.state import Coordinator
from model.dataflow.dataflow import Channel, Dataflow, Wires
from model.dataflow.environment import Scope, closed_dataflow
from model.events import NONE, Effect, Event
from model.gate.environment.aligned import closed_network
from model.gate.environment.tracking import closed_tracker_models
from model.gate.environment.unaligned import PLAIN, GateBounds, closed_passage
from model.gate.polled_gate import Inbox
from model.gate.polled_unaligned_gate import Passage
from model.gate.tracking import Tracker
from model.store.wire import TYPES


class Lane(NamedTuple):
    """The drawing of one channel."""

    name: str
    status: str
    """`open`, `blocked`, `counted` (its barrier has come, records pass) or `ended`."""
    items: tuple[str, ...]
    """The items that wait on the channel, oldest first."""


class View(NamedTuple):
    """The parts of one state that the page shows."""

    fields: tuple[tuple[str, str], ...]
    lanes: tuple[Lane, ...]


class Subject(NamedTuple):
    """A closed model through which a reader can step, with its texts."""

    name: str
    title: str
    intro: str
    closed: ClosedModel
    view: Callable[[Any], View]
    label: Callable[[str, Event], str]
    """An action and its event as the text of a button."""
    group: Callable[[Event], str]
    """The target of an event: the heading above its button."""
    effect: Callable[[Any, Effect], str]
    """An effect as text, given the state after the step."""


def subjects() -> tuple[Subject, ...]:
    """Every subject of the playground, in the order of the page."""
    tracked = next(closed for closed in closed_tracker_models() if "with records" in closed.name)
    return (
        Subject(
            "aligned",
            "Input gate, exactly-once",
            "Two channels, checkpoints 1 and 2. The gate blocks a channel that has delivered its barrier "
            "until the other has, and then takes the snapshot.",
            closed_network(2, 2, 2),
            _view_aligned,
            _gate_label,
            _gate_group,
            _plain_effect,
        ),
        Subject(
            "tracking",
            "Input gate, at-least-once",
            "Two channels, checkpoints 1 and 2. The gate counts barriers and blocks nothing.",
            tracked,
            _view_tracking,
            _gate_label,
            _gate_group,
            _plain_effect,
        ),
        Subject(
            "unaligned",
            "Input gate, unaligned",
            "Two channels, checkpoint 1. The first barrier triggers the snapshot; records that barriers "
            "overtake are stored with it.",
            closed_passage(GateBounds(2, 1, 0, 0, alternating=False, counts_as_aligned=True), 1),
            _view_unaligned,
            _gate_label,
            _gate_group,
            _plain_effect,
        ),
        Subject(
            "alternating",
            "Input gate, aligned with a time-out",
            "Two channels, checkpoint 1. The gate aligns until the alignment has taken 1 ms, and then lets "
            "barriers overtake.",
            closed_passage(
                GateBounds(2, 1, 2, 1, alternating=True, counts_as_aligned=True, options=PLAIN[2:]), 1
            ),
            _view_unaligned,
            _gate_label,
            _gate_group,
            _plain_effect,
        ),
        Subject(
            "coordinator",
            "Checkpoint coordinator",
            "One source, one other task, ids up to 2, one pending checkpoint at a time, one retained. A "
            "checkpoint expires after 2 ms.",
            closed_coordinator(2, 2, max_concurrent=1, retain=1),
            _view_coordinator,
            _coordinator_label,
            _coordinator_group,
            lambda state, effect: _with_names(effect, _TASKS),
        ),
        Subject(
            "dataflow",
            "A small dataflow",
            "One source with one record, an operator that counts, a transactional sink, one checkpoint, one "
            "failure. The record becomes visible exactly once.",
            closed_dataflow(_SMALL),
            _view_dataflow,
            _dataflow_label,
            _dataflow_group,
            _dataflow_effect,
        ),
    )


_SMALL = Scope(
    records=1,
    checkpoints=1,
    max_concurrent=1,
    failures=1,
    time_outs=0,
    sources=1,
    loses=False,
    wires=Wires((False, False, True), (False, False, True), (False, False, False)),
)


def _plain_effect(state: object, effect: Effect) -> str:
    wire = fields.to_wire(effect)
    if wire["kind"] in ("process", "persist"):
        return f"{wire['kind']} a record of channel {wire['channel']}"
    return of_effect(wire)


def _gate_label(action: str, event: Event) -> str:
    wire = COMPONENTS["gate"].event(event)
    if wire["kind"] == "record":
        return f"record on {wire['channel']}"
    for option in ("timestamp", "savepoint"):
        wire.pop(option, None)
    alignment = wire.pop("alignment", "aligned")
    if wire["kind"] == "advance":
        return f"{wire['ms']} ms passes"
    named = of_event(wire)
    return named if alignment == "aligned" else f"{named}, {alignment}"


def _gate_group(event: Event) -> str:
    channel = getattr(event, "channel", None)
    return "task" if channel is None else f"channel {channel}"


def _lanes(blocked: Sequence[bool], closed: Sequence[bool], waiting: Sequence[Any]) -> tuple[Lane, ...]:
    return tuple(
        Lane(
            f"channel {channel}",
            "ended" if closed[channel] else "blocked" if blocked[channel] else "open",
            tuple(_item(item) for item in waiting if item.channel == channel),
        )
        for channel in range(len(closed))
    )


def _item(item: Any) -> str:  # noqa: ANN401 - anything that waits on a channel
    if item.kind == "record":
        return "record"
    return f"{item.kind} {item.checkpoint}" if hasattr(item, "checkpoint") else "end"


def _alignment_of(current: int, pending: bool) -> str:
    return "none yet" if current < 0 else f"{current} pending" if pending else f"{current} over"


def _view_aligned(inbox: Inbox) -> View:
    gate = inbox.gate
    return View(
        (("checkpoint", _alignment_of(gate.current, gate.pending)),),
        _lanes(gate.blocked, gate.closed, inbox.waiting),
    )


def _view_tracking(tracker: Tracker) -> View:
    counted = {channel for one in tracker.tracked for channel, has in enumerate(one.counted) if has}
    lanes = tuple(
        Lane(f"channel {channel}", "ended" if ended else "counted" if channel in counted else "open", ())
        for channel, ended in enumerate(tracker.closed)
    )
    under_way = [f"{one.checkpoint}{' (aborted)' if one.aborted else ''}" for one in tracker.tracked]
    return View((("checkpoints under way", ", ".join(under_way) or "none"),), lanes)


def _view_unaligned(passage: Passage) -> View:
    gate = passage.gate
    lanes = _lanes(gate.blocked, gate.closed, passage.waiting)
    lanes = tuple(
        lane._replace(status="counted") if lane.status == "open" and gate.arrived[place] else lane
        for place, lane in enumerate(lanes)
    )
    return View(
        (("checkpoint", _alignment_of(gate.current, gate.pending)), ("time", f"{gate.now} ms")), lanes
    )


_TASKS = ("the source", "the task", "a task of another job")
_TASKS_OF_DATAFLOW = ("the source", "the operator", "the sink")


def _coordinator_label(action: str, event: Event) -> str:
    wire = COMPONENTS["coordinator"].event(event, "state", 2)
    match wire["kind"]:
        case "advance":
            return f"{wire['ms']} ms passes"
        case "job_status" | "task_status":
            of_what = _task(wire["task"]) if "task" in wire else "the job"
            return f"{of_what} is {wire['status']}"
        case "fail_tasks":
            return "the source fails"
        case "acknowledge":
            return f"acknowledge {wire['checkpoint']} by {_task(wire['task'])}"
        case "decline":
            return f"decline {wire['checkpoint']} by {_task(wire['task'])} ({wire['reason']})"
        case _:
            return of_event(wire)


def _coordinator_group(event: Event) -> str:
    wire = COMPONENTS["coordinator"].event(event, "state", 2)
    (task,) = wire["tasks"] if "tasks" in wire else (wire.get("task"),)
    return "job and time" if task is None else _task(task)


def _task(identifier: str) -> str:
    """The name on the page of a task with an identifier such as `task-0`."""
    return _TASKS[int(identifier.rpartition("-")[2])]


def _dataflow_effect(state: Dataflow, effect: Effect) -> str:
    wire = fields.to_wire(effect)
    if wire["kind"] == "write":
        return f"write a record into transaction {wire['transaction']}"
    return _with_names(effect, _TASKS_OF_DATAFLOW)


def _with_names(effect: Effect, tasks: Sequence[str]) -> str:
    """The effect as text, with names for the numbers of tasks and of types."""
    wire = fields.to_wire(effect)
    if wire["kind"] == "restored" and wire.get("checkpoint") == NONE:
        return "restored without a checkpoint"
    if "task" in wire:
        number = wire["task"]
        assert isinstance(number, int)
        wire["task"] = "the operators" if number == NONE else tasks[number]
    kind = wire.get("type")
    if isinstance(kind, int) and kind != NONE:
        wire["type"] = TYPES[kind]
    return of_effect(wire)


def _view_coordinator(state: Coordinator) -> View:
    pending = {
        str(one.checkpoint): " and ".join(
            _TASKS[task] for task, has in enumerate(one.acknowledged) if not has and one.tasks[task]
        )
        for one in state.pending
    }
    completed = [entry.checkpoint for entry in state.store.entries]
    return View(
        (
            ("job", state.status),
            (
                "pending checkpoints, and the tasks that have not acknowledged",
                ", ".join(f"{number}: {tasks}" for number, tasks in pending.items()) if pending else "none",
            ),
            ("retained", of_value(completed) if completed else "none"),
            ("waiting requests", str(len(state.queue))),
            ("next id", str(state.next_id)),
            ("time", f"{state.now} ms"),
        ),
        (),
    )


_ACTIONS = {
    "Produce": "the source emits a record",
    "Receive": "the operator reads its channel",
    "ReceiveAtSink": "the sink reads its channel",
    "StartCheckpoint": "the coordinator triggers a checkpoint",
    "Fail": "the job fails and restarts",
    "TimeOut": "the checkpoint expires",
}


def _dataflow_label(action: str, event: Event) -> str:
    message = getattr(event, "message", None)
    if message is not None:
        to_coordinator = message.kind in ("acknowledge", "decline")
        place = "the coordinator" if to_coordinator else _TASKS_OF_DATAFLOW[message.task]
        return f"{message.kind} {message.checkpoint} reaches {place}"
    return _ACTIONS.get(type(event).__name__, action)


def _dataflow_group(event: Event) -> str:
    if hasattr(event, "message"):
        return "messages"
    return "tasks" if type(event).__name__ in ("Produce", "Receive", "ReceiveAtSink") else "job"


def _queue(channel: Channel) -> tuple[str, ...]:
    return tuple(_item(sent.item) for sent in channel)


def _view_dataflow(state: Dataflow) -> View:
    tasks = state.tasks
    visible = sum(map(sum, state.committed))
    pending = ", ".join(str(one.checkpoint) for one in state.coordinator.pending)
    return View(
        (
            ("attempt", str(state.attempt)),
            ("records that the source has emitted", str(tasks.offsets[0])),
            ("count of the operator", str(sum(map(sum, tasks.counted)))),
            ("pending checkpoint", pending or "none"),
            ("completed checkpoint", "none" if state.completed in (0, NONE) else str(state.completed)),
            ("visible records", str(visible)),
        ),
        (
            Lane("source to operator", "open", _queue(tasks.inputs[0])),
            Lane("operator to sink", "open", _queue(tasks.output)),
        ),
    )
