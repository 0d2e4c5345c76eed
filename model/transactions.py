"""A transactional sink: two-phase commit over checkpoints. Rules SINK-01 to SINK-08.

Records go to one open transaction. A snapshot pre-commits it and files it under the checkpoint; the
notification of a completed checkpoint commits all that is filed up to its id. Notifications can be
lost, so a restore commits again what the restored snapshot holds as pre-committed.

The state also holds what outlives a crash: the snapshots, and the external system's transactions.
"""

from typing import NamedTuple

from model.events import (
    NONE,
    AbortTransaction,
    Begin,
    Commit,
    Effects,
    PreCommit,
    Step,
    Write,
)


class Filed(NamedTuple):
    """A pre-committed transaction and the checkpoint it belongs to."""

    checkpoint: int
    transaction: int


class SinkSnapshot(NamedTuple):
    """What the sink put into one checkpoint."""

    checkpoint: int
    open: int
    """The transaction opened at the snapshot, -1 if the sink had finished."""
    pending: tuple[Filed, ...]


class Sink(NamedTuple):
    """A sink and the durable things it relies on."""

    running: bool
    """Not crashed."""
    finished: bool
    """The end of the input was seen."""
    open: int
    """The transaction that takes the writes, -1 for none."""
    pending: tuple[Filed, ...]
    """Pre-committed transactions, in the order of filing."""
    next_transaction: int
    """Durable: ids count up and are never used twice."""
    committed: tuple[int, ...]
    """Durable: the visible transactions, ascending."""
    snapshots: tuple[SinkSnapshot, ...]
    """Durable: ascending by checkpoint."""


def new_sink() -> Sink:
    """A running sink with transaction 1 open."""
    return Sink(True, False, 1, (), 2, (), ())


def on_write(sink: Sink, value: int) -> Step[Sink]:
    """A record reaches the sink."""
    return Step(sink, (Write(sink.open, value),), ("SINK-01",))


def on_snapshot(sink: Sink, checkpoint: int) -> Step[Sink]:
    """The sink's subtask takes its snapshot: pre-commit, file, open the next."""
    effects: Effects = ()
    if sink.open != NONE:
        effects = (PreCommit(sink.open),)
        sink = sink._replace(open=NONE, pending=(*sink.pending, Filed(checkpoint, sink.open)))
    if sink.finished:
        rule = "SINK-07"
    else:
        rule = "SINK-02"
        sink, begun = begin(sink)
        effects = (*effects, *begun)
    taken = SinkSnapshot(checkpoint, sink.open, sink.pending)
    return Step(sink._replace(snapshots=(*sink.snapshots, taken)), effects, (rule,))


def on_notify_complete(sink: Sink, checkpoint: int) -> Step[Sink]:
    """A checkpoint is complete: commit what is filed up to its id."""
    ready = tuple(filed for filed in sink.pending if filed.checkpoint <= checkpoint)
    if not ready:
        return Step(sink, (), ("SINK-04",))
    kept = tuple(filed for filed in sink.pending if filed.checkpoint > checkpoint)
    return Step(
        sink._replace(pending=kept, committed=with_committed(sink.committed, ready)),
        tuple(Commit(filed.transaction) for filed in ready),
        ("SINK-03",),
    )


def on_notify_abort(sink: Sink, checkpoint: int, completed: int = NONE) -> Step[Sink]:
    """A checkpoint was aborted: what was filed under it stays for a later one."""
    return Step(sink, (), ("SINK-05",))


def on_finish(sink: Sink) -> Step[Sink]:
    """The input has ended."""
    return Step(sink._replace(finished=True), (), ("SINK-07",))


def on_crash(sink: Sink) -> Step[Sink]:
    """Everything volatile is lost."""
    return Step(sink._replace(running=False, finished=False, open=NONE, pending=()), (), ("SINK-06",))


def on_restore(sink: Sink, checkpoint: int) -> Step[Sink]:
    """The sink restarts from its snapshot under `checkpoint`, or from the beginning (-1)."""
    effects: Effects = ()
    snapshots: tuple[SinkSnapshot, ...] = ()
    for taken in sink.snapshots:
        if taken.checkpoint <= checkpoint:
            snapshots = (*snapshots, taken)
        if taken.checkpoint == checkpoint:
            effects = tuple(Commit(filed.transaction) for filed in taken.pending)
            if taken.open != NONE:
                effects = (*effects, AbortTransaction(taken.open))
            sink = sink._replace(committed=with_committed(sink.committed, taken.pending))
    sink, begun = begin(sink._replace(running=True, snapshots=snapshots))
    return Step(sink, (*effects, *begun), ("SINK-06",))


def begin(sink: Sink) -> tuple[Sink, Effects]:
    """Open the next transaction (SINK-01)."""
    opened = sink.next_transaction
    return sink._replace(open=opened, next_transaction=opened + 1), (Begin(opened),)


def with_committed(committed: tuple[int, ...], filed: tuple[Filed, ...]) -> tuple[int, ...]:
    """The committed transactions with those of `filed` among them, ascending, each once."""
    for entry in filed:
        if not any(known == entry.transaction for known in committed):
            before = tuple(known for known in committed if known < entry.transaction)
            after = tuple(known for known in committed if known > entry.transaction)
            committed = (*before, entry.transaction, *after)
    return committed
