"""The projection of the composed dataflow: Dataflow.tla and `model.dataflow.dataflow`, state for state.

The constants of a configuration make the scope that the explorer walks, with channels and messages that
have no bound. Nothing is said in a step, so a node is the job and how many snapshots could not be written.

TLA+ tells by numbers what the model tells by counts: how many records of a source were counted stands
beside how often each of them was. So a state in which a record is counted twice or left out is no state
that TLA+ can read as, and shows. What TLA+ holds and the model does not is `received`, how many records
have reached the sink, which the model sums up from what the sink has written; and the order of the
committed records. That no two states of TLA+ read as one state of the model is compared too. Projected away
is the book of shared files, which no task here shares.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from conformance.compare.projection_coordinator import FAULTS, Configuration, coordinator_of
from model.checker.closed_model import ClosedModel
from model.coordinator.shared_state import new_shared_state
from model.dataflow.dataflow import Content, Counts, Cut, Dataflow, Sent, Tasks, Wires, beginning
from model.dataflow.environment import UNBOUNDED, Scope, closed_dataflow
from model.dataflow.messages import ABORT, ACKNOWLEDGE, COMPLETE, DECLINE, TRIGGER, Message
from model.events import NONE, Event, Step
from model.gate.aligned import Gate, new_gate
from model.gate.events import Barrier, Cancel, Record
from model.sink.two_phase_commit import Filed, SinkSnapshot
from model.store.store import CHECKPOINT, SAVEPOINT
from model.subtask.subtask import Subtask

OPERATOR, SINK, TO_SINK = 2, 3, 2
"""Tasks and the channel between them, as Dataflow.tla numbers them."""
_TYPES = {
    "BothTypes": (CHECKPOINT, SAVEPOINT),
    "OnlySavepoints": (SAVEPOINT,),
}
_FAULTS = {"BeforeAndMaybe": ("before", "maybe"), "Maybe": ("maybe",)}
_KINDS = {
    "trigger_task": TRIGGER,
    "notify_complete": COMPLETE,
    "notify_abort": ABORT,
    "acknowledge": ACKNOWLEDGE,
    "decline": DECLINE,
}


def closed_dataflow_of(configuration: Configuration) -> ClosedModel:
    """The closed model that a configuration of DataflowModel.tla asks for."""
    numbers, sets, replaced = configuration
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
            types=_TYPES[replaced["AskedFor"]] if "AskedFor" in replaced else (CHECKPOINT,),
            faults=tuple(FAULTS[when] for when in _FAULTS.get(replaced.get("WaysToFail", ""), ())),
            takes_coordinator="IsReplaced" in replaced,
            declines=int(numbers["MaxDeclines"]),
            loses=False,
            wires=Wires(tuple(task in sets["Slow"] for task in tasks), listening, listening),
            profile=configuration.profile,
        )
    )

    def step(dataflow: Dataflow, event: Event) -> Step[Dataflow]:
        taken = closed_model.step(dataflow, event)
        coordinator = taken.state.coordinator._replace(shared=new_shared_state())
        return taken._replace(state=taken.state._replace(coordinator=coordinator))

    return closed_model._replace(step=step)


def dataflow_of(there: Dataflow, state: Mapping[str, Any]) -> Dataflow:
    """The record of the model that a TLA+ state is; `there` knows what does not change."""
    records = len(there.committed[0])
    sink, channel, snapshots = state["sink"], state["channel"], state["snapshots"]
    stored = {n: snapshot for n, snapshot in _pairs(snapshots) if n and snapshot}
    return Dataflow(
        wires=there.wires,
        attempt=state["attempt"] + 1,
        restored=state["restored"] or NONE,
        tasks=Tasks(
            offsets=_vector(state["offset"]),
            inputs=tuple(_channel(channel[source], source, records) for source in range(OPERATOR)),
            gate=_gate(state["gate"], OPERATOR),
            counted=_counts(state["counted"], records),
            output=_channel(channel[TO_SINK], 0, records),
            sink_gate=_gate(state["sinkGate"], 1),
            subtasks=tuple(
                _subtask(there.tasks.subtasks[task], state["tasks"][task]) for task in range(SINK + 1)
            ),
        ),
        coordinator=coordinator_of(there.coordinator, state["coordinator"], with_states=False),
        messages=tuple(sorted(_message(message) for message in state["net"])),
        sink=there.sink._replace(
            running=sink["running"],
            finished=sink["finished"],
            open=sink["open"] or NONE,
            pending=_filed(sink["pending"]),
            next_transaction=sink["next"],
            committed=tuple(sorted(sink["committed"])),
            snapshots=tuple(
                SinkSnapshot(n, held["open"] or NONE, _filed(held["pending"]))
                for n, held in ((n, stored[n][SINK]["held"]) for n in sorted(stored) if SINK in stored[n])
            ),
        ),
        contents=tuple(
            Content(transaction, _each(written, records))
            for transaction, written in enumerate(state["contents"], start=1)
            if any(sequence for _, sequence in _pairs(written))
        ),
        committed=_each(state["output"], records),
        cuts=tuple(_cut(n, stored[n], records) for n in sorted(stored)),
    )


def _pairs(function: Any) -> Iterable[tuple[int, Any]]:  # noqa: ANN401 - a value of TLA+
    """A function of TLA+ over numbers; one over 1 .. n is a sequence."""
    return function.items() if isinstance(function, Mapping) else enumerate(function, start=1)


def _vector(function: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(function[source] for source in range(OPERATOR))


def _counts(function: Mapping[int, int], records: int) -> Counts:
    """So many of each source, from the first on, once each."""
    return tuple(tuple(int(record < many) for record in range(records)) for many in _vector(function))


def _each(sequences: Mapping[int, tuple[int, ...]], records: int) -> Counts:
    """How often each record is in a sequence."""
    return tuple(
        tuple(sequences[source].count(record) for record in range(records)) for source in range(OPERATOR)
    )


def _channel(items: tuple[tuple[Any, ...], ...], channel: int, records: int) -> tuple[Sent, ...]:
    return tuple(Sent(item[0] + 1, _item(item[1:], channel, records)) for item in items)


def _item(item: tuple[Any, ...], channel: int, records: int) -> Record | Barrier | Cancel:
    if item[0] == "record":
        return Record(channel, item[1] * records + item[2])
    return Barrier(channel, item[1]) if item[0] == "barrier" else Cancel(channel, item[1])


def _gate(gate: Any, channels: int) -> Gate:  # noqa: ANN401 - a value of TLA+
    return new_gate(channels, True)._replace(
        current=gate["current"],
        pending=gate["pending"],
        blocked=tuple(channel in gate["blocked"] for channel in range(channels)),
        closed=tuple(channel in gate["closed"] for channel in range(channels)),
        repeats=gate["repeats"],
        failed=gate["failed"],
    )


def _subtask(there: Subtask, task: Any) -> Subtask:  # noqa: ANN401 - a value of TLA+
    return there._replace(
        task_runs=task["runs"],
        last=task["last"],
        aborted=task["aborted"],
        running=tuple(sorted(task["running"])),
        completed=task["completed"],
        highest_aborted=task["highest"],
        failed=task["failed"],
    )


def _message(message: tuple[Any, ...]) -> Message:
    attempt, kind, task, checkpoint, *more = message
    said = Message(attempt + 1, task, _KINDS[kind], checkpoint)
    if kind == "notify_abort":
        return said._replace(completed=more[0])
    return said._replace(reason=more[0]) if kind == "decline" else said


def _filed(pending: tuple[tuple[int, int], ...]) -> tuple[Filed, ...]:
    return tuple(Filed(*filed) for filed in pending)


def _cut(checkpoint: int, snapshot: Any, records: int) -> Cut:  # noqa: ANN401 - a value of TLA+
    taken = dict(_pairs(snapshot))
    cut = beginning(OPERATOR, records)
    return cut._replace(
        checkpoint=checkpoint,
        stored=tuple(task in taken for task in range(SINK + 1)),
        offsets=tuple(taken.get(source, 0) for source in range(OPERATOR)),
        counted=_counts(taken[OPERATOR], records) if OPERATOR in taken else cut.counted,
        sunk=_counts(taken[SINK]["received"], records) if SINK in taken else cut.sunk,
    )
