"""Commits or rolls back the prepared transactions that an ended job has left in PostgreSQL.

A sink prepares a transaction for a checkpoint, and commits it once the checkpoint has completed. So the
transactions in the newest completed checkpoint have to be committed (SINK-06), even if the job is never
resumed; all others have to be rolled back. A resumed job does both by itself.
"""

from contextlib import closing
from enum import Enum
from typing import NamedTuple

from impl.connectors.postgres import commit_prepared, connect, prepared, roll_back_prepared
from impl.spark.worker.sinks import transactions_in
from impl.state import CheckpointStorage, StateError
from impl.state.checkpoint_storage import LINEAGE
from impl.state.locations import Where, location_of

_OWNER = "barrierspec transactions"


class Fate(Enum):
    """The action that a prepared transaction needs."""

    COMMIT = "commit"
    ROLL_BACK = "roll back"


class LeftTransaction(NamedTuple):
    """A prepared transaction of a job."""

    gid: str
    """Its global id: lineage, subtask, attempt and number."""
    fate: Fate


def checkpoints_at(where: Where) -> CheckpointStorage:
    """The checkpoints of a job in `where`. Raises StateError, and creates nothing, if there are none."""
    if location_of(where).size(LINEAGE) is None:
        raise StateError(
            f"{where}: expected the checkpoint folder of a job, got no {LINEAGE}; give the folder in "
            "which the job keeps chk-1, chk-2 and so on"
        )
    return CheckpointStorage(where)


def left(storage: CheckpointStorage, conninfo: str) -> tuple[LeftTransaction, ...]:
    """The prepared transactions of the job whose checkpoints are in `storage`, ordered by their global ids.

    Raises ConnectorError for a server that cannot be used, StateError for a folder that cannot be read.
    """
    completed = storage.latest_completed().completed
    handles = () if completed is None else completed.handles.values()
    names = frozenset[str]().union(*(transactions_in(storage.open(one)) for one in handles))
    with closing(connect(conninfo)) as session:
        return tuple(
            LeftTransaction(gid, Fate.COMMIT if gid in names else Fate.ROLL_BACK)
            for gid, _ in prepared(session, storage.lineage)
        )


def resolve(storage: CheckpointStorage, conninfo: str) -> tuple[LeftTransaction, ...]:
    """Commit or roll back the transactions that an ended job has left; returns them.

    The job can be resumed afterwards. The call draws the number of a new attempt, so a driver that still runs
    can complete no further checkpoint. Raises the errors of `left`, and TransactionLostError if a
    transaction of the checkpoint is neither prepared nor committed any more.
    """
    attempt = storage.new_attempt(owner=_OWNER)
    completed = storage.latest_completed().completed
    storage.record_restored(attempt, None if completed is None else completed.checkpoint)
    found = left(storage, conninfo)
    with closing(connect(conninfo)) as session:
        for gid, fate in found:
            (commit_prepared if fate is Fate.COMMIT else roll_back_prepared)(session, gid)
    return found
