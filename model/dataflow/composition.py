"""Composes the components: each effect of a component becomes an event of the components that it concerns.

If a gate triggers a snapshot, its subtask gets an event. A subtask sends its barrier to its outputs, adds its
snapshot to the stored cut, and sends its answers to the coordinator. The coordinator's messages are events of
the tasks. If the sink commits or aborts a transaction, this applies to the records of the transaction. The
module contains no rule of a component.
"""

from model.coordinator.events import DiscardCheckpoint, TriggerTask
from model.coordinator.generations import coordinator_steps
from model.coordinator.state import Coordinator
from model.dataflow.dataflow import (
    Content,
    Counts,
    Dataflow,
    Item,
    Sent,
    content_of,
    counted_once_more,
    cut_of,
    operator_of,
    summed,
    with_element,
)
from model.dataflow.messages import ABORT, ACKNOWLEDGE, COMPLETE, DECLINE, TRIGGER, Message, sent
from model.events import Effect, Effects, Fail, NotifyAbort, NotifyComplete, Rules, Step
from model.gate.aligned import AlignedSteps, Gate
from model.gate.events import Abort, Barrier, Cancel, Trigger
from model.sink import two_phase_commit
from model.sink.events import AbortTransaction, Commit, Write
from model.sink.two_phase_commit import Sink
from model.subtask.events import Acknowledge, BroadcastBarrier, BroadcastCancel, Decline, Snapshot
from model.subtask.subtask import Subtask, SubtaskSteps

_GATE = AlignedSteps()
_SUBTASK = SubtaskSteps()


def at_gate(gate: Gate, item: Item) -> Step[Gate]:
    """The gate reads a barrier or a cancellation."""
    if type(item) is Barrier:
        return _GATE.on_barrier(gate, item.channel, item.checkpoint)
    assert type(item) is Cancel
    return _GATE.on_cancel(gate, item.channel, item.checkpoint)


def apply_gate_step(dataflow: Dataflow, task: int, gate: Step[Gate]) -> Step[Dataflow]:
    """Applies the effects of a task's gate to its subtask: a trigger, and an abort.

    Effects that block or resume channels need no further step: the gate's state holds the blocked channels.
    """
    effects, rules = gate.effects, gate.rules
    for effect in gate.effects:
        before = dataflow.tasks.subtasks[task]
        if type(effect) is Trigger:
            step = _SUBTASK.on_checkpoint_on_barrier(before, effect.checkpoint, fails=False)
        elif type(effect) is Abort:
            step = _SUBTASK.on_abort_on_barrier(before, effect.checkpoint, effect.reason)
        else:
            continue
        applied = apply_subtask_step(dataflow, task, step)
        dataflow = applied.state
        effects, rules = (*effects, *applied.effects), (*rules, *applied.rules)
    return Step(dataflow, effects, rules)


def apply_subtask_step(dataflow: Dataflow, task: int, step: Step[Subtask]) -> Step[Dataflow]:
    """Sends barriers to the task's outputs, snapshots to the cut, answers to the coordinator."""
    tasks = dataflow.tasks
    dataflow = dataflow._replace(
        tasks=tasks._replace(subtasks=with_element(tasks.subtasks, task, step.state))
    )
    effects, rules = step.effects, step.rules
    for effect in step.effects:
        if type(effect) is BroadcastBarrier:
            dataflow = broadcast(dataflow, task, Barrier(0, effect.checkpoint))
        elif type(effect) is BroadcastCancel:
            dataflow = broadcast(dataflow, task, Cancel(0, effect.checkpoint))
        elif type(effect) is Acknowledge:
            dataflow, emitted, fired = answer(
                dataflow, Message(dataflow.attempt, task, ACKNOWLEDGE, effect.checkpoint)
            )
            effects, rules = (*effects, *emitted), (*rules, *fired)
        elif type(effect) is Decline:
            declined = Message(dataflow.attempt, task, DECLINE, effect.checkpoint, reason=effect.reason)
            dataflow, emitted, fired = answer(dataflow, declined)
            effects, rules = (*effects, *emitted), (*rules, *fired)
        elif type(effect) is Snapshot:
            dataflow, emitted, fired = take_snapshot(dataflow, task, effect.checkpoint)
            effects, rules = (*effects, *emitted), (*rules, *fired)
        elif task == operator_of(dataflow) + 1:
            dataflow, emitted, fired = notify_sink(dataflow, effect)
            effects, rules = (*effects, *emitted), (*rules, *fired)
    return Step(dataflow, effects, rules)


def take_snapshot(dataflow: Dataflow, task: int, checkpoint: int) -> Step[Dataflow]:
    """Stores the task's state, then acknowledges. In this model the asynchronous part takes no time."""
    effects: Effects = ()
    rules: Rules = ()
    operator = operator_of(dataflow)
    if task > operator:
        dataflow, effects, rules = apply_sink_step(
            dataflow, two_phase_commit.on_snapshot(dataflow.sink, checkpoint)
        )
    cut = cut_of(dataflow, checkpoint)
    cut = cut._replace(checkpoint=checkpoint, stored=with_element(cut.stored, task, True))
    if task < operator:
        cut = cut._replace(offsets=with_element(cut.offsets, task, dataflow.tasks.offsets[task]))
    elif task == operator:
        cut = cut._replace(counted=dataflow.tasks.counted)
    else:
        cut = cut._replace(sunk=committed_or_filed(dataflow))
    others = tuple(other for other in dataflow.cuts if other.checkpoint != checkpoint)
    dataflow = dataflow._replace(cuts=tuple(sorted((*others, cut))))
    ended = apply_subtask_step(
        dataflow, task, _SUBTASK.on_async_done(dataflow.tasks.subtasks[task], checkpoint)
    )
    return Step(ended.state, (*effects, *ended.effects), (*rules, *ended.rules))


def notify_sink(dataflow: Dataflow, effect: Effect) -> Step[Dataflow]:
    """The sink's subtask notifies the sink that a checkpoint is complete or aborted."""
    if type(effect) is NotifyComplete:
        return apply_sink_step(
            dataflow, two_phase_commit.on_notify_complete(dataflow.sink, effect.checkpoint)
        )
    if type(effect) is NotifyAbort:
        return apply_sink_step(dataflow, two_phase_commit.on_notify_abort(dataflow.sink, effect.checkpoint))
    return Step(dataflow, (), ())


def apply_sink_step(dataflow: Dataflow, step: Step[Sink]) -> Step[Dataflow]:
    """Applies the sink's writes, commits and aborts to the records of its transactions."""
    done = dataflow.sink.committed
    dataflow = dataflow._replace(sink=step.state)
    for effect in step.effects:
        if type(effect) is Write:
            dataflow = written(dataflow, effect.transaction, effect.value)
        elif type(effect) is Commit or type(effect) is AbortTransaction:
            gone = content_of(dataflow, effect.transaction)
            others = tuple(other for other in dataflow.contents if other.transaction != gone.transaction)
            dataflow = dataflow._replace(contents=others)
            if type(effect) is Commit and effect.transaction not in done:  # a second commit changes nothing
                dataflow = dataflow._replace(committed=summed(dataflow.committed, gone.records))
    return Step(dataflow, step.effects, step.rules)


def apply_coordinator_step(dataflow: Dataflow, step: Step[Coordinator]) -> Step[Dataflow]:
    """Sends the coordinator's effects for tasks as messages."""
    dataflow = dataflow._replace(coordinator=step.state)
    attempt, wires = dataflow.attempt, dataflow.wires
    untaken = any(type(effect) is Fail for effect in step.effects)
    for effect in step.effects:
        if type(effect) is DiscardCheckpoint and untaken:  # the store has refused it
            kept = tuple(cut.checkpoint for cut in dataflow.cuts if cut.checkpoint != effect.checkpoint)
            dataflow = only_stored(dataflow, kept)
        elif type(effect) is TriggerTask:
            dataflow = with_message(dataflow, Message(attempt, effect.task, TRIGGER, effect.checkpoint))
        elif type(effect) is NotifyComplete and wires.notified_complete[effect.task]:
            dataflow = with_message(dataflow, Message(attempt, effect.task, COMPLETE, effect.checkpoint))
        elif type(effect) is NotifyAbort and wires.notified_abort[effect.task]:
            aborted = Message(attempt, effect.task, ABORT, effect.checkpoint, completed=dataflow.completed)
            dataflow = with_message(dataflow, aborted)
    return Step(dataflow, step.effects, step.rules)


def answer(dataflow: Dataflow, message: Message) -> Step[Dataflow]:
    """A task acknowledges or declines. The coordinator receives it at once, or from a slow task later."""
    if dataflow.wires.slow[message.task]:
        return Step(with_message(dataflow, message), (), ())
    return received(dataflow, message)


def received(dataflow: Dataflow, message: Message) -> Step[Dataflow]:
    """The coordinator receives an acknowledgement or a decline.

    It treats an acknowledgement of another attempt as that of an unknown task (COORD-05, ONCE-06).
    """
    state = dataflow.coordinator
    steps = coordinator_steps(state)
    if message.kind == ACKNOWLEDGE:
        sender = message.task if message.attempt == dataflow.attempt else len(state.plan.sources)
        return apply_coordinator_step(
            dataflow, steps.on_acknowledge(state, sender, message.checkpoint, handle=0)
        )
    return apply_coordinator_step(
        dataflow, steps.on_decline(state, message.task, message.checkpoint, message.reason)
    )


def only_stored(dataflow: Dataflow, kept: tuple[int, ...]) -> Dataflow:
    """The dataflow without the stored cuts and the sink's snapshots of checkpoints that are not in `kept`."""
    taken = dataflow.sink.snapshots
    return dataflow._replace(
        cuts=tuple(cut for cut in dataflow.cuts if cut.checkpoint in kept),
        sink=dataflow.sink._replace(snapshots=tuple(one for one in taken if one.checkpoint in kept)),
    )


def with_message(dataflow: Dataflow, message: Message) -> Dataflow:
    """The dataflow with one more message in flight."""
    return dataflow._replace(messages=sent(dataflow.messages, message))


def broadcast(dataflow: Dataflow, task: int, item: Barrier | Cancel) -> Dataflow:
    """Appends a barrier or a cancellation to the output of the task. The sink has no output."""
    tasks = dataflow.tasks
    operator = operator_of(dataflow)
    if task < operator:
        channel = (*tasks.inputs[task], Sent(dataflow.attempt, item._replace(channel=task)))
        return dataflow._replace(tasks=tasks._replace(inputs=with_element(tasks.inputs, task, channel)))
    if task == operator:
        sent_on = (*tasks.output, Sent(dataflow.attempt, item))
        return dataflow._replace(tasks=tasks._replace(output=sent_on))
    return dataflow


def written(dataflow: Dataflow, transaction: int, number: int) -> Dataflow:
    """The dataflow with record `number` in the transaction."""
    content = content_of(dataflow, transaction)
    content = Content(transaction, counted_once_more(content.records, number))
    others = tuple(other for other in dataflow.contents if other.transaction != transaction)
    return dataflow._replace(contents=tuple(sorted((*others, content))))


def committed_or_filed(dataflow: Dataflow) -> Counts:
    """By source and record: how often it is committed or pre-committed."""
    records = dataflow.committed
    for filed in dataflow.sink.pending:
        records = summed(records, content_of(dataflow, filed.transaction).records)
    return records
