"""SINK-01 to SINK-10, stated over the transactional sink."""

from model.events import NONE, Close, Crash, Effects, Event
from model.registry import Registry
from model.sink.events import (
    AbortNotification,
    AbortTransaction,
    Begin,
    Commit,
    CommitFailed,
    CompleteNotification,
    FailingCompletion,
    FailingRestore,
    Finish,
    PreCommit,
    Restore,
    SnapshotRequest,
    Write,
    WriteRequest,
)
from model.sink.two_phase_commit import Filed, Sink

SINK = Registry("sink")


@SINK.state("SINK-01")
def sink_01(sink: Sink) -> bool:
    """A running, unfinished sink has one open transaction; a crashed one has none."""
    if not sink.running:
        return sink.open == NONE
    return sink.finished or sink.open != NONE


@SINK.step("SINK-01")
def sink_01_writes(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """The sink writes a record to the open transaction."""
    if type(event) is not WriteRequest:
        return not any(type(effect) is Write for effect in effects)
    return effects == (Write(before.open, event.value),)


@SINK.step("SINK-02")
def sink_02(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A snapshot pre-commits the open transaction, files it, and opens the next."""
    if type(event) is not SnapshotRequest or before.finished:
        return True
    filed = Filed(event.checkpoint, before.open)
    expected = (PreCommit(before.open), Begin(after.open))
    taken = bool(after.snapshots) and after.snapshots[-1].pending == after.pending
    return effects == expected and after.pending == (*before.pending, filed) and taken


@SINK.step("SINK-03")
def sink_03(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A completion commits the filed transactions up to its id, oldest first; no other event does."""
    commits = tuple(effect for effect in effects if type(effect) is Commit)
    if type(event) is Restore or type(event) is FailingCompletion or type(event) is FailingRestore:
        return True
    if type(event) is not CompleteNotification:
        return not commits
    ready = tuple(
        Commit(filed.transaction) for filed in before.pending if filed.checkpoint <= event.checkpoint
    )
    kept = tuple(filed for filed in before.pending if filed.checkpoint > event.checkpoint)
    return commits == ready and after.pending == kept


@SINK.step("SINK-03")
def sink_03_is_done(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A reported commit is in the state from then on, and no other transaction is."""
    reported = tuple(effect.transaction for effect in effects if type(effect) is Commit)
    done = all(any(known == one for known in after.committed) for one in reported)
    return done and all(
        any(one == known for one in (*before.committed, *reported)) for known in after.committed
    )


@SINK.step("SINK-04")
def sink_04(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A completion with nothing to commit changes nothing."""
    if type(event) is not CompleteNotification:
        return True
    if any(filed.checkpoint <= event.checkpoint for filed in before.pending):
        return True
    return not effects and after == before


@SINK.step("SINK-05")
def sink_05(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """An abort notification changes no transaction."""
    if type(event) is not AbortNotification:
        return True
    return not effects and after == before


@SINK.step("SINK-06")
def sink_06(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A restore commits the snapshot's pending transactions again, aborts its open one, opens a new one."""
    if type(event) is not Restore:
        return True
    expected: Effects = ()
    for taken in before.snapshots:
        if taken.checkpoint == event.checkpoint:
            expected = tuple(Commit(filed.transaction) for filed in taken.pending)
            if taken.open != NONE:
                expected = (*expected, AbortTransaction(taken.open))
    return effects == (*expected, Begin(after.open)) and not after.pending and after.running


@SINK.step("SINK-07")
def sink_07(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A finished sink opens no transaction: its next snapshot pre-commits the last one."""
    if type(event) is Finish:
        return not before.profile.waits_at_the_end or (not effects and after.finished)
    if type(event) is not SnapshotRequest or not before.finished:
        return True
    return effects == ((PreCommit(before.open),) if before.open != NONE else ()) and after.open == NONE


@SINK.state("SINK-08")
def sink_08(sink: Sink) -> bool:
    """Every transaction is one of open, pre-committed or committed; no id is used twice."""
    filed = tuple(entry.transaction for entry in sink.pending)
    used = (*filed, *sink.committed, *((sink.open,) if sink.open != NONE else ()))
    once = not any(left == right for place, left in enumerate(used) for right in used[place + 1 :])
    return once and all(transaction < sink.next_transaction for transaction in used)


@SINK.step("SINK-08")
def sink_08_for_good(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A committed transaction stays committed, and an aborted one was not committed."""
    aborted = tuple(effect.transaction for effect in effects if type(effect) is AbortTransaction)
    kept = all(any(known == done for known in after.committed) for done in before.committed)
    return kept and not any(gone == done for gone in aborted for done in after.committed)


@SINK.step("SINK-06")
def sink_06_crash(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A crash loses volatile state and no durable state."""
    if type(event) is not Crash:
        return True
    durable = after.committed == before.committed and after.snapshots == before.snapshots
    return not effects and durable and not after.running and not after.pending


@SINK.step("SINK-09")
def sink_09(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A closing sink aborts its open transaction, and no filed one."""
    ends = type(event) is Finish and not before.profile.waits_at_the_end
    if type(event) is not Close and not ends:
        return True
    durable = after.committed == before.committed and after.snapshots == before.snapshots
    aborted = (AbortTransaction(before.open),) if before.open != NONE else ()
    return effects == aborted and durable and not after.running and not after.pending


@SINK.step("SINK-10")
def sink_10(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A commit that throws fails the task; at a completion the sink first tries all others."""
    if type(event) is FailingCompletion:
        reported = tuple(
            CommitFailed(filed.transaction) if filed.transaction == event.fails else Commit(filed.transaction)
            for filed in before.pending
            if filed.checkpoint <= event.checkpoint
        )
        aborted = (AbortTransaction(before.open),) if before.open != NONE else ()
        return effects == (*reported, *aborted) and not after.running
    if type(event) is FailingRestore:
        return effects[-1] == CommitFailed(event.fails) and not after.running
    return not any(type(effect) is CommitFailed for effect in effects)
