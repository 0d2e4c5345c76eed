"""A transactional sink: two-phase commit over checkpoints. Rules SINK-01 to SINK-10, ONCE-05.

Every record goes into the one open transaction. A snapshot pre-commits this transaction, and records it
under the checkpoint's id. The completion of that checkpoint, or of a later one, commits it. A restore commits
the pre-committed transactions of its snapshot again, because the notification of the completion may be lost.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from impl.core.component import (
    NO_CHECKPOINT,
    Component,
    events_of,
    only_keys,
    require_checkpoint_id,
    supported,
)
from impl.core.errors import ProtocolError
from impl.core.sink import events

AWAITS_LAST_COMMIT: Final[Mapping[str, bool]] = {"1.9": False, "1.14": True}
"""For each profile: whether a finished sink stays open until its last transaction is committed."""
NEWEST_SINK: Final = "1.14"


class SinkPhase(Enum):
    """The phase of the sink's task."""

    RUNNING = "running"
    FINISHED = "finished"
    """The input has ended, and snapshots and notifications still arrive."""
    CRASHED = "crashed"


class PreCommitted(NamedTuple):
    """A pre-committed transaction and its checkpoint."""

    checkpoint: int
    transaction: int


class SinkSnapshot(NamedTuple):
    """The open and the pre-committed transactions in a snapshot of the sink."""

    open: int | None
    pending: tuple[PreCommitted, ...]


class TransactionalSink(Component[events.SinkEvent, events.SinkEffect]):
    """One sink subtask. Transaction 1 is open in a new sink.

    `continuing` makes a sink from a durable snapshot. `awaits_last_commit`: whether the sink stays open after
    the end of its input (from 1.14 on).
    """

    def __init__(self, *, awaits_last_commit: bool = True) -> None:
        self._awaits_last_commit = awaits_last_commit
        self._phase = SinkPhase.RUNNING
        self._open: int | None = 1
        self._next = 2
        self._pending: list[PreCommitted] = []
        self._last_snapshot = NO_CHECKPOINT
        self._snapshots: dict[int, SinkSnapshot] = {}
        self._committed: set[int] = set()

    @classmethod
    def continuing(
        cls, snapshot: SinkSnapshot, next_transaction: int
    ) -> tuple["TransactionalSink", events.SinkEffects]:
        """A sink that restores `snapshot` in a new process, and the effects of the restore.

        Raises ProtocolError if `next_transaction` is not above every transaction id of the snapshot: an id is
        used once (SINK-08).
        """
        used = [filed.transaction for filed in snapshot.pending]
        if snapshot.open is not None:
            used.append(snapshot.open)
        highest = max(used, default=0)
        if next_transaction <= highest:
            raise ProtocolError(
                f"next_transaction must be above {highest}, got {next_transaction}; "
                "a transaction id is used once"
            )
        sink = cls()
        sink._next = next_transaction
        return sink, sink._restart(snapshot)

    @property
    def open(self) -> int | None:
        """The open transaction; None after the last transaction was pre-committed."""
        return self._open

    @property
    def next_transaction(self) -> int:
        """The id of the next transaction."""
        return self._next

    @property
    def pending(self) -> tuple[PreCommitted, ...]:
        """The pre-committed transactions, oldest first."""
        return tuple(self._pending)

    def snapshot_of(self, checkpoint: int) -> SinkSnapshot:
        """The snapshot of `checkpoint`. Raises ProtocolError if there is none."""
        if checkpoint not in self._snapshots:
            raise ProtocolError(
                f"snapshots exist for {sorted(self._snapshots)}, got {checkpoint}; choose one of those"
            )
        return self._snapshots[checkpoint]

    def forget_below(self, checkpoint: int) -> None:
        """Forget the snapshots below `checkpoint` and the committed transactions, to bound the memory.

        This is no event of the protocol. The caller stores the snapshots itself and restores by `continuing`.
        """
        self._snapshots = {one: snapshot for one, snapshot in self._snapshots.items() if one >= checkpoint}
        self._committed.clear()

    def write(self, value: object) -> events.SinkEffects:
        """A record reaches the sink (SINK-01)."""
        self._require_alive()
        if self._phase is SinkPhase.FINISHED or self._open is None:
            raise ProtocolError(
                "the input of the sink has ended, so no record may follow; restore the sink first"
            )
        return (events.WriteToTransaction(self._open, value),)

    def snapshot(self, checkpoint: int) -> events.SinkEffects:
        """Pre-commit the open transaction, and record it under `checkpoint` (SINK-02, SINK-07)."""
        self._require_alive()
        if checkpoint <= self._last_snapshot:
            raise ProtocolError(
                f"the ids of snapshots grow, the newest one is {self._last_snapshot}, "
                f"got {checkpoint}; ignore triggers that are not newer (TASK-02)"
            )
        effects: list[events.SinkEffect] = []
        if self._open is not None:
            effects.append(events.PreCommit(self._open))
            self._pending.append(PreCommitted(checkpoint, self._open))
            self._open = None
        if self._phase is SinkPhase.RUNNING:
            effects.append(self._begin())
        self._last_snapshot = checkpoint
        self._snapshots[checkpoint] = SinkSnapshot(self._open, tuple(self._pending))
        return tuple(effects)

    def notify_complete(self, checkpoint: int, fails: int | None = None) -> events.SinkEffects:
        """`checkpoint` is complete: commit all transactions pre-committed up to it (SINK-03, SINK-04).

        If the commit of transaction `fails` throws, the sink still tries the others; then the task fails,
        which closes the sink (SINK-10).
        """
        self._require_alive()
        require_checkpoint_id(checkpoint)
        _require_transaction(fails)
        due = [filed.transaction for filed in self._pending if filed.checkpoint <= checkpoint]
        self._pending = [filed for filed in self._pending if filed.checkpoint > checkpoint]
        if fails not in due:
            return self._commit(due)
        index = due.index(fails)
        done, rest = self._commit(due[:index]), self._commit(due[index + 1 :])
        return (*done, events.CommitFailed(fails), *rest, *self.close())

    def notify_abort(self, checkpoint: int) -> events.SinkEffects:
        """`checkpoint` was aborted. A later checkpoint commits its transactions (SINK-05)."""
        self._require_alive()
        require_checkpoint_id(checkpoint)
        return ()

    def finish(self) -> events.SinkEffects:
        """The input ends. The next snapshot pre-commits the last transaction (SINK-07)."""
        self._require_alive()
        if not self._awaits_last_commit:
            return self.close()
        self._phase = SinkPhase.FINISHED
        return ()

    def close(self) -> events.SinkEffects:
        """The task ends: abort the open transaction.

        A restore commits pre-committed transactions (SINK-09).
        """
        self._require_alive()
        aborted = () if self._open is None else (events.AbortTransaction(self._open),)
        self.crash()
        return aborted

    def crash(self) -> events.SinkEffects:
        """The sink's process ends. The sink forgets its transactions, and the snapshots stay."""
        self._require_alive()
        self._phase = SinkPhase.CRASHED
        self._open = None
        self._pending = []
        return ()

    def restore(self, checkpoint: int | None, fails: int | None = None) -> events.SinkEffects:
        """The sink restarts from its snapshot of `checkpoint`; None: from the beginning (SINK-06).

        If the commit of transaction `fails` throws, the restore ends there and must be repeated (SINK-10).
        """
        if self._phase is not SinkPhase.CRASHED:
            raise ProtocolError("only a crashed or closed sink restores, this sink runs; crash or close it")
        _require_transaction(fails)
        if checkpoint is None:
            self._snapshots.clear()
            self._last_snapshot = NO_CHECKPOINT
            return self._restart(SinkSnapshot(None, ()))
        snapshot = self.snapshot_of(checkpoint)
        filed = [one.transaction for one in snapshot.pending]
        if fails in filed:
            return (*self._commit(filed[: filed.index(fails)]), events.CommitFailed(fails))
        self._snapshots = {one: kept for one, kept in self._snapshots.items() if one <= checkpoint}
        self._last_snapshot = checkpoint
        return self._restart(snapshot)

    def observe(self) -> dict[str, Any]:
        """The state fields `open`, `pending`, `committed` and `running`."""
        return {
            "open": self._open,
            "pending": [[filed.checkpoint, filed.transaction] for filed in self._pending],
            "committed": sorted(self._committed),
            "running": self._phase is not SinkPhase.CRASHED,
        }

    def _restart(self, snapshot: SinkSnapshot) -> events.SinkEffects:
        """Commit the pre-committed transactions, abort the open transaction, begin a new one (SINK-06)."""
        self._phase = SinkPhase.RUNNING
        self._pending = []
        committed = self._commit([filed.transaction for filed in snapshot.pending])
        aborted = () if snapshot.open is None else (events.AbortTransaction(snapshot.open),)
        return (*committed, *aborted, self._begin())

    def _begin(self) -> events.SinkEffect:
        """Open the next transaction, with a new id (SINK-08)."""
        self._open = self._next
        self._next += 1
        return events.Begin(self._open)

    def _commit(self, transactions: list[int]) -> events.SinkEffects:
        self._committed.update(transactions)
        return tuple(events.Commit(transaction) for transaction in transactions)

    def _require_alive(self) -> None:
        if self._phase is SinkPhase.CRASHED:
            raise ProtocolError(
                "the sink has crashed or is closed and accepts only a restore; restore it first"
            )

    _events = events_of(events.SinkEvent)


def _require_transaction(transaction: int | None) -> None:
    if transaction is not None and transaction < 1:
        raise ProtocolError(f"transactions are counted from 1 on, got {transaction}; name one of the sink")


def sink_from_config(config: Mapping[str, object]) -> TransactionalSink:
    """A new sink with the options of a configuration of the wire.

    Raises ConfigError for an unknown key, UnsupportedError for an unknown profile.
    """
    only_keys(config, ("profile",))
    profile = supported(config, "profile", AWAITS_LAST_COMMIT, NEWEST_SINK)
    return TransactionalSink(awaits_last_commit=AWAITS_LAST_COMMIT[profile])
