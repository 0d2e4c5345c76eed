"""What may happen to a dataflow: one record of each action, and the function that carries it out.

Actions follow the job: records move, barriers move, messages arrive late or never, an attempt fails
and the next one starts. Whether an action may happen now is asked of `model.closed.dataflow`.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from model import coordinator, recovery, scheduling, subtask, transactions
from model.composition import at_gate, obey_coordinator, obey_gate, obey_sink, obey_subtask
from model.dataflow import (
    Dataflow,
    Tasks,
    all_run,
    beginning,
    counted_once_more,
    cut_of,
    deployed,
    operator_of,
    with_element,
)
from model.events import NONE, Record, Restored, Step
from model.messages import ACKNOWLEDGE, COMPLETE, TO_TASKS, TRIGGER, Message, Messages, arrived
from model.store import CHECKPOINT
from model.subtask import Subtask

# ---------------------------------------------------------------- what may happen


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
    """A checkpoint is due, or a savepoint is asked for."""

    type: int = CHECKPOINT
    kind: str = "start_checkpoint"


class StoreWillFail(NamedTuple):
    """The next addition to the store fails: BEFORE, AFTER or MAYBE."""

    when: int
    kind: str = "store_will_fail"


class TimeOut(NamedTuple):
    """So much time passes that every pending checkpoint expires."""

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
    """Every task fails; of the messages in flight only `late` will ever arrive."""

    late: Messages
    takes_coordinator: bool = False
    """The coordinator ends with them, and a new one finds what is durable."""
    kind: str = "fail"


class Restart(NamedTuple):
    """The next attempt starts, every task from the checkpoint that the coordinator answers."""

    kind: str = "restart"


# ---------------------------------------------------------------- records


def on_produce(dataflow: Dataflow, source: int) -> Step[Dataflow]:
    """A source reads its next record and sends it."""
    tasks = dataflow.tasks
    offset = tasks.offsets[source]
    number = source * len(tasks.counted[source]) + offset
    tasks = tasks._replace(
        offsets=with_element(tasks.offsets, source, offset + 1),
        inputs=with_element(tasks.inputs, source, (*tasks.inputs[source], Record(source, number))),
    )
    return Step(dataflow._replace(tasks=tasks), (), ())


def is_readable(tasks: Tasks, channel: int) -> bool:
    """The operator may take from the channel: something is there, and no alignment holds it back."""
    return bool(tasks.inputs[channel]) and not tasks.gate.blocked[channel]


def on_receive(dataflow: Dataflow, channel: int) -> Step[Dataflow]:
    """The operator takes the oldest item of a readable channel."""
    tasks = dataflow.tasks
    item, *rest = tasks.inputs[channel]
    tasks = tasks._replace(inputs=with_element(tasks.inputs, channel, tuple(rest)))
    if type(item) is Record:
        counted = counted_once_more(tasks.counted, item.value)
        tasks = tasks._replace(counted=counted, output=(*tasks.output, Record(0, item.value)))
        return Step(dataflow._replace(tasks=tasks), (), ())
    gate = at_gate(tasks.gate, item)
    dataflow = dataflow._replace(tasks=tasks._replace(gate=gate.state))
    return obey_gate(dataflow, operator_of(dataflow), gate)


def on_receive_at_sink(dataflow: Dataflow) -> Step[Dataflow]:
    """The sink takes the oldest item of its channel."""
    item, *rest = dataflow.tasks.output
    tasks = dataflow.tasks._replace(output=tuple(rest))
    if type(item) is Record:
        written = transactions.on_write(dataflow.sink, item.value)
        return obey_sink(dataflow._replace(tasks=tasks), written)
    gate = at_gate(tasks.sink_gate, item)
    dataflow = dataflow._replace(tasks=tasks._replace(sink_gate=gate.state))
    return obey_gate(dataflow, operator_of(dataflow) + 1, gate)


# ---------------------------------------------------------------- the coordinator, messages, failures


def on_start_checkpoint(
    dataflow: Dataflow,
    type: int = CHECKPOINT,  # noqa: A002 - the protocol's word
) -> Step[Dataflow]:
    """A checkpoint is due, or a savepoint is asked for."""
    return obey_coordinator(dataflow, coordinator.on_trigger(dataflow.coordinator, type))


def on_store_will_fail(dataflow: Dataflow, when: int) -> Step[Dataflow]:
    """The next addition to the store fails."""
    return obey_coordinator(dataflow, recovery.on_store_fails(dataflow.coordinator, when))


def on_time_out(dataflow: Dataflow) -> Step[Dataflow]:
    """So much time passes that every pending checkpoint expires."""
    state = dataflow.coordinator
    return obey_coordinator(dataflow, scheduling.on_advance(state, state.plan.timeout))


def on_deliver(dataflow: Dataflow, message: Message) -> Step[Dataflow]:
    """A message arrives. Every message carries its attempt, and an ended one harms nothing (ONCE-06)."""
    dataflow = dataflow._replace(messages=arrived(dataflow.messages, message))
    current = message.attempt == dataflow.attempt and dataflow.runs
    if message.kind in TO_TASKS:
        if not current:
            return Step(dataflow, (), ("ONCE-06",))  # whom it was sent to is gone
        return obey_subtask(dataflow, message.task, told(dataflow, message))
    state = dataflow.coordinator
    if message.kind == ACKNOWLEDGE:  # the task of another attempt is a stranger to the plan (COORD-05)
        sender = message.task if current else len(state.plan.sources)
        return obey_coordinator(
            dataflow, coordinator.on_acknowledge(state, sender, message.checkpoint, handle=0)
        )
    return obey_coordinator(
        dataflow, coordinator.on_decline(state, message.task, message.checkpoint, message.reason)
    )


def told(dataflow: Dataflow, message: Message) -> Step[Subtask]:
    """The subtask gets a message of the coordinator."""
    before = dataflow.tasks.subtasks[message.task]
    if message.kind == TRIGGER:
        return subtask.on_checkpoint(before, message.checkpoint)
    if message.kind == COMPLETE:
        return subtask.on_complete_notification(before, message.checkpoint)
    return subtask.on_abort_notification(before, message.checkpoint, message.completed)


def on_lose(dataflow: Dataflow, message: Message) -> Step[Dataflow]:
    """A notification never arrives."""
    return Step(dataflow._replace(messages=arrived(dataflow.messages, message)), (), ())


def on_fail(dataflow: Dataflow, late: Messages, takes_coordinator: bool = False) -> Step[Dataflow]:
    """Every task fails, maybe with the coordinator; only `late` of the messages will ever arrive."""
    plan = dataflow.coordinator.plan
    nothing = beginning(len(dataflow.committed), len(dataflow.committed[0]))
    dataflow = dataflow._replace(
        runs=False,
        messages=late,
        tasks=deployed(nothing, plan.max_concurrent),
        sink=transactions.on_crash(dataflow.sink).state,
    )
    if takes_coordinator:
        return obey_coordinator(dataflow, recovery.on_coordinator_restart(dataflow.coordinator))
    return obey_coordinator(
        dataflow, coordinator.on_fail_tasks(dataflow.coordinator, (True,) * len(plan.sources))
    )


def on_restart(dataflow: Dataflow) -> Step[Dataflow]:
    """The next attempt starts, every task from the checkpoint that the coordinator answers (ONCE-04)."""
    state = dataflow.coordinator
    answer = recovery.on_restore(state)
    checkpoint = NONE
    for effect in answer.effects:
        if type(effect) is Restored:
            checkpoint = effect.checkpoint
    restored = obey_sink(dataflow, transactions.on_restore(dataflow.sink, checkpoint))
    after = restored.state._replace(
        attempt=dataflow.attempt + 1,
        runs=True,
        tasks=deployed(cut_of(dataflow, checkpoint), state.plan.max_concurrent),
        coordinator=all_run(state),
        contents=(),  # what was pre-committed is committed now, the rest is nobody's
        committed_up_to=max(dataflow.committed_up_to, checkpoint),
        cuts=tuple(cut for cut in dataflow.cuts if cut.checkpoint <= checkpoint),
        restored=checkpoint,
    )
    return Step(after, (*answer.effects, *restored.effects), (*answer.rules, *restored.rules))


ACTIONS: Mapping[type, Callable[..., Step[Dataflow]]] = {
    Produce: on_produce,
    Receive: on_receive,
    ReceiveAtSink: on_receive_at_sink,
    StartCheckpoint: on_start_checkpoint,
    StoreWillFail: on_store_will_fail,
    TimeOut: on_time_out,
    Deliver: on_deliver,
    Lose: on_lose,
    Fail: on_fail,
    Restart: on_restart,
}


def act(dataflow: Dataflow, event: Any) -> Step[Dataflow]:  # noqa: ANN401 - one of the actions
    """Carry out one action."""
    return ACTIONS[type(event)](dataflow, *event[:-1])
