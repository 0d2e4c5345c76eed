"""ONCE-01 to ONCE-06, stated over the composed dataflow."""

from functools import cache

from model.dataflow.actions import Deliver, Fail, Receive, ReceiveAtSink
from model.dataflow.dataflow import Counts, Dataflow, cut_of, with_element
from model.dataflow.messages import arrived
from model.events import NONE, Effects, Event
from model.gate.events import Record
from model.registry import Registry

DATAFLOW = Registry("dataflow")


@DATAFLOW.state("ONCE-01")
def once_01(dataflow: Dataflow) -> bool:
    """Every task has stored the newest completed checkpoint, and all of them the same records."""
    if dataflow.completed == NONE:
        return True
    cut = cut_of(dataflow, dataflow.completed)
    before = _each_once(cut.offsets, cut.counted)
    return all(cut.stored) and cut.counted == before and cut.sunk == before


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
    """The output holds no record twice, and every record before the newest committed checkpoint."""
    newest = max(dataflow.tasks.subtasks[-1].completed, dataflow.restored)
    up_to = _each_once(cut_of(dataflow, newest).offsets, dataflow.committed)
    return all(
        count == 1 if promised else count in {0, 1}
        for counts, promises in zip(dataflow.committed, up_to, strict=True)
        for count, promised in zip(counts, promises, strict=True)
    )


@DATAFLOW.step("ONCE-04")
def once_04(before: Dataflow, event: Event, effects: Effects, after: Dataflow) -> bool:
    """Every task starts from the newest completed checkpoint, or from the initial state without one."""
    if type(event) is not Fail:
        return True
    cut = cut_of(before, after.completed)
    from_it = after.tasks.offsets == cut.offsets and after.tasks.counted == cut.counted
    newest = before.completed if not event.takes_coordinator else _newest_durable(before)
    return after.restored == after.completed == newest and from_it


@DATAFLOW.state("ONCE-05")
def once_05(dataflow: Dataflow) -> bool:
    """The output holds only records before the offsets of a completed checkpoint."""
    complete = _each_once(cut_of(dataflow, dataflow.completed).offsets, dataflow.committed)
    return all(
        promised or not count
        for counts, promises in zip(dataflow.committed, complete, strict=True)
        for count, promised in zip(counts, promises, strict=True)
    )


@DATAFLOW.step("ONCE-06")
def once_06(before: Dataflow, event: Event, effects: Effects, after: Dataflow) -> bool:
    """An arriving item or message of another attempt is removed, and nothing else changes."""
    tasks = before.tasks
    if type(event) is Deliver and event.message.attempt != before.attempt:
        return after == before._replace(messages=arrived(before.messages, event.message))
    if type(event) is Receive and tasks.inputs[event.channel][0].attempt != before.attempt:
        rest = tasks.inputs[event.channel][1:]
        inputs = with_element(tasks.inputs, event.channel, rest)
        return after == before._replace(tasks=tasks._replace(inputs=inputs))
    if type(event) is ReceiveAtSink and tasks.output[0].attempt != before.attempt:
        return after == before._replace(tasks=tasks._replace(output=tasks.output[1:]))
    return True


def _newest_durable(dataflow: Dataflow) -> int:
    """The newest checkpoint that a new coordinator finds."""
    found = (*dataflow.coordinator.store.entries, *dataflow.coordinator.unseen)
    return max((entry.checkpoint for entry in found), default=NONE)


@cache
def _each_once(offsets: tuple[int, ...], shape: Counts) -> Counts:
    """Each record before the offsets once, in the shape of `shape`."""
    return tuple(
        tuple(int(index < offset) for index in range(len(counts)))
        for offset, counts in zip(offsets, shape, strict=True)
    )
