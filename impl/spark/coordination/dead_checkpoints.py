"""The end of a job that deletes its checkpoints. Another driver may take over the job at any moment."""

from impl.state import CheckpointStorage


def abandon_checkpoints(storage: CheckpointStorage, attempt: int) -> int:
    """Make every checkpoint of `attempt` and of older ones dead, so that they can be deleted.

    Draws an attempt that starts from the beginning (FENCE-05), and returns its number. If a driver that takes
    over draws its attempt later, it restores no checkpoint. If it has already drawn its attempt, raises
    SupersededError, and the caller must delete nothing. Raises StorageError if the attempt cannot be stored.
    """
    last = storage.new_attempt(attempt, storage.owner_of(attempt))
    storage.record_restored(last, None)
    return last
