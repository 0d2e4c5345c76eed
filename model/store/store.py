"""The store of completed checkpoints: it retains some of them, and returns the latest one.

Rules SUB-06 to SUB-09.

The store adds each checkpoint that completes. Then it drops the oldest surplus entries that it may drop. It
never drops the last entry, nor the newest checkpoint that is no savepoint: a savepoint belongs to a user, who
may delete it. After a stop-with-savepoint the store may drop every entry except the last one.

The module describes Flink 1.15 and later. `model.store.generations` holds the steps of older generations. The
module describes a list of ids, without files, tasks and pending checkpoints.
"""

from collections.abc import Callable
from typing import NamedTuple

from model.coordinator.events import DiscardCheckpoint
from model.coordinator.profiles import NEWEST_COORDINATOR, CoordinatorProfile
from model.events import NONE, Effects, Rules, Step
from model.store.events import Latest, Subsumed

CHECKPOINT = 0
SAVEPOINT = 1
STOP = 2
"""The types of a completed checkpoint. STOP is the savepoint of a stop-with-savepoint."""
FULL = 3
"""A type that occurs only in triggers: the snapshot must use no file of an older checkpoint (COORD-38)."""


class Entry(NamedTuple):
    """One completed checkpoint."""

    checkpoint: int
    type: int


class Store(NamedTuple):
    """The completed checkpoints of a job."""

    retain: int
    """Number of checkpoints to retain, at least 1."""
    entries: tuple[Entry, ...]
    """The retained checkpoints, in the order of additions."""
    open: bool
    """The store has not shut down."""
    profile: CoordinatorProfile = NEWEST_COORDINATOR
    """The generation of the store. Never changes."""


def new_store(retain: int, profile: CoordinatorProfile = NEWEST_COORDINATOR) -> Store:
    """An empty store."""
    return Store(retain, (), True, profile)


def on_latest(store: Store) -> Step[Store]:
    """Returns the checkpoint for a restore as an effect: the one that was added last."""
    return Step(store, (Latest(latest(store)),), ("SUB-06",))


def latest(store: Store) -> int:
    """The id added last, or -1."""
    return store.entries[-1].checkpoint if store.entries else NONE


def on_shutdown(store: Store, discard: bool) -> Step[Store]:
    """The job has ended and does not restart. `discard`: the store deletes its checkpoints."""
    effects: Effects = ()
    if discard:
        effects = tuple(
            DiscardCheckpoint(entry.checkpoint) for entry in store.entries if entry.type == CHECKPOINT
        )
    return Step(store._replace(entries=(), open=False), effects, ("SUB-09",))


def highest(ids: tuple[int, ...]) -> int:
    """The greatest id. `ids` has at least one element."""
    top = ids[0]
    for other in ids[1:]:
        if other > top:
            top = other
    return top


def divided(
    entries: tuple[Entry, ...], may_drop: Callable[[int], bool], surplus: int
) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """Returns the entries that stay and the dropped ones: the first `surplus` ones that may be dropped."""
    kept: tuple[Entry, ...] = ()
    dropped: tuple[Entry, ...] = ()
    for position, entry in enumerate(entries):
        if surplus > 0 and may_drop(position):
            surplus -= 1
            dropped = (*dropped, entry)
        else:
            kept = (*kept, entry)
    return kept, dropped


class StoreSteps:
    """The addition to a store, and the methods that older generations override."""

    def on_add(
        self,
        store: Store,
        checkpoint: int,
        type: int,  # noqa: A002 - the protocol's word
    ) -> Step[Store]:
        """Adds a completed checkpoint, and drops the oldest surplus ones that may be dropped."""
        entries = (*store.entries, Entry(checkpoint, type))
        surplus = len(entries) - store.retain
        kept, dropped = divided(entries, lambda position: self.may_drop(entries, position), surplus)
        deleted = tuple(entry.checkpoint for entry in dropped if entry.type == CHECKPOINT)
        discards = tuple(DiscardCheckpoint(gone) for gone in deleted)
        effects = (*discards, *self.notify_subsumed(deleted))
        return Step(store._replace(entries=kept), effects, self.rules_of(drops=bool(dropped)))

    def rules_of(self, *, drops: bool) -> Rules:
        """The rules that fire at an addition. `drops`: the store drops an entry."""
        return ("SUB-06", "SUB-07", "SUB-08", "SUB-09") if drops else ("SUB-06", "SUB-08")

    def may_drop(self, entries: tuple[Entry, ...], position: int) -> bool:
        """Whether the store may drop the entry at `position`."""
        if position == len(entries) - 1:  # the entry added last
            return False
        if entries[-1].type == STOP:
            return True
        if entries[position].type != CHECKPOINT:
            return True
        return any(later.type == CHECKPOINT for later in entries[position + 1 :])  # not the newest checkpoint

    def notify_subsumed(self, deleted: tuple[int, ...]) -> Effects:
        """The effect that reports the highest id that the addition has deleted, if any."""
        return (Subsumed(highest(deleted)),) if deleted else ()
