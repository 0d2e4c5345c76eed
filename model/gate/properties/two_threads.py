"""UNAL-30 and UNAL-31, stated over a gate that the network thread and the task thread share."""

from typing import Any

from model.events import NONE, SUBSUMED, Effects, Event
from model.gate.events import (
    Abort,
    Cancel,
    EndOfPartition,
    OptionedBarrier,
    ReceiveBarrier,
    RunMail,
    StartPersisting,
    Trigger,
    TriggerUnaligned,
)
from model.gate.properties.unaligned import UNALIGNED_GATE, unal_03_reports
from model.gate.two_threads import Left, Threads
from model.registry import Registry
from model.steps import step_of

THREADS = Registry("threads")
THREADS.part(UNALIGNED_GATE, lambda threads: threads.gate)


@THREADS.initial("UNAL-30")
def unal_30_at_first(threads: Threads) -> bool:
    """In a new gate the task thread has read no barrier, and its mailbox is empty."""
    return threads.read == NONE and not threads.reading and threads.mail == ()


@THREADS.step("UNAL-30")
def unal_30(before: Threads, event: Event, effects: Effects, after: Threads) -> bool:
    """A barrier starts its checkpoint if and only if its id is above every started or cancelled id."""
    started, starts = before.gate.current, [one for one in effects if type(one) is StartPersisting]
    if type(event) is RunMail:
        return not starts and after.gate == before.gate
    if type(event) is not ReceiveBarrier and type(event) is not OptionedBarrier:
        if type(event) is Cancel and event.checkpoint > started:
            return not starts and after.gate.current == event.checkpoint  # no thread can start this id
        return not starts and after.gate.current == started
    if event.checkpoint <= started:
        return not starts and after.gate.current == started
    if type(event) is ReceiveBarrier and len(effects) != 1:
        return False
    return starts == [StartPersisting(event.checkpoint)] and after.gate.current == event.checkpoint


@THREADS.step("UNAL-03")
def reports_as_one_thread(before: Threads, event: Event, effects: Effects, after: Threads) -> bool:
    """The end of persisting has no effect in 1.11, also with two threads."""
    return unal_03_reports(before.gate, event, effects, after.gate)


@THREADS.step("UNAL-31")
def unal_31(before: Threads, event: Event, effects: Effects, after: Threads) -> bool:
    """The task thread emits the effects in its mailbox once and in order, without obsolete triggers."""
    if type(event) is not RunMail:
        kept = after.mail[: len(before.mail)] == before.mail
        return kept and (type(event) is ReceiveBarrier or len(after.mail) == len(before.mail))
    if after.mail:
        return False
    place = 0
    for left in before.mail:
        if not left.aborts and left.checkpoint < before.gate.current:
            continue
        if place == len(effects):
            return False
        emitted = effects[place]
        place += 1
        if left.aborts:
            if emitted != Abort(left.checkpoint, SUBSUMED):
                return False
        elif left.unaligned:
            if emitted != TriggerUnaligned(left.checkpoint):
                return False
        elif emitted != Trigger(left.checkpoint):
            return False
    return place == len(effects)


@THREADS.step("UNAL-30")
def one_gate(before: Threads, event: Event, effects: Effects, after: Threads) -> bool:
    """The shared gate takes the same steps as an unaligned gate with one thread.

    The network thread puts triggers and aborts into the mailbox of the task thread, and does not emit them.
    """
    if type(event) is RunMail:
        return after == before._replace(mail=())
    read = event
    if type(event) is ReceiveBarrier:
        read = OptionedBarrier(*event[:-1])
    elif type(event) is OptionedBarrier and _is_over(before, event.checkpoint):
        return not effects and after == before
    alone = step_of("unaligned")(before.gate, read)
    if type(event) is ReceiveBarrier:
        left = tuple(
            Left(one.checkpoint, type(one) is Abort, type(one) is TriggerUnaligned)
            for one in alone.effects
            if isinstance(one, Abort | Trigger | TriggerUnaligned)
        )
        kept = before._replace(gate=alone.state, mail=(*before.mail, *left))
        return after == kept and len(effects) + len(left) == len(alone.effects)
    return effects == alone.effects and after == before._replace(gate=alone.state, **_read_by(before, event))


def _is_over(before: Threads, checkpoint: int) -> bool:
    """The task has read a newer id, or a cancellation or end has ended the checkpoint with this id."""
    return checkpoint < before.read or (checkpoint == before.read and not before.reading)


def _read_by(before: Threads, event: Event) -> dict[str, Any]:
    """The new values of the fields that record which ids the task has read."""
    if type(event) is OptionedBarrier:
        return {"read": event.checkpoint, "reading": True}
    if type(event) is Cancel and event.checkpoint >= before.read:
        return {"read": event.checkpoint, "reading": False}
    return {"reading": False} if type(event) is EndOfPartition else {}


@THREADS.state("UNAL-30")
def read_what_started(threads: Threads) -> bool:
    """No id that the task has read, and no id in the mailbox, is above the newest id started or cancelled."""
    if threads.read > threads.gate.current or threads.read < NONE:
        return False
    return all(left.checkpoint <= threads.gate.current for left in threads.mail)
