"""The end of a job's input, and the checkpoint that commits what is left.

In Flink (FLIP-147) a task whose input has ended waits for the first checkpoint after that, and checkpoints
continue with the remaining tasks. Here no task finishes early: sources at their end still take snapshots.
When the end of data has passed through every task, the coordinator takes one final checkpoint of all of them.
Its completion commits the remaining output. Then the sources end their partitions, and the job is finished.
So every task takes part in every checkpoint.
"""


class FinalCheckpoint:
    """The end of one attempt. Used by one thread."""

    def __init__(self) -> None:
        self._ended: set[str] = set()
        self._from: int | None = None
        self.due = False
        """Whether the final checkpoint must be triggered now."""

    def ended(self, task: str, tasks: int) -> bool:
        """Record that the data of `task` has ended. Returns whether the data of all `tasks` has."""
        self._ended.add(task)
        return len(self._ended) == tasks

    def begin_with(self, checkpoint: int) -> None:
        """The final checkpoint is `checkpoint`, or a later one if `checkpoint` is aborted."""
        self._from = checkpoint
        self.due = True

    def aborted(self, checkpoint: int) -> None:
        """A checkpoint was aborted: if it was the final one, another is due."""
        self.due = self.due or self.covers(checkpoint)

    def covers(self, checkpoint: int) -> bool:
        """Whether `checkpoint` was taken after the end of all data, so that its completion ends the job."""
        return self._from is not None and checkpoint >= self._from

    def cancel(self) -> None:
        """No final checkpoint will follow: the attempt has failed, or a savepoint replaces it."""
        self._from = None
        self.due = False
