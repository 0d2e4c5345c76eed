"""The store of completed checkpoints: which are kept, which is the latest. Rules SUB-06 to SUB-09.

The store adds a checkpoint that completes and then drops the oldest ones, as far as permitted. It never drops
the last element or the newest checkpoint: a newer savepoint belongs to a user, who may delete it. Once the
job was stopped with a savepoint, the store may drop every element but the last.

The module knows a list of ids: no files, no tasks, no pending checkpoints.
"""

from typing import NamedTuple

from model.coordinator.events import DiscardCheckpoint
from model.coordinator.profiles import NEWEST_COORDINATOR, CoordinatorProfile
from model.events import NONE, Effects, Rules, Step
from model.store.events import Latest, Subsumed

CHECKPOINT = 0
SAVEPOINT = 1
STOP = 2
"""The types of a completed checkpoint; STOP is a savepoint with which the job was stopped."""


class Entry(NamedTuple):
    """One completed checkpoint."""

    checkpoint: int
    type: int


class Store(NamedTuple):
    """The completed checkpoints of a job."""

    retain: int
    """Number of checkpoints to keep, at least 1."""
    entries: tuple[Entry, ...]
    """The kept checkpoints, in the order of additions."""
    open: bool
    """The store is not shut down."""
    profile: CoordinatorProfile = NEWEST_COORDINATOR
    """The generation of the store. Never changes."""


def new_store(retain: int, profile: CoordinatorProfile = NEWEST_COORDINATOR) -> Store:
    """An empty store."""
    return Store(retain, (), True, profile)


def on_add(store: Store, checkpoint: int, type: int) -> Step[Store]:  # noqa: A002 - the protocol's word
    """Adds a completed checkpoint and drops surplus ones."""
    entries = (*store.entries, Entry(checkpoint, type))
    surplus = len(entries) - store.retain
    kept: tuple[Entry, ...] = ()
    deleted: tuple[int, ...] = ()
    for position, entry in enumerate(entries):
        if surplus > 0 and may_drop(entries, position, store.profile):
            surplus -= 1
            if entry.type == CHECKPOINT:
                deleted = (*deleted, entry.checkpoint)
        else:
            kept = (*kept, entry)
    effects: Effects = tuple(DiscardCheckpoint(gone) for gone in deleted)
    if deleted and store.profile.tells_of_subsumed:
        effects = (*effects, Subsumed(highest(deleted)))
    return Step(store._replace(entries=kept), effects, rules_of(store, drops=len(kept) < len(entries)))


def rules_of(store: Store, *, drops: bool) -> Rules:
    """The rules that an addition follows."""
    if not store.profile.protects_the_last:
        return ("SUB-06", "SUB-10", "SUB-09") if drops else ("SUB-06", "SUB-10")
    return ("SUB-06", "SUB-07", "SUB-08", "SUB-09") if drops else ("SUB-06", "SUB-08")


def may_drop(entries: tuple[Entry, ...], position: int, profile: CoordinatorProfile) -> bool:
    """The store may drop the element at `position`."""
    is_last = position == len(entries) - 1
    if is_last:
        return False
    if not profile.protects_the_last:
        return True
    if entries[-1].type == STOP:
        return True
    if entries[position].type != CHECKPOINT:
        return True
    return any(later.type == CHECKPOINT for later in entries[position + 1 :])  # not the newest checkpoint


def on_latest(store: Store) -> Step[Store]:
    """The step of a request for the checkpoint to restore: the one added last."""
    return Step(store, (Latest(latest(store)),), ("SUB-06",))


def latest(store: Store) -> int:
    """The id added last, or -1."""
    return store.entries[-1].checkpoint if store.entries else NONE


def on_shutdown(store: Store, discard: bool) -> Step[Store]:
    """The job has ended for good; `discard`: the store deletes its checkpoints."""
    effects: Effects = ()
    if discard:
        effects = tuple(
            DiscardCheckpoint(entry.checkpoint) for entry in store.entries if entry.type == CHECKPOINT
        )
    return Step(store._replace(entries=(), open=False), effects, ("SUB-09",))


def highest(ids: tuple[int, ...]) -> int:
    """The greatest of at least one id."""
    top = ids[0]
    for other in ids[1:]:
        if other > top:
            top = other
    return top
