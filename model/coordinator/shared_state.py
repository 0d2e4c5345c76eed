"""Shared state: files that several checkpoints use, and that go when none may use them any more.

A handle names such a file. Newer generations remember for each the newest checkpoint that uses it, also
one that was aborted, because a task may build its next checkpoint upon it; the file goes once that
checkpoint is older than all that are retained. Older ones count the completed checkpoints that use it.
"""

from typing import NamedTuple

from model.coordinator.events import DiscardState
from model.coordinator.pending import NO_STATE, Pending
from model.events import NONE, Effects
from model.store.store import CHECKPOINT


class Use(NamedTuple):
    """A checkpoint uses a file."""

    handle: int
    checkpoint: int


class Registered(NamedTuple):
    """A file that the registry knows."""

    handle: int
    checkpoint: int
    """The newest that uses it."""
    first: int
    """The checkpoint that brought it."""


class SharedState(NamedTuple):
    """The registry of shared files."""

    registered: tuple[Registered, ...]
    """One for each file, in the order of registration."""
    completed: tuple[Use, ...]
    """What the completed checkpoints use: one for each file and checkpoint."""
    unseen: tuple[Use, ...]
    """What a checkpoint uses that was deleted and is durable all the same."""
    unclaimed: int
    """Newer generations: files of checkpoints up to this one were found and not made, and are left alone."""


def new_shared_state() -> SharedState:
    """No file is known."""
    return SharedState((), (), (), NONE)


def register(shared: SharedState, checkpoint: int, handles: tuple[int, ...]) -> SharedState:
    """A checkpoint that was acknowledged, whatever becomes of it, uses these files."""
    registered = shared.registered
    for handle in handles:
        if any(use.handle == handle for use in registered):
            registered = tuple(
                use._replace(checkpoint=checkpoint)
                if use.handle == handle and use.checkpoint < checkpoint
                else use
                for use in registered
            )
        else:
            registered = (*registered, Registered(handle, checkpoint, checkpoint))
    return shared._replace(registered=registered)


def is_known(shared: SharedState, handle: int, *, registers_early: bool) -> bool:
    """The file belongs to the registry."""
    if registers_early:
        return any(use.handle == handle for use in shared.registered)
    return any(use.handle == handle for use in shared.completed)


def loss(shared: SharedState, handle: int, files: tuple[int, ...], *, registers_early: bool) -> Effects:
    """What one acknowledgement brought is deleted: its state, and the files that nobody else knows."""
    own: Effects = () if handle == NO_STATE else (DiscardState(handle),)
    unknown = tuple(file for file in files if not is_known(shared, file, registers_early=registers_early))
    return (*own, *(DiscardState(file) for file in unknown))


def loss_of(shared: SharedState, pending: Pending, *, registers_early: bool) -> Effects:
    """All that was collected is deleted, in the order of the tasks; what was registered is the registry's."""
    lost: Effects = ()
    is_registered = registers_early and pending.type == CHECKPOINT
    for handle, brought in zip(pending.states, pending.shared, strict=True):
        files = () if is_registered else brought
        lost = (*lost, *loss(shared, handle, files, registers_early=registers_early))
    return lost


def complete(shared: SharedState, pending: Pending, *, registers_early: bool) -> SharedState:
    """A checkpoint that is kept uses the files that came with it."""
    if not registers_early:
        for files in pending.shared:
            shared = register(shared, pending.checkpoint, files)
    completed = shared.completed
    for files in pending.shared:
        for file in files:
            use = Use(file, pending.checkpoint)
            if use not in completed:
                completed = (*completed, use)
    return shared._replace(completed=completed)


def uses_of(shared: SharedState, checkpoint: int) -> tuple[Use, ...]:
    """What a completed checkpoint uses."""
    return tuple(use for use in shared.completed if use.checkpoint == checkpoint)


def release(shared: SharedState, checkpoint: int) -> tuple[SharedState, Effects]:
    """Older generations: a completed checkpoint is deleted, and with it what no other one uses."""
    left = tuple(use for use in shared.completed if use.checkpoint != checkpoint)
    kept = tuple(file for file in shared.registered if any(use.handle == file.handle for use in left))
    gone = tuple(DiscardState(file.handle) for file in shared.registered if file not in kept)
    return shared._replace(completed=left, registered=kept), gone


def forget_older(
    shared: SharedState, retained: tuple[int, ...], durable: tuple[int, ...]
) -> tuple[SharedState, Effects]:
    """Newer generations: files whose last user is older than every retained checkpoint are deleted.

    `durable`: what a new coordinator would find.
    """

    def is_older(use: Registered) -> bool:
        return all(use.checkpoint < kept for kept in retained)

    gone = tuple(
        DiscardState(use.handle)
        for use in shared.registered
        if is_older(use) and use.first > shared.unclaimed
    )
    left = tuple(use for use in shared.registered if not is_older(use))
    completed = tuple(use for use in shared.completed if any(use.checkpoint == kept for kept in durable))
    return shared._replace(registered=left, completed=completed), gone


def recover(shared: SharedState, retained: tuple[int, ...], *, registers_early: bool) -> SharedState:
    """A new coordinator knows only what the checkpoints that it finds use, and deletes none of it."""
    uses = (*shared.completed, *shared.unseen)
    completed = tuple(use for kept in retained for use in uses if use.checkpoint == kept)
    found = new_shared_state()._replace(completed=completed)
    if registers_early:
        found = found._replace(unclaimed=retained[-1] if retained else NONE)
    for use in completed:
        found = register(found, use.checkpoint, (use.handle,))
    return found


def register_anew(shared: SharedState, retained: tuple[int, ...], durable: tuple[int, ...]) -> SharedState:
    """Older generations: only what the retained checkpoints use is known from now on.

    `durable`: further ones that a new coordinator would find.
    """
    uses = (*shared.completed, *shared.unseen)
    completed = tuple(use for kept in retained for use in shared.completed if use.checkpoint == kept)
    return shared._replace(
        registered=tuple(
            file for file in shared.registered if any(use.handle == file.handle for use in completed)
        ),
        completed=completed,
        unseen=tuple(use for kept in durable for use in uses if use.checkpoint == kept),
    )
