"""The registry of shared state: the files that several checkpoints can use. It deletes unused files.

A handle names a file. For each file the registry stores its *newest user*: the newest checkpoint that uses
it. This includes aborted checkpoints, because the task's next checkpoint can still use the file. The registry
deletes a file when its newest user is older than all retained checkpoints.

The module describes Flink 1.15 and later. `shared_state_generations` holds the steps of older generations.
"""

from typing import NamedTuple

from model.coordinator.pending import NO_STATE, Pending
from model.events import NONE, Effects
from model.store.store import CHECKPOINT


class DiscardState(NamedTuple):
    """The coordinator deletes the state of one acknowledgement, or a shared file."""

    handle: int
    kind: str = "discard_state"


class Use(NamedTuple):
    """A checkpoint uses a file."""

    handle: int
    checkpoint: int


class Registered(NamedTuple):
    """A registered file."""

    handle: int
    checkpoint: int
    """The newest checkpoint that uses the file."""
    first: int
    """The checkpoint that first used the file."""


class SharedState(NamedTuple):
    """The registry of shared files."""

    registered: tuple[Registered, ...]
    """One entry for each file, in the order of registration."""
    completed: tuple[Use, ...]
    """The uses of completed checkpoints: one entry for each file and checkpoint."""
    unseen: tuple[Use, ...]
    """The uses of checkpoints that the coordinator has deleted, but the store has kept. Only up to 1.14."""
    unclaimed: int
    """Files whose first user has at most this id are never deleted: this coordinator has found them."""


def new_shared_state() -> SharedState:
    """An empty registry."""
    return SharedState((), (), (), NONE)


def register(shared: SharedState, checkpoint: int, handles: tuple[int, ...]) -> SharedState:
    """The registry with the files of an acknowledgement. They stay registered after an abort."""
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


def forget_older(
    shared: SharedState, retained: tuple[int, ...], durable: tuple[int, ...]
) -> tuple[SharedState, Effects]:
    """The registry without files whose newest user is older than all retained checkpoints, and the deletions.

    No effect deletes files that the coordinator has found at its start (`unclaimed`). `durable`: the
    checkpoints that a new coordinator would find.
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


class SharedStateSteps:
    """The steps of the registry, and the methods that older generations override."""

    def registers_at_acknowledgement(self, pending: Pending | None) -> bool:
        """Whether an acknowledgement registers its files. `pending`: its checkpoint, None if not pending."""
        return pending is None or pending.type == CHECKPOINT

    def is_known(self, shared: SharedState, handle: int) -> bool:
        """Whether the file is registered."""
        return any(file.handle == handle for file in shared.registered)

    def loss(self, shared: SharedState, handle: int, files: tuple[int, ...]) -> Effects:
        """The effects that delete the state of one acknowledgement, and its files that are not registered."""
        own: Effects = () if handle == NO_STATE else (DiscardState(handle),)
        return (*own, *(DiscardState(file) for file in files if not self.is_known(shared, file)))

    def loss_of(self, shared: SharedState, pending: Pending) -> Effects:
        """The effects that delete all state of an aborted checkpoint, by task. Registered files stay."""
        is_registered = self.registers_at_acknowledgement(pending)
        return tuple(
            lost
            for handle, files in zip(pending.states, pending.shared, strict=True)
            for lost in self.loss(shared, handle, () if is_registered else files)
        )

    def unwritten(self, pending: Pending) -> Pending:
        """The checkpoint with the files that an abort deletes if metadata cannot be written: unchanged."""
        return pending

    def complete(self, shared: SharedState, pending: Pending) -> SharedState:
        """The registry after it has recorded the files that a complete checkpoint uses."""
        completed = shared.completed
        for file in tuple(file for files in pending.shared for file in files):
            use = Use(file, pending.checkpoint)
            if use not in completed:
                completed = (*completed, use)
        return shared._replace(completed=completed)

    def delete(
        self, shared: SharedState, effects: Effects, retained: tuple[int, ...], durable: tuple[int, ...]
    ) -> tuple[SharedState, Effects]:
        """The registry after an addition, and `effects` of the store followed by deletions of unused files.

        `retained`: the checkpoints that can use a file. `durable`: those that a new coordinator would find.
        """
        shared, released = forget_older(shared, retained, durable)
        return shared, (*effects, *released)

    def discard_unstored(
        self, shared: SharedState, checkpoint: int, *, is_durable: bool
    ) -> tuple[SharedState, Effects]:
        """The registry and the deletions after a failed addition. The files of the checkpoint stay."""
        return shared, ()

    def restore(
        self, shared: SharedState, retained: tuple[int, ...], durable: tuple[int, ...]
    ) -> SharedState:
        """The registry after a restore of the tasks: unchanged."""
        return shared

    def recover(self, shared: SharedState, retained: tuple[int, ...]) -> SharedState:
        """The registry of a new coordinator. It never deletes the files of the checkpoints that it finds."""
        uses = (*shared.completed, *shared.unseen)
        completed = tuple(use for kept in retained for use in uses if use.checkpoint == kept)
        found = new_shared_state()._replace(completed=completed, unclaimed=retained[-1] if retained else NONE)
        for use in completed:
            found = register(found, use.checkpoint, (use.handle,))
        return found
