"""The actions of a dataflow: one record class for each action, and the function of its step.

Records and barriers move, messages arrive late or never, and an attempt fails and the next one starts.
`model.dataflow.environment` decides whether an action may occur.

A failure and the restart after it are one step. This omits no behaviour, because no task runs in between.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from model.coordinator.events import Restored
from model.coordinator.generations import coordinator_steps
from model.coordinator.state import Coordinator
from model.dataflow.composition import (
    apply_coordinator_step,
    apply_gate_step,
    apply_sink_step,
    apply_subtask_step,
    at_gate,
    only_stored,
    received,
)
from model.dataflow.dataflow import (
    Dataflow,
    Sent,
    Tasks,
    all_run,
    counted_once_more,
    cut_of,
    deployed,
    operator_of,
    with_element,
)
from model.dataflow.messages import COMPLETE, TO_TASKS, TRIGGER, Message, arrived
from model.events import ASYNC_EXCEPTION, NONE, Step
from model.gate.events import Record
from model.sink import two_phase_commit
from model.store.store import CHECKPOINT
from model.subtask.subtask import Subtask, SubtaskSteps

# ---------------------------------------------------------------- the actions

_SUBTASK = SubtaskSteps()


class Produce(NamedTuple):
    """A source reads its next record and sends it."""

    source: int
    kind: str = "produce"


class Receive(NamedTuple):
    """The operator takes the oldest item of a readable channel."""

    channel: int
    kind: str = "receive"


class ReceiveAtSink(NamedTuple):
    """The sink takes the oldest item of its channel."""

    kind: str = "receive_at_sink"


class StartCheckpoint(NamedTuple):
    """A checkpoint is due, or a user requests a savepoint."""

    type: int = CHECKPOINT
    kind: str = "start_checkpoint"


class StoreWillFail(NamedTuple):
    """The next addition to the store fails. `when`: BEFORE, AFTER or MAYBE, as in `model.store`."""

    when: int
    kind: str = "store_will_fail"


class SnapshotFails(NamedTuple):
    """A task cannot write its snapshot and declines the oldest pending checkpoint."""

    kind: str = "snapshot_fails"


class TimeOut(NamedTuple):
    """Time passes until every pending checkpoint expires."""

    kind: str = "time_out"


class Deliver(NamedTuple):
    """A message arrives."""

    message: Message
    kind: str = "deliver"


class Lose(NamedTuple):
    """A notification never arrives."""

    message: Message
    kind: str = "lose"


class Fail(NamedTuple):
    """Every task fails and restarts from the checkpoint that the coordinator restores."""

    zombies: bool
    """Items and messages in flight still arrive after the restart."""
    takes_coordinator: bool
    """The coordinator fails with the tasks. A new coordinator reads the durable state."""
    kind: str = "fail"


# ---------------------------------------------------------------- records


def on_produce(dataflow: Dataflow, source: int) -> Step[Dataflow]:
    """A source reads its next record and sends it."""
    tasks = dataflow.tasks
    offset = tasks.offsets[source]
    number = source * len(tasks.counted[source]) + offset
    tasks = tasks._replace(
        offsets=with_element(tasks.offsets, source, offset + 1),
        inputs=with_element(
            tasks.inputs, source, (*tasks.inputs[source], Sent(dataflow.attempt, Record(source, number)))
        ),
    )
    return Step(dataflow._replace(tasks=tasks), (), ())


def is_readable(tasks: Tasks, channel: int) -> bool:
    """The operator may read from the channel: the channel holds an item, and no alignment blocks it."""
    return bool(tasks.inputs[channel]) and not tasks.gate.blocked[channel]


def on_receive(dataflow: Dataflow, channel: int) -> Step[Dataflow]:
    """The operator takes the oldest item of a readable channel."""
    tasks = dataflow.tasks
    attempt, item = tasks.inputs[channel][0]
    tasks = tasks._replace(inputs=with_element(tasks.inputs, channel, tasks.inputs[channel][1:]))
    if attempt != dataflow.attempt:
        return Step(dataflow._replace(tasks=tasks), (), ("ONCE-06",))
    if type(item) is Record:
        counted = counted_once_more(tasks.counted, item.value)
        tasks = tasks._replace(counted=counted, output=(*tasks.output, Sent(attempt, Record(0, item.value))))
        return Step(dataflow._replace(tasks=tasks), (), ())
    gate = at_gate(tasks.gate, item)
    dataflow = dataflow._replace(tasks=tasks._replace(gate=gate.state))
    return apply_gate_step(dataflow, operator_of(dataflow), gate)


def on_receive_at_sink(dataflow: Dataflow) -> Step[Dataflow]:
    """The sink takes the oldest item of its channel."""
    attempt, item = dataflow.tasks.output[0]
    tasks = dataflow.tasks._replace(output=dataflow.tasks.output[1:])
    if attempt != dataflow.attempt:
        return Step(dataflow._replace(tasks=tasks), (), ("ONCE-06",))
    if type(item) is Record:
        written = two_phase_commit.on_write(dataflow.sink, item.value)
        return apply_sink_step(dataflow._replace(tasks=tasks), written)
    gate = at_gate(tasks.sink_gate, item)
    dataflow = dataflow._replace(tasks=tasks._replace(sink_gate=gate.state))
    return apply_gate_step(dataflow, operator_of(dataflow) + 1, gate)


# ---------------------------------------------------------------- the coordinator, messages, failures


def on_start_checkpoint(
    dataflow: Dataflow,
    type: int = CHECKPOINT,  # noqa: A002 - the protocol's word
) -> Step[Dataflow]:
    """A checkpoint is due, or a user requests a savepoint."""
    state = dataflow.coordinator
    return apply_coordinator_step(dataflow, coordinator_steps(state).on_trigger(state, type, False, False))


def on_store_will_fail(dataflow: Dataflow, when: int) -> Step[Dataflow]:
    """The next addition to the store fails."""
    state = dataflow.coordinator
    return apply_coordinator_step(dataflow, coordinator_steps(state).on_store_fails(state, when))


def on_snapshot_fails(dataflow: Dataflow) -> Step[Dataflow]:
    """A task cannot write its snapshot and declines the oldest pending checkpoint."""
    state = dataflow.coordinator
    oldest = state.pending[0].checkpoint
    return apply_coordinator_step(
        dataflow, coordinator_steps(state).on_decline(state, 0, oldest, ASYNC_EXCEPTION)
    )


def on_time_out(dataflow: Dataflow) -> Step[Dataflow]:
    """Time passes until every pending checkpoint expires."""
    state = dataflow.coordinator
    return apply_coordinator_step(dataflow, coordinator_steps(state).on_advance(state, state.plan.timeout))


def on_deliver(dataflow: Dataflow, message: Message) -> Step[Dataflow]:
    """A message arrives.

    Every message carries its attempt. A message of an ended attempt has no effect (ONCE-06).
    """
    dataflow = dataflow._replace(messages=arrived(dataflow.messages, message))
    if message.kind not in TO_TASKS:
        return received(dataflow, message)
    if message.attempt != dataflow.attempt:
        return Step(dataflow, (), ("ONCE-06",))  # its receiver no longer exists
    return apply_subtask_step(dataflow, message.task, delivered(dataflow, message))


def delivered(dataflow: Dataflow, message: Message) -> Step[Subtask]:
    """The subtask receives a message of the coordinator."""
    before = dataflow.tasks.subtasks[message.task]
    if message.kind == TRIGGER:
        return _SUBTASK.on_checkpoint(before, message.checkpoint, fails=False)
    if message.kind == COMPLETE:
        return _SUBTASK.on_complete_notification(before, message.checkpoint)
    return _SUBTASK.on_abort_notification(before, message.checkpoint, message.completed)


def on_lose(dataflow: Dataflow, message: Message) -> Step[Dataflow]:
    """A notification never arrives."""
    return Step(dataflow._replace(messages=arrived(dataflow.messages, message)), (), ())


def on_fail(dataflow: Dataflow, zombies: bool, takes_coordinator: bool) -> Step[Dataflow]:
    """Every task fails, perhaps with the coordinator, and restarts from the restored checkpoint (ONCE-04)."""
    survivor = survives(dataflow.coordinator, takes_coordinator)
    answer = coordinator_steps(survivor.state).on_restore(survivor.state)
    checkpoint = NONE
    for effect in answer.effects:
        if type(effect) is Restored:
            checkpoint = effect.checkpoint
    crashed = dataflow._replace(sink=two_phase_commit.on_crash(dataflow.sink).state)
    restored = apply_sink_step(crashed, two_phase_commit.on_restore(crashed.sink, checkpoint))
    before, tasks = dataflow.tasks, deployed(cut_of(dataflow, checkpoint), survivor.state.plan.max_concurrent)
    after = restored.state._replace(
        attempt=dataflow.attempt + 1,
        restored=checkpoint,
        tasks=tasks._replace(inputs=before.inputs, output=before.output) if zombies else tasks,
        coordinator=all_run(survivor.state),
        messages=dataflow.messages if zombies else (),
        contents=(),  # the restore commits pre-committed records; all others are lost
    )
    durable = (*survivor.state.store.entries, *survivor.state.unseen)
    return Step(
        only_stored(after, tuple(entry.checkpoint for entry in durable)),
        (*survivor.effects, *answer.effects, *restored.effects),
        (*survivor.rules, *answer.rules, *restored.rules),
    )


def survives(state: Coordinator, takes_coordinator: bool) -> Step[Coordinator]:
    """The step of the coordinator at a failure. Its effects reach no task."""
    if takes_coordinator:
        return coordinator_steps(state).on_coordinator_restart(state)
    return coordinator_steps(state).on_fail_tasks(state, (True,) * len(state.plan.sources))


ACTIONS: Mapping[type, Callable[..., Step[Dataflow]]] = {
    Produce: on_produce,
    Receive: on_receive,
    ReceiveAtSink: on_receive_at_sink,
    StartCheckpoint: on_start_checkpoint,
    StoreWillFail: on_store_will_fail,
    SnapshotFails: on_snapshot_fails,
    TimeOut: on_time_out,
    Deliver: on_deliver,
    Lose: on_lose,
    Fail: on_fail,
}


def act(dataflow: Dataflow, event: Any) -> Step[Dataflow]:  # noqa: ANN401 - one of the actions
    """The step of one action."""
    return ACTIONS[type(event)](dataflow, *event[:-1])
