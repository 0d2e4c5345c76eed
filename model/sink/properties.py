"""SINK-01 to SINK-10, stated over the transactional sink, and SINK-11, stated over its history."""

from itertools import combinations, pairwise

from model.event_frames import Frame
from model.events import NONE, Close, Crash, Effects, Event
from model.history.sink import SinkHistory
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
from model.sink.two_phase_commit import PreCommitted, Sink, SinkSnapshot

_OVER = "running finished open pending"
"""The volatile state, which the end of the task clears."""

SINK = Registry("sink")
SINK.frames({
    WriteRequest: Frame("SINK-01", "", "write"),
    SnapshotRequest: Frame(
        "SINK-02", "open pending next_transaction snapshots", "pre_commit begin | pre_commit?"
    ),
    CompleteNotification: Frame("SINK-03", "pending committed", "commit*"),
    FailingCompletion: Frame("SINK-10", f"{_OVER} committed", "(commit | commit_failed)* abort_transaction?"),
    AbortNotification: Frame("SINK-05"),
    Finish: Frame("SINK-07", _OVER, "abort_transaction?"),
    Close: Frame("SINK-09", _OVER, "abort_transaction?"),
    Crash: Frame("SINK-06", _OVER),
    Restore: Frame(
        "SINK-06", "running open next_transaction committed snapshots", "commit* abort_transaction? begin"
    ),
    FailingRestore: Frame("SINK-10", "committed", "commit* commit_failed"),
})  # fmt: skip


@SINK.initial("SINK-01")
def sink_01_at_first(sink: Sink) -> bool:
    """A new sink runs, writes to transaction 1, and has pre-committed nothing."""
    return sink == Sink(True, False, 1, (), 2, (), (), sink.profile)


@SINK.state("SINK-01")
def sink_01(sink: Sink) -> bool:
    """A running, unfinished sink has one open transaction. A sink that does not run has none."""
    if not sink.running:
        return sink.open == NONE
    return sink.finished or sink.open != NONE


@SINK.step("SINK-01")
def sink_01_writes(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """The sink writes a record to the open transaction."""
    if type(event) is not WriteRequest:
        return not any(type(effect) is Write for effect in effects)
    return effects == (Write(before.open, event.value),)


@SINK.step("SINK-02", SnapshotRequest)
def sink_02(before: Sink, event: SnapshotRequest, effects: Effects, after: Sink) -> bool:
    """A snapshot pre-commits and stores the open transaction. An unfinished sink then opens the next one."""
    filed = before.pending
    if before.open != NONE:
        filed = (*filed, PreCommitted(event.checkpoint, before.open))
    taken = SinkSnapshot(event.checkpoint, after.open, after.pending)
    opens = before.finished or effects == (PreCommit(before.open), Begin(after.open))
    return opens and after.pending == filed and after.snapshots == (*before.snapshots, taken)


@SINK.state("SINK-02")
def sink_02_ascending(sink: Sink) -> bool:
    """The snapshots ascend by checkpoint. Each snapshot holds only opened transactions, and each one once."""
    for taken in sink.snapshots:
        held = (*(filed.transaction for filed in taken.pending), *_present(taken.open))
        if _repeats(held) or not all(0 < transaction < sink.next_transaction for transaction in held):
            return False
    return all(left.checkpoint < right.checkpoint for left, right in pairwise(sink.snapshots))


@SINK.step("SINK-03")
def sink_03(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A completion commits the transactions pre-committed up to its id, oldest first."""
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
    """The transactions whose commit a step reports become committed, and no others."""
    reported = tuple(effect.transaction for effect in effects if type(effect) is Commit)
    done = all(any(known == one for known in after.committed) for one in reported)
    return done and all(
        any(one == known for one in (*before.committed, *reported)) for known in after.committed
    )


@SINK.step("SINK-04", CompleteNotification)
def sink_04(before: Sink, event: CompleteNotification, effects: Effects, after: Sink) -> bool:
    """A completion with nothing to commit changes nothing."""
    if any(filed.checkpoint <= event.checkpoint for filed in before.pending):
        return True
    return not effects and after == before


@SINK.step("SINK-05", AbortNotification)
def sink_05(before: Sink, event: AbortNotification, effects: Effects, after: Sink) -> bool:
    """An abort notification changes no transaction."""
    return not effects and after == before


@SINK.step("SINK-06", Restore)
def sink_06(before: Sink, event: Restore, effects: Effects, after: Sink) -> bool:
    """A restore commits the snapshot's pre-committed transactions, aborts its open one, and opens one."""
    expected: Effects = ()
    for taken in before.snapshots:
        if taken.checkpoint == event.checkpoint:
            expected = tuple(Commit(filed.transaction) for filed in taken.pending)
            expected += tuple(AbortTransaction(transaction) for transaction in _present(taken.open))
    kept = tuple(taken for taken in before.snapshots if taken.checkpoint <= event.checkpoint)
    return effects == (*expected, Begin(after.open)) and after.snapshots == kept and after.running


@SINK.step("SINK-07")
def sink_07(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A finished sink opens no transaction. Its next snapshot pre-commits the last one."""
    if type(event) is Finish:
        ends = not effects and after == before._replace(finished=True)
        return ends or not before.profile.waits_at_the_end
    if type(event) is not SnapshotRequest or not before.finished:
        return True
    expected = tuple(PreCommit(transaction) for transaction in _present(before.open))
    return effects == expected and after.open == NONE


@SINK.state("SINK-08")
def sink_08(sink: Sink) -> bool:
    """Every transaction is open, pre-committed or committed. No id is used twice."""
    filed = tuple(entry.transaction for entry in sink.pending)
    used = (*filed, *sink.committed, *_present(sink.open))
    known = all(0 < transaction < sink.next_transaction for transaction in (*used, sink.next_transaction - 1))
    ascending = all(left < right for left, right in combinations(sink.committed, 2))
    return known and not _repeats(used) and ascending


@SINK.step("SINK-08")
def sink_08_counts_up(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A new transaction gets the next id, which no other transaction has."""
    if any(type(effect) is Begin for effect in effects):
        return after.open == before.next_transaction and after.next_transaction == after.open + 1
    return after.next_transaction == before.next_transaction


@SINK.step("SINK-08")
def sink_08_for_good(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A committed transaction stays committed, and the sink aborts no committed transaction."""
    aborted = tuple(effect.transaction for effect in effects if type(effect) is AbortTransaction)
    kept = all(any(known == done for known in after.committed) for done in before.committed)
    return kept and not any(gone == done for gone in aborted for done in after.committed)


@SINK.state("SINK-06")
def sink_06_over(sink: Sink) -> bool:
    """After the end of the task, no volatile state is left."""
    return sink.running or not (sink.finished or sink.pending or sink.open != NONE)


@SINK.step("SINK-06")
def sink_06_crash(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A crash ends the task at once."""
    return type(event) is not Crash or not after.running


@SINK.step("SINK-09")
def sink_09(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """When a sink closes, it aborts its open transaction, and no pre-committed one."""
    ends = type(event) is Finish and not before.profile.waits_at_the_end
    if type(event) is not Close and not ends:
        return True
    aborted = tuple(AbortTransaction(transaction) for transaction in _present(before.open))
    return effects == aborted and not after.running


@SINK.step("SINK-10")
def sink_10(before: Sink, event: Event, effects: Effects, after: Sink) -> bool:
    """A commit that throws fails the task. At a completion the sink first tries all other commits."""
    if type(event) is FailingCompletion:
        reported = tuple(
            CommitFailed(filed.transaction) if filed.transaction == event.fails else Commit(filed.transaction)
            for filed in before.pending
            if filed.checkpoint <= event.checkpoint
        )
        aborted = tuple(AbortTransaction(transaction) for transaction in _present(before.open))
        return effects == (*reported, *aborted) and not after.running
    if type(event) is FailingRestore:
        (taken,) = (taken for taken in before.snapshots if taken.checkpoint == event.checkpoint)
        expected: Effects = ()
        for filed in taken.pending:
            if filed.transaction == event.fails:
                return effects == (*expected, CommitFailed(event.fails))
            expected = (*expected, Commit(filed.transaction))
    return not any(type(effect) is CommitFailed for effect in effects)


SINK_HISTORY = Registry("sink_history")


@SINK_HISTORY.step("SINK-11")
def sink_11(before: SinkHistory, event: Event, effects: Effects, after: SinkHistory) -> bool:
    """Each committed transaction belongs to a completed checkpoint, and no completion commits it again."""
    commits = [one.transaction for one in effects if type(one) is Commit]
    restores = type(event) is Restore or type(event) is FailingRestore
    once = restores or not {*commits} & {*before.sink.committed}
    covered = {one.transaction for one in after.belongs if one.checkpoint <= after.completed}
    return once and {*commits, *after.sink.committed} <= covered and len({*commits}) == len(commits)


@SINK_HISTORY.state("SINK-11")
def sink_11_belongs_to_one(history: SinkHistory) -> bool:
    """A transaction belongs to at most one checkpoint."""
    transactions = [one.transaction for one in history.belongs]
    return len({*transactions}) == len(transactions)


def _present(transaction: int) -> tuple[int, ...]:
    """The transaction as a tuple, which is empty for none."""
    return (transaction,) if transaction != NONE else ()


def _repeats(transactions: tuple[int, ...]) -> bool:
    return any(left == right for left, right in combinations(transactions, 2))
