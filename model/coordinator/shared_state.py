"""Shared state: files that several checkpoints use, and that are deleted when none may use them.

A handle names such a file. Newer generations store, for each file, the newest checkpoint that uses it, even
if that was aborted, because a task may build its next checkpoint on it. The file is deleted once that
checkpoint is older than all retained ones. Older generations count the completed checkpoints that use it.
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
    """A registered file."""

    handle: int
    checkpoint: int
    """The newest checkpoint that uses it."""
    first: int
    """The checkpoint that first used it."""


class SharedState(NamedTuple):
    """The registry of shared files."""

    registered: tuple[Registered, ...]
    """One entry for each file, in the order of registration."""
    completed: tuple[Use, ...]
    """The uses of completed checkpoints: one for each file and checkpoint."""
    unseen: tuple[Use, ...]
    """The uses of checkpoints that were deleted and are durable all the same."""
    unclaimed: int
    """Newer generations: the coordinator found the files of checkpoints up to this id, deletes none."""


def new_shared_state() -> SharedState:
    """An empty registry."""
    return SharedState((), (), (), NONE)


def register(shared: SharedState, checkpoint: int, handles: tuple[int, ...]) -> SharedState:
    """Registers the files of an acknowledged checkpoint, even if it is aborted later."""
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
    """The file is registered."""
    if registers_early:
        return any(use.handle == handle for use in shared.registered)
    return any(use.handle == handle for use in shared.completed)


def loss(shared: SharedState, handle: int, files: tuple[int, ...], *, registers_early: bool) -> Effects:
    """Deletes the state of one acknowledgement: its own, and its files that are not registered."""
    own: Effects = () if handle == NO_STATE else (DiscardState(handle),)
    unknown = tuple(file for file in files if not is_known(shared, file, registers_early=registers_early))
    return (*own, *(DiscardState(file) for file in unknown))


def loss_of(shared: SharedState, pending: Pending, *, registers_early: bool) -> Effects:
    """Deletes all collected state, in the order of the tasks; registered files belong to the registry."""
    lost: Effects = ()
    is_registered = registers_early and pending.type == CHECKPOINT
    for handle, brought in zip(pending.states, pending.shared, strict=True):
        files = () if is_registered else brought
        lost = (*lost, *loss(shared, handle, files, registers_early=registers_early))
    return lost


def complete(shared: SharedState, pending: Pending, *, registers_early: bool) -> SharedState:
    """Registers the files of a checkpoint that is kept."""
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
    """The uses of a completed checkpoint."""
    return tuple(use for use in shared.completed if use.checkpoint == checkpoint)


def release(shared: SharedState, checkpoint: int) -> tuple[SharedState, Effects]:
    """Older generations: a completed checkpoint is deleted, with the files that no other one uses."""
    left = tuple(use for use in shared.completed if use.checkpoint != checkpoint)
    kept = tuple(file for file in shared.registered if any(use.handle == file.handle for use in left))
    gone = tuple(DiscardState(file.handle) for file in shared.registered if file not in kept)
    return shared._replace(completed=left, registered=kept), gone


def forget_older(
    shared: SharedState, retained: tuple[int, ...], durable: tuple[int, ...]
) -> tuple[SharedState, Effects]:
    """Newer generations: deletes files whose last user is older than every retained checkpoint.

    `durable`: the checkpoints that a new coordinator would find.
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
    """The registry of a new coordinator: the files of the checkpoints it finds; it deletes none of them."""
    uses = (*shared.completed, *shared.unseen)
    completed = tuple(use for kept in retained for use in uses if use.checkpoint == kept)
    found = new_shared_state()._replace(completed=completed)
    if registers_early:
        found = found._replace(unclaimed=retained[-1] if retained else NONE)
    for use in completed:
        found = register(found, use.checkpoint, (use.handle,))
    return found


def register_anew(shared: SharedState, retained: tuple[int, ...], durable: tuple[int, ...]) -> SharedState:
    """Older generations: a new registry with only the files of the retained checkpoints.

    `durable`: further checkpoints that a new coordinator would find.
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
