"""SUB-06 to SUB-10, stated over the store of completed checkpoints."""

from itertools import combinations

from model.coordinator.events import DiscardCheckpoint
from model.event_frames import Frame
from model.events import Effects, Event
from model.registry import Registry
from model.store.events import Add, Latest, LatestRequest, Shutdown, Subsumed
from model.store.store import Entry, Store

CHECKPOINT, STOP = 0, 2
"""The numbers of the types, as in the vocabulary.

This module does not import them from the model, so that a wrong number in the model violates a property.
"""

STORE = Registry("store")
STORE.frames({
    Add: Frame("SUB-06", "entries", "discard* subsumed?"),
    LatestRequest: Frame("SUB-06", "", "latest"),
    Shutdown: Frame("SUB-09", "entries open", "discard*"),
})  # fmt: skip


@STORE.initial("SUB-06")
def sub_06_at_first(store: Store) -> bool:
    """A new store is open and empty."""
    return store.open and store.entries == ()


@STORE.step("SUB-06")
def sub_06(before: Store, event: Event, effects: Effects, after: Store) -> bool:
    """The entries are in the order of additions. An added entry becomes the last one, which is the latest."""
    if type(event) is LatestRequest:
        return effects == (Latest(before.entries[-1].checkpoint if before.entries else -1),)
    if type(event) is not Add:
        return True
    added = Entry(event.checkpoint, event.type)
    return bool(after.entries) and after.entries[-1] == added and _keeps_order(before, after)


@STORE.state("SUB-06")
def sub_06_once(store: Store) -> bool:
    """A checkpoint is stored once, with a known type."""
    known = all(entry.checkpoint >= 0 and CHECKPOINT <= entry.type <= STOP for entry in store.entries)
    return known and not any(
        left.checkpoint == right.checkpoint for left, right in combinations(store.entries, 2)
    )


@STORE.step("SUB-07")
def sub_07(before: Store, event: Event, effects: Effects, after: Store) -> bool:
    """A surplus stays only if the store may drop no other entry. Without a surplus it drops nothing."""
    if type(event) is not Add or not before.profile.protects_newest_checkpoint:
        return True
    entries = (*before.entries, Entry(event.checkpoint, event.type))
    free = tuple(place for place in range(len(entries)) if not _is_protected(entries, place))
    gone = len(entries) - len(after.entries)
    surplus = max(0, len(entries) - before.retain)
    oldest = free[:surplus]
    return gone == len(oldest) and after.entries == tuple(
        entry for place, entry in enumerate(entries) if place not in oldest
    )


@STORE.step("SUB-08")
def sub_08(before: Store, event: Event, effects: Effects, after: Store) -> bool:
    """The newest checkpoint survives every addition except that of a stop-with-savepoint."""
    if type(event) is not Add or not before.profile.protects_newest_checkpoint or event.type == STOP:
        return True
    entries = (*before.entries, Entry(event.checkpoint, event.type))
    return all(
        any(kept == entry for kept in after.entries)
        for place, entry in enumerate(entries)
        if entry.type == CHECKPOINT and not any(later.type == CHECKPOINT for later in entries[place + 1 :])
    )


@STORE.step("SUB-09")
def sub_09(before: Store, event: Event, effects: Effects, after: Store) -> bool:
    """The store deletes dropped checkpoints in order and reports the highest id. It deletes no savepoint."""
    if type(event) is not Add:
        return True
    entries = (*before.entries, Entry(event.checkpoint, event.type))
    dropped = tuple(
        entry.checkpoint
        for entry in entries
        if entry.type == CHECKPOINT and not any(kept.checkpoint == entry.checkpoint for kept in after.entries)
    )
    deleted = tuple(DiscardCheckpoint(checkpoint) for checkpoint in dropped)
    if not before.profile.subsumed_notifications:
        return effects == deleted
    if not dropped:
        return not effects
    last = effects[-1]
    if effects[:-1] != deleted or type(last) is not Subsumed:
        return False
    return last.checkpoint in dropped and all(one <= last.checkpoint for one in dropped)


@STORE.step("SUB-09")
def sub_09_at_the_end(before: Store, event: Event, effects: Effects, after: Store) -> bool:
    """The end of the job empties and closes the store. It deletes the checkpoints if requested."""
    if type(event) is not Shutdown:
        return True
    stored = tuple(
        DiscardCheckpoint(entry.checkpoint) for entry in before.entries if entry.type == CHECKPOINT
    )
    return effects == (stored if event.discard else ()) and not after.entries and not after.open


@STORE.state("SUB-09")
def sub_09_shut_down(store: Store) -> bool:
    """A closed store is empty."""
    return store.open or not store.entries


@STORE.step("SUB-10")
def sub_10(before: Store, event: Event, effects: Effects, after: Store) -> bool:
    """Up to 1.11 the store keeps the entries added last, of any type (FLINK-21351)."""
    if type(event) is not Add or before.profile.protects_newest_checkpoint:
        return True
    entries = (*before.entries, Entry(event.checkpoint, event.type))
    surplus = len(entries) - before.retain
    return after.entries == (entries[surplus:] if surplus > 0 else entries)


@STORE.state("SUB-10")
def sub_10_bound(store: Store) -> bool:
    """Up to 1.11 the store never has a surplus, because it protects only the entry added last."""
    return store.profile.protects_newest_checkpoint or len(store.entries) <= max(store.retain, 1)


@STORE.state("SUB-07")
def sub_07_bound(store: Store) -> bool:
    """A store with a surplus holds only protected entries: the last entry and the newest checkpoint."""
    return len(store.entries) <= max(store.retain, 2)


def _keeps_order(before: Store, after: Store) -> bool:
    """The entries except the last one are entries from before the step, in their order and each once."""
    earlier = after.entries[: len(after.entries) - 1]
    return earlier == tuple(entry for entry in before.entries if any(entry == kept for kept in earlier))


def _is_protected(entries: tuple[Entry, ...], place: int) -> bool:
    if place == len(entries) - 1:
        return True
    if entries[-1].type == STOP:
        return False
    is_checkpoint = entries[place].type == CHECKPOINT
    return is_checkpoint and not any(later.type == CHECKPOINT for later in entries[place + 1 :])
