"""A transactional sink: two-phase commit over checkpoints. Rules SINK-01 to SINK-10.

The sink writes records to one open transaction. At a snapshot the sink pre-commits this transaction under the
checkpoint's id (`PreCommitted`). At the notification of a completed checkpoint it commits all transactions
that it pre-committed up to this id. A notification may be lost. Therefore a restore commits the pre-committed
transactions of the restored snapshot, if necessary a second time.

The state also includes the data that outlives a crash: the snapshots, and the transactions of the external
system.

The module describes Flink 1.14 and later. `model.sink.generations` holds the step that differs in older ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from model.events import NONE, Effects, Rules, Step
from model.sink.events import AbortTransaction, Begin, Commit, CommitFailed, PreCommit, Write


@dataclass(frozen=True, eq=False, repr=False)
class SinkProfile:
    """The switches of one generation. There is one object for each generation, which all states share."""

    name: str
    """The name in the adapter protocol: the first release of the generation."""
    waits_at_the_end: bool = True
    """After the end of its input, a sink waits for the checkpoint that commits its last transaction.

    Else the end closes the sink, and the records since its last snapshot are lost.
    """

    def __repr__(self) -> str:
        return f"Flink {self.name}"

    def __reduce__(self) -> str | tuple[object, ...]:
        """Unpickling returns the existing profile of this name, also in another process."""
        return _profile_of, (self.name,)


NEWEST_SINK = SinkProfile("1.14")
SINK_PROFILES: Mapping[str, SinkProfile] = {
    profile.name: profile for profile in (SinkProfile("1.9", waits_at_the_end=False), NEWEST_SINK)
}


def _profile_of(name: str) -> SinkProfile:
    return SINK_PROFILES[name]


class PreCommitted(NamedTuple):
    """A pre-committed transaction and its checkpoint."""

    checkpoint: int
    transaction: int


class SinkSnapshot(NamedTuple):
    """The sink's part of one checkpoint."""

    checkpoint: int
    open: int
    """The transaction that the sink opened after the snapshot. -1 if its input had ended."""
    pending: tuple[PreCommitted, ...]


class Sink(NamedTuple):
    """A sink and the data that outlives a crash (*durable*)."""

    running: bool
    """The sink has neither crashed nor been closed."""
    finished: bool
    """The sink has read the end of its input."""
    open: int
    """The transaction to which the sink writes. -1 for none."""
    pending: tuple[PreCommitted, ...]
    """Pre-committed transactions, oldest first."""
    next_transaction: int
    """Durable: the id of the next transaction."""
    committed: tuple[int, ...]
    """Durable: the committed transactions, ascending."""
    snapshots: tuple[SinkSnapshot, ...]
    """Durable: the snapshots, ascending by checkpoint."""
    profile: SinkProfile = NEWEST_SINK


def new_sink(profile: SinkProfile = NEWEST_SINK) -> Sink:
    """A running sink with transaction 1 open."""
    return Sink(True, False, 1, (), 2, (), (), profile)


def on_write(sink: Sink, value: int) -> Step[Sink]:
    """A record arrives at the sink."""
    return Step(sink, (Write(sink.open, value),), ("SINK-01",))


def on_snapshot(sink: Sink, checkpoint: int) -> Step[Sink]:
    """The sink's subtask takes its snapshot. It pre-commits the open transaction and opens the next one."""
    effects: Effects = ()
    if sink.open != NONE:
        effects = (PreCommit(sink.open),)
        sink = sink._replace(open=NONE, pending=(*sink.pending, PreCommitted(checkpoint, sink.open)))
    if sink.finished:
        rules: Rules = ("SINK-07",)
    else:
        rules = ("SINK-02", "SINK-08")
        sink, begun = begin(sink)
        effects = (*effects, *begun)
    taken = SinkSnapshot(checkpoint, sink.open, sink.pending)
    return Step(sink._replace(snapshots=(*sink.snapshots, taken)), effects, rules)


def on_notify_complete(sink: Sink, checkpoint: int, fails: int = NONE) -> Step[Sink]:
    """A checkpoint is complete. The sink commits the transactions that it pre-committed up to this id.

    `fails`: the transaction whose commit throws, -1 for none.
    """
    ready = tuple(filed for filed in sink.pending if filed.checkpoint <= checkpoint)
    if not ready:
        return Step(sink, (), ("SINK-04",))
    kept = tuple(filed for filed in sink.pending if filed.checkpoint > checkpoint)
    done = tuple(filed for filed in ready if filed.transaction != fails)
    sink = sink._replace(pending=kept, committed=with_committed(sink.committed, done))
    effects = tuple(tried(filed.transaction, fails) for filed in ready)
    if len(done) == len(ready):
        return Step(sink, effects, ("SINK-03",))
    closed = on_close(sink)  # the failed commit fails the task
    return Step(closed.state, (*effects, *closed.effects), ("SINK-03", "SINK-10", "SINK-09"))


def on_notify_abort(sink: Sink, checkpoint: int) -> Step[Sink]:
    """A checkpoint was aborted. Its pre-committed transactions wait for a later completion."""
    return Step(sink, (), ("SINK-05",))


def on_finish(sink: Sink) -> Step[Sink]:
    """The input has ended. The sink waits for the checkpoint that commits its last transaction."""
    return Step(sink._replace(finished=True), (), ("SINK-07",))


def on_crash(sink: Sink) -> Step[Sink]:
    """A crash loses all volatile state."""
    return Step(sink._replace(running=False, finished=False, open=NONE, pending=()), (), ("SINK-06",))


def on_close(sink: Sink) -> Step[Sink]:
    """The task ends. The sink aborts the open transaction. A later restore commits the pre-committed ones."""
    effects: Effects = () if sink.open == NONE else (AbortTransaction(sink.open),)
    return Step(on_crash(sink).state, effects, ("SINK-09",))


def on_restore(sink: Sink, checkpoint: int, fails: int = NONE) -> Step[Sink]:
    """The sink restarts from its snapshot for `checkpoint`, or from the initial state (-1).

    The commit of transaction `fails` throws and ends the restore. Another restore must follow.
    """
    effects: Effects = ()
    snapshots: tuple[SinkSnapshot, ...] = ()
    for taken in sink.snapshots:
        if taken.checkpoint <= checkpoint:
            snapshots = (*snapshots, taken)
        if taken.checkpoint == checkpoint:
            for place, filed in enumerate(taken.pending):
                if filed.transaction == fails:
                    done = taken.pending[:place]
                    sink = sink._replace(committed=with_committed(sink.committed, done))
                    effects = (*(Commit(before.transaction) for before in done), CommitFailed(fails))
                    return Step(sink, effects, ("SINK-10",))
            effects = tuple(Commit(filed.transaction) for filed in taken.pending)
            if taken.open != NONE:
                effects = (*effects, AbortTransaction(taken.open))
            sink = sink._replace(committed=with_committed(sink.committed, taken.pending))
    sink, begun = begin(sink._replace(running=True, snapshots=snapshots))
    return Step(sink, (*effects, *begun), ("SINK-06", "SINK-08"))


def begin(sink: Sink) -> tuple[Sink, Effects]:
    """Opens the next transaction (SINK-01)."""
    opened = sink.next_transaction
    return sink._replace(open=opened, next_transaction=opened + 1), (Begin(opened),)


def tried(transaction: int, fails: int) -> Commit | CommitFailed:
    """The effect of the attempt to commit a transaction (SINK-10). `fails`: the one whose commit throws."""
    return CommitFailed(transaction) if transaction == fails else Commit(transaction)


def with_committed(committed: tuple[int, ...], filed: tuple[PreCommitted, ...]) -> tuple[int, ...]:
    """The committed transactions including those of `filed`, ascending, each once."""
    for entry in filed:
        if not any(known == entry.transaction for known in committed):
            before = tuple(known for known in committed if known < entry.transaction)
            after = tuple(known for known in committed if known > entry.transaction)
            committed = (*before, entry.transaction, *after)
    return committed
