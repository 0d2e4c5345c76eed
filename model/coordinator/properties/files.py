"""Terms of the rules of shared files: the registry after an acknowledgement or a completion. Rule SUB-12."""

from model.coordinator.events import AcknowledgeMessage, DiscardCheckpoint
from model.coordinator.pending import Pending
from model.coordinator.properties.terms import find_pending
from model.coordinator.shared_state import DiscardState, Registered, SharedState, Use
from model.coordinator.state import CLAIM, Coordinator, Plan
from model.events import BEFORE, MAYBE, Effects, Event
from model.store.store import CHECKPOINT, Entry


def with_files(before: Coordinator, event: Event) -> SharedState:
    """The registry after it has registered the files of an acknowledgement, except those of a savepoint."""
    shared = before.shared
    if type(event) is not AcknowledgeMessage or not event.shared:
        return shared
    pending = find_pending(before, event.checkpoint)
    if not before.plan.profile.registers_at_acknowledgement:
        return shared
    if pending is not None and pending.type != CHECKPOINT:
        return shared
    return shared._replace(registered=used(shared.registered, event.checkpoint, event.shared))


def used(
    registered: tuple[Registered, ...], checkpoint: int, files: tuple[int, ...]
) -> tuple[Registered, ...]:
    """The registered files with their newest users, after this checkpoint has used `files`."""
    known = tuple(file.handle for file in registered)
    new = tuple(
        Registered(file, checkpoint, checkpoint) for file in dict.fromkeys(files) if file not in known
    )
    newest = tuple(
        file._replace(checkpoint=checkpoint)
        if file.handle in files and file.checkpoint < checkpoint
        else file
        for file in registered
    )
    return (*newest, *new)


def loss(
    before: Coordinator, shared: SharedState, ended: Pending | None, handle: int, files: tuple[int, ...]
) -> Effects:
    """The effects that delete one acknowledged state, and its files that are not registered.

    `ended`: the aborted checkpoint. If its type is CHECKPOINT, its files stay in the registry.
    """
    own: Effects = () if handle == 0 else (DiscardState(handle),)
    if not files:
        return own
    if not before.plan.profile.registers_at_acknowledgement:
        known = tuple(use.handle for use in shared.completed)
    elif ended is not None and ended.type == CHECKPOINT:
        return own
    else:
        known = tuple(file.handle for file in shared.registered)
    return (*own, *(DiscardState(file) for file in files if file not in known))


def completed(
    before: Coordinator, shared: SharedState, done: Pending, after: Coordinator
) -> tuple[SharedState, Effects]:
    """The registry after the store has added the checkpoint, and the deletions."""
    files = tuple(dict.fromkeys(tuple(file for own in done.shared for file in own)))
    new = tuple(Use(file, done.checkpoint) for file in files)
    uses = (*shared.completed, *(use for use in new if use not in shared.completed))
    if not before.plan.profile.registers_at_acknowledgement:
        shared = shared._replace(registered=used(shared.registered, done.checkpoint, files))
    users = tuple(one for one in after.store.entries if one.checkpoint not in unowned(before.plan))
    return without(before, shared, uses, after.store.entries, users)


def unstored(before: Coordinator, shared: SharedState, done: Pending) -> SharedState:
    """The registry after the store has failed. Up to 1.14 a deleted checkpoint uses no files."""
    files = tuple(dict.fromkeys(tuple(file for own in done.shared for file in own)))
    new = tuple(Use(file, done.checkpoint) for file in files)
    if before.plan.profile.registers_at_acknowledgement:
        return shared._replace(completed=(*shared.completed, *new))
    registered = used(shared.registered, done.checkpoint, files)
    if before.fault == MAYBE and before.plan.profile.keeps_possibly_stored:
        return shared._replace(registered=registered, completed=(*shared.completed, *new))
    handles = tuple(use.handle for use in shared.completed)
    unseen = shared.unseen if before.fault == BEFORE else (*shared.unseen, *new)
    left = tuple(file for file in registered if file.handle in handles)
    return shared._replace(registered=left, unseen=unseen)


def once(done: Pending) -> Pending:
    """The checkpoint in which each shared file belongs only to the first task that has it."""
    if not any(done.shared):
        return done
    before: tuple[int, ...] = ()
    shared: tuple[tuple[int, ...], ...] = ()
    for files in done.shared:
        own = tuple(file for file in dict.fromkeys(files) if file not in before)
        before, shared = (*before, *own), (*shared, own)
    return done._replace(shared=shared)


def without(
    before: Coordinator,
    shared: SharedState,
    uses: tuple[Use, ...],
    retained: tuple[Entry, ...],
    users: tuple[Entry, ...],
) -> tuple[SharedState, Effects]:
    """The registry after the store has dropped all but the retained checkpoints, and the deletions.

    `users`: retained checkpoints. A file is kept if its newest user is not older than one of them.
    """
    kept = tuple(entry.checkpoint for entry in retained)
    dropped = dropped_checkpoints(before, kept)
    if before.plan.profile.registers_at_acknowledgement:
        durable = (*kept, *(entry.checkpoint for entry in before.unseen))
        left = tuple(
            file for file in shared.registered if any(file.checkpoint >= one.checkpoint for one in users)
        )
        gone = tuple(
            DiscardState(file.handle)
            for file in shared.registered
            if file not in left and file.first > shared.unclaimed
        )
        uses = tuple(use for use in uses if use.checkpoint in durable)
        shared = shared._replace(registered=left, completed=uses)
        return shared, (*(DiscardCheckpoint(checkpoint) for checkpoint in dropped), *gone)
    effects: Effects = ()
    registered = shared.registered
    for checkpoint in dropped:
        uses = tuple(use for use in uses if use.checkpoint != checkpoint)
        handles = tuple(use.handle for use in uses)
        unused = tuple(DiscardState(file.handle) for file in registered if file.handle not in handles)
        effects = (*effects, DiscardCheckpoint(checkpoint), *unused)
        registered = tuple(file for file in registered if file.handle in handles)
    return shared._replace(registered=registered, completed=uses), effects


def unowned(plan: Plan) -> tuple[int, ...]:
    """The restored savepoint, if its job does not own it."""
    return plan.savepoint if plan.savepoint and plan.claim_mode != CLAIM else ()


def dropped_checkpoints(before: Coordinator, kept: tuple[int, ...]) -> tuple[int, ...]:
    """The checkpoints, without savepoints, that the store no longer retains."""
    return tuple(
        entry.checkpoint
        for entry in before.store.entries
        if entry.type == CHECKPOINT and entry.checkpoint not in kept
    )
