"""ONCE-01 to ONCE-06, stated over the composed dataflow."""

from functools import cache, reduce
from typing import Any

from model.coordinator.events import DiscardCheckpoint, TriggerTask
from model.coordinator.state import RUNNING
from model.dataflow.actions import (
    Deliver,
    Fail,
    Lose,
    Produce,
    Receive,
    ReceiveAtSink,
    SnapshotFails,
    StartCheckpoint,
    StoreWillFail,
    TimeOut,
)
from model.dataflow.dataflow import Counts, Cut, Dataflow, Sent
from model.dataflow.messages import ABORT, ACKNOWLEDGE, COMPLETE, DECLINE, TO_TASKS, TRIGGER, Message
from model.event_frames import Frame
from model.events import NONE, Effects, Event, NotifyAbort, NotifyComplete
from model.events import Fail as JobFails
from model.gate.events import Barrier, Cancel, Record
from model.registry import Registry
from model.sink.events import AbortTransaction, Commit, Write
from model.subtask.events import Acknowledge, BroadcastBarrier, BroadcastCancel, Decline, Snapshot

_ENDS = "(abort | complete | discard | notify_complete | notify_subsumed | notify_abort)*"
"""The effects of the coordinator at the end of checkpoints."""
_ANSWERED = f"(acknowledged {_ENDS} fail?)?"
_SNAPSHOT = "broadcast_barrier snapshot (pre_commit begin)? acknowledge"
_BARRIER = (
    f"(block | resume | abort | trigger)* (decline broadcast_cancel)? ({_SNAPSHOT} | broadcast_cancel)?"
)
"""The effects of a gate and of its subtask, at an abort and at a trigger."""
_NOTIFIED = "(notify_complete notify_abort? commit* | notify_abort)?"
_SHARED = "tasks.subtasks coordinator messages cuts sink"

DATAFLOW = Registry("dataflow")
DATAFLOW.frames({
    Produce: Frame("ONCE-02", "tasks.offsets tasks.inputs"),
    Receive: Frame(
        "ONCE-02",
        f"tasks.inputs tasks.gate tasks.counted tasks.output {_SHARED}",
        f"{_BARRIER} {_ANSWERED}",
    ),
    ReceiveAtSink: Frame(
        "ONCE-05",
        f"tasks.output tasks.sink_gate contents {_SHARED}",
        f"write | {_BARRIER} {_ANSWERED}",
    ),
    StartCheckpoint: Frame("ONCE-06", "coordinator messages", f"trigger_task* {_ENDS}"),
    StoreWillFail: Frame("ONCE-06", "coordinator"),
    SnapshotFails: Frame("ONCE-06", "coordinator messages", _ENDS),
    TimeOut: Frame("ONCE-06", "coordinator messages", _ENDS),
    Deliver: Frame(
        "ONCE-06",
        f"tasks.inputs contents committed {_SHARED}",
        f"({_SNAPSHOT} | broadcast_cancel)? {_ANSWERED} | {_NOTIFIED} | {_ENDS}",
    ),
    Lose: Frame("ONCE-06", "messages"),
    Fail: Frame(
        "ONCE-04",
        "attempt restored tasks coordinator messages sink contents committed cuts",
        f"{_ENDS} restored commit* abort_transaction? begin",
    ),
})  # fmt: skip


@DATAFLOW.initial("ONCE-02")
def once_02_at_first(dataflow: Dataflow) -> bool:
    """In a new job every task runs and has read nothing, and nothing is in flight, stored or committed."""
    tasks, coordinator = dataflow.tasks, dataflow.coordinator
    on_the_way = (*tasks.inputs, tasks.output, dataflow.messages, dataflow.contents, dataflow.cuts)
    counts = (tasks.offsets, *tasks.counted, *dataflow.committed)
    return (
        (dataflow.attempt, dataflow.restored, dataflow.completed) == (1, NONE, NONE)
        and not any(on_the_way)
        and not any(map(any, counts))
        and coordinator.status == RUNNING
        and all(coordinator.tasks_run)
        and all(subtask.task_runs for subtask in tasks.subtasks)
        and coordinator.plan.sources == (*(True for _ in tasks.offsets), False, False)
        and coordinator.plan.timeout > 0
        and dataflow.wires.slow == dataflow.wires.notified_abort == (True,) * len(tasks.subtasks)
        and dataflow.wires.notified_complete == (*(False for _ in tasks.subtasks[1:]), True)
    )


@DATAFLOW.state("ONCE-01")
def once_01(dataflow: Dataflow) -> bool:
    """Every task has stored its part of the newest completed checkpoint."""
    return dataflow.completed == NONE or all(_cut(dataflow, dataflow.completed).stored)


@DATAFLOW.state("ONCE-01")
def once_01_consistent(dataflow: Dataflow) -> bool:
    """A task stores its part after all tasks before it.

    The part has the records before the stored offsets.
    """
    for cut in dataflow.cuts:
        *sources, counts, sinks = cut.stored
        before = _each_once(cut.offsets, cut.counted)
        if counts and not (all(sources) and cut.counted == before):
            return False
        if sinks and not (counts and cut.sunk == before):
            return False
    return True


@DATAFLOW.state("ONCE-01")
def once_01_acknowledged(dataflow: Dataflow) -> bool:
    """A task has taken and stored every snapshot that it has acknowledged in this attempt."""
    acknowledged = [
        (task, pending.checkpoint)
        for pending in dataflow.coordinator.pending
        for task, (takes_part, done) in enumerate(zip(pending.tasks, pending.acknowledged, strict=True))
        if takes_part and done
    ]
    acknowledged += [
        (message.task, message.checkpoint)
        for message in dataflow.messages
        if message.kind == ACKNOWLEDGE and message.attempt == dataflow.attempt
    ]
    subtasks = dataflow.tasks.subtasks
    return all(_has_taken(dataflow, task, n) and subtasks[task].last >= n for task, n in acknowledged)


@DATAFLOW.step("ONCE-01")
def once_01_completes(before: Dataflow, event: Event, effects: Effects, after: Dataflow) -> bool:
    """A checkpoint completes with the last acknowledgement that it awaits in this attempt."""
    if after.completed == before.completed or type(event) is not Deliver:
        return True
    last = event.message
    (pending,) = (one for one in before.coordinator.pending if one.checkpoint == after.completed)
    awaited = tuple(task for task, done in enumerate(pending.acknowledged) if not done)
    is_due = (last.kind, last.checkpoint) == (ACKNOWLEDGE, after.completed)
    return is_due and last.attempt == before.attempt and awaited == (last.task,)


@DATAFLOW.step("ONCE-01")
def once_01_stores(before: Dataflow, event: Event, effects: Effects, after: Dataflow) -> bool:
    """A snapshot stores the current part of its task. Nothing else is stored, and no other part is lost."""
    if not effects:
        return after.cuts == before.cuts
    expected = {cut.checkpoint: cut for cut in before.cuts}
    task, sources = _task_of(before, event), len(before.tasks.offsets)
    for effect in effects:
        if type(effect) is Snapshot:
            cut = _cut(before, effect.checkpoint)
            cut = cut._replace(checkpoint=effect.checkpoint, stored=_put(cut.stored, task, True))
            if task < sources:
                cut = cut._replace(offsets=_put(cut.offsets, task, before.tasks.offsets[task]))
            elif task == sources:
                cut = cut._replace(counted=before.tasks.counted)
            else:
                filed = [_content(after, filed.transaction) for filed in after.sink.pending]
                cut = cut._replace(sunk=reduce(_plus, filed, after.committed))
            expected[effect.checkpoint] = cut
        elif type(effect) is DiscardCheckpoint and any(type(other) is JobFails for other in effects):
            del expected[effect.checkpoint]
    if type(event) is Fail:
        coordinator = after.coordinator
        kept = {entry.checkpoint for entry in (*coordinator.store.entries, *coordinator.unseen)}
        expected = {checkpoint: cut for checkpoint, cut in expected.items() if checkpoint in kept}
        if not {taken.checkpoint for taken in after.sink.snapshots} <= kept:
            return False
    return after.cuts == tuple(expected[checkpoint] for checkpoint in sorted(expected))


@DATAFLOW.state("ONCE-02")
def once_02(dataflow: Dataflow) -> bool:
    """The operator has counted once each record that was read and is no longer in flight."""
    tasks = dataflow.tasks
    on_their_way = (
        sum(sent.attempt == dataflow.attempt and type(sent.item) is Record for sent in channel)
        for channel in tasks.inputs
    )
    processed = tuple(offset - waiting for offset, waiting in zip(tasks.offsets, on_their_way, strict=True))
    return tasks.counted == _each_once(processed, tasks.counted)


@DATAFLOW.state("ONCE-03")
def once_03(dataflow: Dataflow) -> bool:
    """The output holds no record twice. It holds every record before the newest committed checkpoint."""
    newest = max(dataflow.tasks.subtasks[-1].completed, dataflow.restored)
    up_to = _each_once(_cut(dataflow, newest).offsets, dataflow.committed)
    return all(
        count == 1 if promised else count in {0, 1}
        for counts, promises in zip(dataflow.committed, up_to, strict=True)
        for count, promised in zip(counts, promises, strict=True)
    )


@DATAFLOW.step("ONCE-03")
def once_03_commits(before: Dataflow, event: Event, effects: Effects, after: Dataflow) -> bool:
    """A transaction holds the records written to it, until its first commit adds them to the output."""
    if not effects:
        return after.committed == before.committed and after.contents == before.contents
    open_ones = dict(before.contents)
    committed = before.committed
    for effect in effects:
        if type(effect) is Write:
            source, index = divmod(effect.value, len(committed[0]))
            held = _content(before, effect.transaction)
            one_more = _put(held[source], index, held[source][index] + 1)
            open_ones[effect.transaction] = _put(held, source, one_more)
        elif type(effect) is Commit or type(effect) is AbortTransaction:
            if type(effect) is Commit and effect.transaction not in before.sink.committed:
                committed = _plus(committed, open_ones.get(effect.transaction, _nothing(before)))
            open_ones.pop(effect.transaction, _nothing(before))
    if type(event) is Fail:
        open_ones.clear()
    return after.committed == committed and after.contents == tuple(sorted(open_ones.items()))


@DATAFLOW.step("ONCE-04")
def once_04(before: Dataflow, event: Event, effects: Effects, after: Dataflow) -> bool:
    """Every task starts from the newest completed checkpoint, or from the initial state without one."""
    if type(event) is not Fail:
        return True
    cut = _cut(before, after.completed)
    from_it = after.tasks.offsets == cut.offsets and after.tasks.counted == cut.counted
    newest = before.completed if not event.takes_coordinator else _newest_durable(before)
    crashed = not after.sink.pending and after.sink.running
    is_next = after.attempt == before.attempt + 1
    return after.restored == after.completed == newest and from_it and crashed and is_next


@DATAFLOW.state("ONCE-05")
def once_05(dataflow: Dataflow) -> bool:
    """The output holds only records before the offsets of a completed checkpoint."""
    complete = _each_once(_cut(dataflow, dataflow.completed).offsets, dataflow.committed)
    return all(
        promised or not count
        for counts, promises in zip(dataflow.committed, complete, strict=True)
        for count, promised in zip(counts, promises, strict=True)
    )


@DATAFLOW.step("ONCE-06")
def once_06(before: Dataflow, event: Event, effects: Effects, after: Dataflow) -> bool:
    """If an item or message of another attempt arrives, it is removed, and nothing else changes."""
    tasks = before.tasks
    if type(event) is Deliver and event.message.attempt != before.attempt:
        return after == before._replace(messages=after.messages)  # once_06_messages checks the others
    if type(event) is Receive and tasks.inputs[event.channel][0].attempt != before.attempt:
        rest = tasks.inputs[event.channel][1:]
        inputs = _put(tasks.inputs, event.channel, rest)
        return after == before._replace(tasks=tasks._replace(inputs=inputs))
    if type(event) is ReceiveAtSink and tasks.output[0].attempt != before.attempt:
        return after == before._replace(tasks=tasks._replace(output=tasks.output[1:]))
    return True


@DATAFLOW.step("ONCE-06")
def once_06_messages(before: Dataflow, event: Event, effects: Effects, after: Dataflow) -> bool:
    """Each message belongs to its sender's attempt and arrives once. Only a failure loses messages."""
    if type(event) is Fail:
        return after.messages == (before.messages if event.zombies else ())
    expected = list(before.messages)
    if type(event) is Deliver or type(event) is Lose:
        expected.remove(event.message)
    attempt, wires, task = before.attempt, before.wires, _task_of(before, event)
    for effect in effects:
        if type(effect) is Acknowledge and wires.slow[task]:
            expected.append(Message(attempt, task, ACKNOWLEDGE, effect.checkpoint))
        elif type(effect) is Decline and wires.slow[task]:
            expected.append(Message(attempt, task, DECLINE, effect.checkpoint, reason=effect.reason))
        elif type(effect) is TriggerTask:
            expected.append(Message(attempt, effect.task, TRIGGER, effect.checkpoint))
        elif type(effect) is NotifyComplete and effect.task != NONE and wires.notified_complete[effect.task]:
            expected.append(Message(attempt, effect.task, COMPLETE, effect.checkpoint))
        elif type(effect) is NotifyAbort and effect.task != NONE and wires.notified_abort[effect.task]:
            expected.append(Message(attempt, effect.task, ABORT, effect.checkpoint, after.completed))
    return after.messages == tuple(sorted(expected))


@DATAFLOW.step("ONCE-06")
def once_06_items(before: Dataflow, event: Event, effects: Effects, after: Dataflow) -> bool:
    """Each item belongs to its sender's attempt and is read once, in order. Only a failure loses items."""
    tasks = before.tasks
    sources = len(tasks.offsets)
    channels = [list(channel) for channel in (*tasks.inputs, tasks.output)]
    if type(event) is Fail and not event.zombies:
        channels = [[] for _ in channels]
    if type(event) is Produce:
        number = event.source * len(before.committed[0]) + tasks.offsets[event.source]
        channels[event.source].append(Sent(before.attempt, Record(event.source, number)))
    elif type(event) is Receive:
        read = channels[event.channel].pop(0)
        if read.attempt == before.attempt and type(read.item) is Record:
            channels[sources].append(Sent(before.attempt, Record(0, read.item.value)))
    elif type(event) is ReceiveAtSink:
        channels[sources].pop(0)
    task = _task_of(before, event)
    for effect in effects:
        if type(effect) is BroadcastBarrier or type(effect) is BroadcastCancel:
            kind = Barrier if type(effect) is BroadcastBarrier else Cancel
            if task <= sources:
                channel = task if task < sources else 0
                channels[task].append(Sent(before.attempt, kind(channel, effect.checkpoint)))
    *inputs, output = map(tuple, channels)
    return after.tasks.inputs == tuple(inputs) and after.tasks.output == output


def _task_of(dataflow: Dataflow, event: Event) -> int:
    """The position of the task to which the event belongs. -1 for an event of the coordinator."""
    if type(event) is Deliver and event.message.kind in TO_TASKS:
        return event.message.task
    if type(event) is Receive or type(event) is ReceiveAtSink:
        return len(dataflow.tasks.offsets) + (type(event) is ReceiveAtSink)
    return NONE


def _has_taken(dataflow: Dataflow, task: int, checkpoint: int) -> bool:
    return any(cut.checkpoint == checkpoint and cut.stored[task] for cut in dataflow.cuts)


def _cut(dataflow: Dataflow, checkpoint: int) -> Cut:
    """The stored parts of a checkpoint. If it has none, the initial states."""
    nothing = _nothing(dataflow)
    tasks, offsets = dataflow.tasks.subtasks, dataflow.tasks.offsets
    initial = Cut(NONE, (False,) * len(tasks), (0,) * len(offsets), nothing, nothing)
    return next((cut for cut in dataflow.cuts if cut.checkpoint == checkpoint), initial)


def _content(dataflow: Dataflow, transaction: int) -> Counts:
    return dict(dataflow.contents).get(transaction, _nothing(dataflow))


def _nothing(dataflow: Dataflow) -> Counts:
    return tuple((0,) * len(counts) for counts in dataflow.committed)


def _plus(left: Counts, right: Counts) -> Counts:
    return tuple(tuple(map(sum, zip(*both, strict=True))) for both in zip(left, right, strict=True))


def _put(elements: tuple[Any, ...], position: int, element: object) -> tuple[Any, ...]:
    return (*elements[:position], element, *elements[position + 1 :])


def _newest_durable(dataflow: Dataflow) -> int:
    """The newest checkpoint in the durable state, which a new coordinator reads."""
    found = (*dataflow.coordinator.store.entries, *dataflow.coordinator.unseen)
    return max((entry.checkpoint for entry in found), default=NONE)


@cache
def _each_once(offsets: tuple[int, ...], shape: Counts) -> Counts:
    """Counts in which each record before the offsets occurs once. They have the size of `shape`."""
    return tuple(
        tuple(int(index < offset) for index in range(len(counts)))
        for offset, counts in zip(offsets, shape, strict=True)
    )
