"""The projection of the composed dataflow: maps states of Dataflow.tla to those of `model.dataflow.dataflow`.

The constants of a configuration determine the scope that the explorer visits; channels and messages are
unbounded. `project_dataflow` compares no events and effects of steps, so a node consists of the job and the
number of snapshots that could not be written.

TLA+ stores how many records of a source were counted. The model stores how often each record was counted. So
no state of TLA+ corresponds to a state of the model in which a record is counted twice or left out, and the
comparison reports such a state as a difference. Two variables exist only in TLA+: `received`, the number of
records that have reached the sink (the model adds it up from the sink's writes), and the order of committed
records. The comparison also checks that no two states of TLA+ correspond to one state of the model. It leaves
out the registry of shared files, because no task shares a file here.
"""

from collections.abc import Mapping
from typing import Any

from conformance.compare.projection import Given, Node, Projection, Words
from conformance.components.coordinator.projection import FAULTS, coordinator_record
from conformance.components.gate.aligned import GATE
from conformance.components.sink import SINK as SINK_RECORD
from conformance.components.sink import snapshot_of
from conformance.components.subtask import SUBTASK
from conformance.components.tla_records import pairs
from conformance.vectors.tla.text import plain
from model.checker.closed_model import ClosedModel, Offered, forgetting
from model.components import COMPONENTS
from model.coordinator.events import NotifyAbort, NotifyComplete, TriggerTask
from model.dataflow.dataflow import Content, Counts, Cut, Dataflow, Sent, Tasks, Wires, beginning
from model.dataflow.environment import UNBOUNDED, Scope, closed_dataflow
from model.dataflow.messages import ABORT, ACKNOWLEDGE, COMPLETE, DECLINE, TRIGGER, Message
from model.events import NONE, Effect, Event
from model.gate.aligned import new_gate
from model.gate.events import Barrier, Cancel, Record
from model.sink.events import AbortTransaction, Begin, Commit, PreCommit
from model.store.store import CHECKPOINT, SAVEPOINT
from model.subtask.events import Acknowledge, BroadcastBarrier, BroadcastCancel, Decline
from spec.values import State

OPERATOR, SINK, TO_SINK = 2, 3, 2
"""The numbers of tasks, and of the channel between them, in Dataflow.tla."""
_TYPES = {"BothTypes": (CHECKPOINT, SAVEPOINT), "OnlySavepoints": (SAVEPOINT,)}
_FAULTS = {"BeforeAndMaybe": ("before", "maybe"), "Maybe": ("maybe",)}
_KINDS = {
    "trigger_task": TRIGGER,
    "notify_complete": COMPLETE,
    "notify_abort": ABORT,
    "acknowledge": ACKNOWLEDGE,
    "decline": DECLINE,
}


def closed_dataflow_of(given: Given) -> ClosedModel:
    """The closed model for a configuration of DataflowModel.tla."""
    numbers, sets, replaced = given
    tasks = sets["Tasks"]
    listening = tuple(task in sets["Listening"] for task in tasks)
    closed_model = closed_dataflow(
        Scope(
            records=int(numbers["MaxRecords"]),
            checkpoints=int(numbers["MaxCheckpoint"]),
            max_concurrent=int(numbers["MaxConcurrent"]),
            failures=int(numbers["MaxFailures"]),
            time_outs=0,
            zombies=bool(numbers["Zombies"]),
            capacity=UNBOUNDED,
            in_flight=UNBOUNDED,
            types=_TYPES[replaced["RequestedTypes"]] if "RequestedTypes" in replaced else (CHECKPOINT,),
            faults=tuple(FAULTS[when] for when in _FAULTS.get(replaced.get("WaysToFail", ""), ())),
            takes_coordinator="IsReplaced" in replaced,
            declines=int(numbers["MaxDeclines"]),
            loses=False,
            wires=Wires(tuple(task in sets["Slow"] for task in tasks), listening, listening),
            profile=given.coordinators,
        )
    )
    return forgetting(closed_model, "coordinator.shared")


def dataflow_of(there: Dataflow, state: Mapping[str, Any]) -> Dataflow:
    """The model's state for a state of TLA+. `there`: a model's state with the values that never change."""
    records = len(there.committed[0])
    channel, snapshots = state["channel"], state["snapshots"]
    record = coordinator_record(there.coordinator, with_states=False)
    start = there.coordinator._replace(tasks_reached=(True,) * (SINK + 1))
    stored = {n: snapshot for n, snapshot in pairs(snapshots) if n and snapshot}
    return Dataflow(
        wires=there.wires,
        attempt=state["attempt"] + 1,
        restored=state["restored"] or NONE,
        tasks=Tasks(
            offsets=_vector(state["offset"]),
            inputs=tuple(_channel(channel[source], source, records) for source in range(OPERATOR)),
            gate=GATE.read(state["gate"], new_gate(OPERATOR, True)),
            counted=_counts(state["counted"], records),
            output=_channel(channel[TO_SINK], 0, records),
            sink_gate=GATE.read(state["sinkGate"], new_gate(1, True)),
            subtasks=tuple(
                SUBTASK.read(
                    state["tasks"][task],
                    there.tasks.subtasks[task]._replace(restored=state["restored"] or NONE),
                )
                for task in range(SINK + 1)
            ),
        ),
        coordinator=record.read(state["coordinator"], start),
        messages=tuple(sorted(_message(message) for message in state["net"])),
        sink=SINK_RECORD.read(state["sink"], there.sink)._replace(
            snapshots=tuple(
                snapshot_of(n, held)
                for n, held in ((n, stored[n][SINK]["held"]) for n in sorted(stored) if SINK in stored[n])
            )
        ),
        contents=tuple(
            Content(transaction, _each(written, records))
            for transaction, written in enumerate(state["contents"], start=1)
            if any(sequence for _, sequence in pairs(written))
        ),
        committed=_each(state["output"], records),
        cuts=tuple(_cut(n, stored[n], records) for n in sorted(stored)),
    )


def _vector(function: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(function[source] for source in range(OPERATOR))


def _counts(function: Mapping[int, int], records: int) -> Counts:
    """The counts of each source's records: 1 for the first `function[source]` records, 0 for the others."""
    return tuple(tuple(int(record < many) for record in range(records)) for many in _vector(function))


def _each(sequences: Mapping[int, tuple[int, ...]], records: int) -> Counts:
    """The number of occurrences of each record in a sequence."""
    return tuple(
        tuple(sequences[source].count(record) for record in range(records)) for source in range(OPERATOR)
    )


def _channel(items: tuple[tuple[Any, ...], ...], channel: int, records: int) -> tuple[Sent, ...]:
    return tuple(Sent(item[0] + 1, _item(item[1:], channel, records)) for item in items)


def _item(item: tuple[Any, ...], channel: int, records: int) -> Record | Barrier | Cancel:
    if item[0] == "record":
        return Record(channel, item[1] * records + item[2])
    return Barrier(channel, item[1]) if item[0] == "barrier" else Cancel(channel, item[1])


def _message(message: tuple[Any, ...]) -> Message:
    attempt, kind, task, checkpoint, *more = message
    sent = Message(attempt + 1, task, _KINDS[kind], checkpoint)
    if kind == "notify_abort":
        return sent._replace(completed=more[0])
    return sent._replace(reason=more[0]) if kind == "decline" else sent


def _cut(checkpoint: int, snapshot: Any, records: int) -> Cut:  # noqa: ANN401 - a value of TLA+
    taken = dict(pairs(snapshot))
    cut = beginning(OPERATOR, records)
    return cut._replace(
        checkpoint=checkpoint,
        stored=tuple(task in taken for task in range(SINK + 1)),
        offsets=tuple(taken.get(source, 0) for source in range(OPERATOR)),
        counted=_counts(taken[OPERATOR], records) if OPERATOR in taken else cut.counted,
        sunk=_counts(taken[SINK]["received"], records) if SINK in taken else cut.sunk,
    )


def project_dataflow(given: Given) -> Projection:
    """Pairs DataflowModel.tla with the closed model of the dataflow."""
    closed = closed_dataflow_of(given)

    def node(state: State) -> Node:
        return dataflow_of(closed.state, state), (state["declined"],), ()

    return Projection(closed, node, lambda event, effects: ())


_EFFECTS: Mapping[str, tuple[type, ...]] = {
    "coordinator": (TriggerTask, NotifyComplete, NotifyAbort),
    "sink": (PreCommit, Begin, Commit, AbortTransaction),
    "subtask": (Acknowledge, Decline, BroadcastBarrier, BroadcastCancel),
}
"""The compared effects: messages of the coordinator, transactions of the sink, answers and barriers."""


def project_effects(given: Given) -> Projection:
    """Pairs DataflowEffects.tla with the closed dataflow; the effects of each component keep their order."""
    inner = project_dataflow(given)
    closed = inner.closed_model

    def offers(dataflow: Dataflow) -> Offered:
        return ((f"{action}Seen", event) for action, event in closed.offers(dataflow))

    def node(state: State) -> Node:
        return (*inner.node(state)[:2], state["did"])

    def words(event: Event, effects: tuple[Effect, ...]) -> Words:
        return tuple(
            plain(component, COMPONENTS[component].words.write_effect(effect))
            for component, kinds in _EFFECTS.items()
            for effect in effects
            if type(effect) in kinds and getattr(effect, "task", 0) != NONE  # only those to the whole task
        )

    return Projection(closed._replace(offers=offers), node, words)
