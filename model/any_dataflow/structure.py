"""The structure of a given dataflow: its tasks and channels, the subtasks of an attempt, and a new job."""

from model.any_dataflow.job import Channel, Checkpoint, Job, Place, Snapshot, Task
from model.any_dataflow.key_groups import Subtasks


class Structure:
    """One dataflow and the options of its checkpoints.

    `channels`: pairs of tasks; a pair may occur several times. `capacity`: number of items that a channel
    holds. `slow`: the tasks whose snapshots take time; the others store and acknowledge at once. `unaligned`:
    the checkpoints whose barriers overtake records. `stops`: the savepoints with which the job stops.
    `subtasks`: the subtasks of each attempt. By default each task is a subtask.
    """

    def __init__(
        self,
        channels: tuple[Channel, ...],
        capacity: int,
        slow: frozenset[int],
        unaligned: frozenset[int] = frozenset(),
        stops: frozenset[int] = frozenset(),
        subtasks: Subtasks | None = None,
    ) -> None:
        self.channels, self.capacity, self.slow, self.unaligned = channels, capacity, slow, unaligned
        self.stops, self.subtasks = stops, subtasks or Subtasks(channels)
        self.numbers = tuple(
            100 * channels[:place].count(channel) + 10 * channel[0] + channel[1]
            for place, channel in enumerate(channels)
        )
        self.tasks = tuple(sorted({task for channel in channels for task in channel}))
        places = range(len(channels))
        self.inputs = {t: frozenset(c for c in places if channels[c][1] == t) for t in self.tasks}
        self.outputs = {t: frozenset(c for c in places if channels[c][0] == t) for t in self.tasks}
        none = (False,) * len(self.tasks)
        self.nothing = Checkpoint((None,) * len(self.tasks), none, none, ((),) * len(channels))

    def new(self, checkpoints: int) -> Job:
        """A new job in its initial state, with ids up to `checkpoints`."""
        size = len(self.tasks)
        everywhere = (True,) * size
        return Job(
            next=1,
            pending=(),
            latest=0,
            up=True,
            failures=0,
            aborts=0,
            tasks=(Task(),) * size,
            channels=((),) * len(self.channels),
            checkpoints=(
                self.nothing._replace(
                    captured=(Snapshot(),) * size, stored=everywhere, acknowledged=everywhere
                ),
                *(self.nothing,) * checkpoints,
            ),
            output=((),) * size,
            committed=(0,) * size,
        )

    def group(self, job: Job, task: int) -> tuple[int, ...]:
        """The key groups of the task's subtask. The first one represents all of them."""
        return self.subtasks.group(job.failures, task)

    def bundle(self, job: Job, channel: Place) -> tuple[Place, ...]:
        """All channels between the two subtasks of this channel. A barrier arrives on all of them."""
        senders, readers = (self.group(job, task) for task in self.channels[channel])
        return tuple(
            place
            for place, (sender, reader) in enumerate(self.channels)
            if sender in senders
            and reader in readers
            and self.numbers[place] // 100 == self.numbers[channel] // 100
        )
