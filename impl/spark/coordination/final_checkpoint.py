"""The end of a job's input, and the checkpoint that commits the remaining output.

In Flink (FLIP-147) a task whose input has ended waits for the next checkpoint, and checkpoints continue with
the remaining tasks. In this runtime no task finishes early: sources at their end still take snapshots.
When the end of data has passed through every task, the coordinator takes one final checkpoint of all of them.
Its completion commits the remaining output. Then the sources end their partitions, and the job is finished.
So every task takes part in every checkpoint.
"""


class FinalCheckpoint:
    """The end of the data of one attempt, and its final checkpoint. Used by one thread."""

    def __init__(self) -> None:
        self._ended: set[str] = set()
        self._from: int | None = None
        self.due = False
        """Whether the final checkpoint must be triggered now."""

    def ended(self, task: str, tasks: int) -> bool:
        """Record that the data of `task` has ended. Returns whether this is true for `tasks` tasks now."""
        self._ended.add(task)
        return len(self._ended) == tasks

    def begin_with(self, checkpoint: int) -> None:
        """Make the final checkpoint due. It is `checkpoint`, or a later one if `checkpoint` is aborted."""
        self._from = checkpoint
        self.due = True

    def aborted(self, checkpoint: int) -> None:
        """Handle the abort of a checkpoint. If it was the final one, another final checkpoint is due."""
        self.due = self.due or self.covers(checkpoint)

    def covers(self, checkpoint: int) -> bool:
        """Whether `checkpoint` was taken after the end of all data, so that its completion ends the job."""
        return self._from is not None and checkpoint >= self._from

    def cancel(self) -> None:
        """Take no final checkpoint, because the attempt has failed or a savepoint replaces it."""
        self._from = None
        self.due = False
