"""A transactional sink with two-phase commit, its durable snapshots, and the system behind it.

Every record goes into the one open transaction. A snapshot pre-commits it and files it under the
checkpoint's id; only the completion of that checkpoint, or of a later one, commits it; a restore commits
again what the snapshot had filed, because the completion may have been lost. Rules: SINK-01 to SINK-10,
ONCE-05. The system behind is told by effects, and `committed` is what it has been told to keep.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple, assert_never

from impl.core.component import Component, events_of, only_keys, require_checkpoint_id, supported
from impl.core.errors import ProtocolError
from impl.core.sink.events import (
    AbortTransaction,
    Begin,
    CheckpointAborted,
    CheckpointCompleted,
    Commit,
    CommitFailed,
    Crash,
    Finish,
    PreCommit,
    RestoreSink,
    SinkEffect,
    SinkEffects,
    SinkEvent,
    SnapshotSink,
    WriteRecord,
    WriteToTransaction,
)
from impl.core.subtask.events import CloseTask

OUTLIVES_ITS_INPUT: Final[Mapping[str, bool]] = {"1.9": False, "1.14": True}
"""By the name of the wire's `profile`: whether a sink waits for the commit of its last transaction."""
NEWEST_SINK: Final = "1.14"


class SinkPhase(Enum):
    """What the sink's task is doing."""

    RUNNING = "running"
    FINISHED = "finished"  # the input has ended; snapshots and notifications still come
    CRASHED = "crashed"


class Filed(NamedTuple):
    """A pre-committed transaction, filed under the checkpoint that commits it."""

    checkpoint: int
    transaction: int


class SinkSnapshot(NamedTuple):
    """What a snapshot of the sink holds: enough to commit again and to clean up."""

    open: int | None
    pending: tuple[Filed, ...]


class TransactionalSink(Component):
    """One sink subtask. A new one has transaction 1 open; `continuing` makes one from a durable snapshot.

    `outlives_its_input` (from 1.14 on): the end of the input does not close it.
    """

    def __init__(self, *, outlives_its_input: bool = True) -> None:
        self._outlives_its_input = outlives_its_input
        self._phase = SinkPhase.RUNNING
        self._open: int | None = 1
        self._next = 2
        self._pending: list[Filed] = []
        self._last_snapshot = -1
        self._snapshots: dict[int, SinkSnapshot] = {}
        self._committed: set[int] = set()

    @classmethod
    def continuing(
        cls, snapshot: SinkSnapshot, next_transaction: int
    ) -> tuple["TransactionalSink", SinkEffects]:
        """A sink in a new process that restores `snapshot` of an old one, and the effects of the restore.

        `next_transaction` must be above every transaction id used before, so that none is used twice
        (SINK-08).
        """
        used = [filed.transaction for filed in snapshot.pending]
        if snapshot.open is not None:
            used.append(snapshot.open)
        highest = max(used, default=0)
        if next_transaction <= highest:
            raise ProtocolError(
                f"next_transaction has to be above {highest}, came {next_transaction}; "
                "a transaction id is used once"
            )
        sink = cls()
        sink._next = next_transaction
        return sink, sink._restart(snapshot)

    @property
    def open(self) -> int | None:
        """The transaction that takes the writes, None after the last one was pre-committed."""
        return self._open

    @property
    def next_transaction(self) -> int:
        """The id that the next transaction gets."""
        return self._next

    @property
    def pending(self) -> tuple[Filed, ...]:
        """The pre-committed transactions that wait for a completion, in the order of filing."""
        return tuple(self._pending)

    def snapshot_of(self, checkpoint: int) -> SinkSnapshot:
        """The durable snapshot under `checkpoint`; `ProtocolError` if there is none."""
        if checkpoint not in self._snapshots:
            raise ProtocolError(
                f"snapshots are held for {sorted(self._snapshots)}, came {checkpoint}; ask for one of those"
            )
        return self._snapshots[checkpoint]

    def forget_below(self, checkpoint: int) -> None:
        """Keep no memory of snapshots below `checkpoint` and of what is committed, for a long-lived owner.

        Not an event of the protocol: the owner keeps the durable snapshots itself and makes a new sink of
        one by `continuing`.
        """
        self._snapshots = {one: held for one, held in self._snapshots.items() if one >= checkpoint}
        self._committed.clear()

    def write(self, value: object) -> SinkEffects:
        """A record reaches the sink (SINK-01)."""
        self._require_alive()
        if self._phase is SinkPhase.FINISHED or self._open is None:
            raise ProtocolError("the sink's input has ended, so no record can come; restore the sink first")
        return (WriteToTransaction(self._open, value),)

    def snapshot(self, checkpoint: int) -> SinkEffects:
        """The sink is snapshotted: the open transaction is pre-committed and filed (SINK-02, SINK-07)."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        if checkpoint <= self._last_snapshot:
            raise ProtocolError(
                f"snapshots have growing ids, the newest one held is {self._last_snapshot}, "
                f"came {checkpoint}; ignore triggers that are not newer (TASK-02)"
            )
        effects: list[SinkEffect] = []
        if self._open is not None:
            effects.append(PreCommit(self._open))
            self._pending.append(Filed(checkpoint, self._open))
            self._open = None
        if self._phase is SinkPhase.RUNNING:
            effects.append(self._begin())
        self._last_snapshot = checkpoint
        self._snapshots[checkpoint] = SinkSnapshot(self._open, tuple(self._pending))
        return tuple(effects)

    def notify_complete(self, checkpoint: int, fails: int | None = None) -> SinkEffects:
        """`checkpoint` is complete: commit all that is filed up to it (SINK-03, SINK-04).

        A commit that throws, that of transaction `fails`, keeps no other from being tried; then the task
        fails, which closes the sink (SINK-10).
        """
        self._require_alive()
        require_checkpoint_id(checkpoint)
        due = [filed.transaction for filed in self._pending if filed.checkpoint <= checkpoint]
        self._pending = [filed for filed in self._pending if filed.checkpoint > checkpoint]
        if fails not in due:
            return self._commit(due)
        place = due.index(fails)
        done, rest = self._commit(due[:place]), self._commit(due[place + 1 :])
        return (*done, CommitFailed(fails), *rest, *self.close())

    def notify_abort(self, checkpoint: int) -> SinkEffects:
        """`checkpoint` was aborted: its transactions wait for a later one (SINK-05)."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        return ()

    def finish(self) -> SinkEffects:
        """The input ends; the next snapshot files the last transaction (SINK-07)."""
        self._require_alive()
        if not self._outlives_its_input:
            return self.close()
        self._phase = SinkPhase.FINISHED
        return ()

    def close(self) -> SinkEffects:
        """The task is over: what is open is rolled back, what is filed is left to a restore (SINK-09)."""
        self._require_alive()
        given_up = () if self._open is None else (AbortTransaction(self._open),)
        self.crash()
        return given_up

    def crash(self) -> SinkEffects:
        """The task dies: what was only in memory is gone; snapshots and committed output are not."""
        self._require_alive()
        self._phase = SinkPhase.CRASHED
        self._open = None
        self._pending = []
        return ()

    def restore(self, checkpoint: int | None, fails: int | None = None) -> SinkEffects:
        """A crashed sink restarts from its snapshot, or for None from the beginning (SINK-06).

        Where the commit of transaction `fails` throws the restore ends: try it again (SINK-10).
        """
        if self._phase is not SinkPhase.CRASHED:
            raise ProtocolError("only a crashed sink restores, this one runs; crash it first")
        if checkpoint is None:
            self._snapshots.clear()
            self._last_snapshot = -1
            return self._restart(SinkSnapshot(None, ()))
        snapshot = self.snapshot_of(checkpoint)
        filed = [one.transaction for one in snapshot.pending]
        if fails in filed:
            return (*self._commit(filed[: filed.index(fails)]), CommitFailed(fails))
        self._snapshots = {one: held for one, held in self._snapshots.items() if one <= checkpoint}
        self._last_snapshot = checkpoint
        return self._restart(snapshot)

    def observe(self) -> dict[str, Any]:
        """`open`, `pending` (`[checkpoint, transaction]`), `committed` (sorted), `running`."""
        return {
            "open": self._open,
            "pending": [[filed.checkpoint, filed.transaction] for filed in self._pending],
            "committed": sorted(self._committed),
            "running": self._phase is not SinkPhase.CRASHED,
        }

    def _restart(self, snapshot: SinkSnapshot) -> SinkEffects:
        """SINK-06: commit what was filed, oldest first, abort what was open, open a new one."""
        self._phase = SinkPhase.RUNNING
        self._pending = []
        committed = self._commit([filed.transaction for filed in snapshot.pending])
        aborted = () if snapshot.open is None else (AbortTransaction(snapshot.open),)
        return (*committed, *aborted, self._begin())

    def _begin(self) -> SinkEffect:
        """Open the next transaction; its id is never used again (SINK-08)."""
        self._open = self._next
        self._next += 1
        return Begin(self._open)

    def _commit(self, transactions: list[int]) -> SinkEffects:
        self._committed.update(transactions)
        return tuple(Commit(transaction) for transaction in transactions)

    def _require_alive(self) -> None:
        if self._phase is SinkPhase.CRASHED:
            raise ProtocolError("the sink has crashed and takes only a restore; restore it first")

    def handle(self, event: SinkEvent) -> SinkEffects:
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
        match event:
            case WriteRecord(value):
                return self.write(value)
            case SnapshotSink(checkpoint):
                return self.snapshot(checkpoint)
            case CheckpointCompleted(checkpoint, fails):
                return self.notify_complete(checkpoint, fails)
            case CheckpointAborted(checkpoint):
                return self.notify_abort(checkpoint)
            case Finish():
                return self.finish()
            case CloseTask():
                return self.close()
            case Crash():
                return self.crash()
            case RestoreSink(checkpoint, fails):
                return self.restore(checkpoint, fails)
            case _:
                assert_never(event)

    _events = events_of(SinkEvent)


def sink_from_config(config: Mapping[str, object]) -> TransactionalSink:
    """The sink that a wire configuration asks for."""
    only_keys(config, ("profile",))
    profile = supported(config, "profile", OUTLIVES_ITS_INPUT, NEWEST_SINK)
    return TransactionalSink(outlives_its_input=OUTLIVES_ITS_INPUT[profile])
