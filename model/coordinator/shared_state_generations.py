"""The steps of the registry of shared state in older generations, Flink 1.9 to 1.14."""

from model.coordinator.events import DiscardCheckpoint
from model.coordinator.pending import Pending
from model.coordinator.shared_state import DiscardState, SharedState, SharedStateSteps, register
from model.events import NONE, Effects


class CountsUses(SharedStateSteps):
    """Up to 1.14: the registry deletes a file when no completed checkpoint uses it any more."""

    def registers_at_acknowledgement(self, pending: Pending | None) -> bool:
        """False: the completion of a checkpoint registers its files."""
        return False

    def is_known(self, shared: SharedState, handle: int) -> bool:
        """Whether a completed checkpoint uses the file."""
        return any(use.handle == handle for use in shared.completed)

    def unwritten(self, pending: Pending) -> Pending:
        """The checkpoint in which each file belongs to one task only, so that its abort deletes a file once.

        In these generations a file is registered before the metadata are written.
        """
        if not any(pending.shared):
            return pending
        seen: tuple[int, ...] = ()
        once: tuple[tuple[int, ...], ...] = ()
        for files in pending.shared:
            own: tuple[int, ...] = ()
            for file in files:
                if file not in seen:
                    seen, own = (*seen, file), (*own, file)
            once = (*once, own)
        return pending._replace(shared=once)

    def complete(self, shared: SharedState, pending: Pending) -> SharedState:
        """The registry with the files of a complete checkpoint and their uses."""
        for file in tuple(file for files in pending.shared for file in files):
            shared = register(shared, pending.checkpoint, (file,))
        return super().complete(shared, pending)

    def delete(
        self, shared: SharedState, effects: Effects, retained: tuple[int, ...], durable: tuple[int, ...]
    ) -> tuple[SharedState, Effects]:
        """The registry, and the store's effects with deletions of unused files after each checkpoint."""
        deletions: Effects = ()
        for effect in effects:
            deletions = (*deletions, effect)
            if type(effect) is DiscardCheckpoint:
                shared, released = release(shared, effect.checkpoint)
                deletions = (*deletions, *released)
        return shared, deletions

    def discard_unstored(
        self, shared: SharedState, checkpoint: int, *, is_durable: bool
    ) -> tuple[SharedState, Effects]:
        """The registry, and the deletions of files that only the checkpoint of a failed addition uses."""
        uses = tuple(use for use in shared.completed if use.checkpoint == checkpoint)
        shared, released = release(shared, checkpoint)
        return (shared._replace(unseen=(*shared.unseen, *uses)) if is_durable else shared), released

    def restore(
        self, shared: SharedState, retained: tuple[int, ...], durable: tuple[int, ...]
    ) -> SharedState:
        """A new registry with only the files of the retained checkpoints."""
        uses = (*shared.completed, *shared.unseen)
        completed = tuple(use for kept in retained for use in shared.completed if use.checkpoint == kept)
        return shared._replace(
            registered=tuple(
                file for file in shared.registered if any(use.handle == file.handle for use in completed)
            ),
            completed=completed,
            unseen=tuple(use for kept in durable for use in uses if use.checkpoint == kept),
        )

    def recover(self, shared: SharedState, retained: tuple[int, ...]) -> SharedState:
        """The registry of a new coordinator. It may delete every file that it finds."""
        return super().recover(shared, retained)._replace(unclaimed=NONE)


def release(shared: SharedState, checkpoint: int) -> tuple[SharedState, Effects]:
    """The registry after the deletion of a completed checkpoint, and the deletions of unused files."""
    left = tuple(use for use in shared.completed if use.checkpoint != checkpoint)
    kept = tuple(file for file in shared.registered if any(use.handle == file.handle for use in left))
    gone = tuple(DiscardState(file.handle) for file in shared.registered if file not in kept)
    return shared._replace(completed=left, registered=kept), gone
