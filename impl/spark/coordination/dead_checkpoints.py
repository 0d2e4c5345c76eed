"""The end of a job that retains no checkpoint, when another driver may take the job over at any moment."""

from impl.state import CheckpointStorage


def abandon_checkpoints(storage: CheckpointStorage, attempt: int) -> int:
    """Make every checkpoint of `attempt` and of older ones dead, so that they can be deleted.

    Draws an attempt that starts from the beginning (FENCE-05), and returns it. A driver that takes over
    either has drawn its attempt before, or restores no checkpoint. Raises SupersededError in the first case:
    nothing may be deleted then. Raises StorageError if the attempt cannot be stored.
    """
    last = storage.new_attempt(attempt, storage.owner_of(attempt))
    storage.record_restored(last, None)
    return last
