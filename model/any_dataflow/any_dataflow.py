"""The steps of barrier snapshots on a dataflow that is an input, as in spec/dataflow/AnyDataflow.tla.

Tasks have numbers from 1, and a channel leads from a task to one with a greater number. A task without an
input reads numbers; a task without an output writes transactions. What a task sends for a record is its
history, so that a record shows all that it depends on. All checkpoints are aligned; in TLA+ they may also be
unaligned.

Each function of `AnyDataflow` takes a job in which the step is possible, as `model.any_dataflow.environment`
decides.
"""

from typing import Any, NamedTuple

from model.dataflow.dataflow import with_element

Channel = tuple[int, int]
"""The task that sends and the task that reads."""
History = tuple[Any, ...]
"""What a task has read: numbers, or pairs of a sender and its record, which is the sender's history."""
Part = tuple[int, History]
"""A transaction: the checkpoint whose snapshot closed it, and its records."""
Place = int
"""The place of a channel in the dataflow."""


class Barrier(NamedTuple):
    """A barrier in a channel; all other items are records."""

    checkpoint: int
    kind: str = "barrier"


class Snapshot(NamedTuple):
    """What the synchronous part of a snapshot takes."""

    history: History = ()
    prepared: tuple[Part, ...] = ()


class Task(NamedTuple):
    """A running task."""

    history: History = ()
    written: History = ()
    """Of a sink: the open transaction."""
    prepared: tuple[Part, ...] = ()
    """Of a sink: the pre-committed transactions."""
    passed: int = 0
    """The latest checkpoint of which it took a snapshot, or which it gave up."""
    aligning: int = 0
    """The checkpoint whose barriers it collects; 0: none."""
    arrived: frozenset[Place] = frozenset()
    """The channels of these."""


class Checkpoint(NamedTuple):
    """The snapshots of one checkpoint, by task."""

    captured: tuple[Snapshot | None, ...]
    stored: tuple[bool, ...]
    acknowledged: tuple[bool, ...]


class Job(NamedTuple):
    """The state of a job."""

    next: int
    """The coordinator's next id."""
    pending: tuple[int, ...]
    """The checkpoints in flight, in the order of their ids."""
    latest: int
    """The latest completed checkpoint; 0 is the start of the job."""
    up: bool
    """The tasks run."""
    failures: int
    aborts: int
    tasks: tuple[Task, ...]
    channels: tuple[tuple[Any, ...], ...]
    """By place: records and barriers, oldest first."""
    checkpoints: tuple[Checkpoint, ...]
    """By id."""
    output: tuple[History, ...]
    """By task: the committed records."""
    committed: tuple[int, ...]
    """By task: the latest committed transaction."""


class AnyDataflow:
    """Barrier snapshots on one dataflow.

    `capacity`: number of items that a channel holds. `slow`: the tasks whose snapshots take time; the others
    store and acknowledge at once.
    """

    def __init__(self, channels: tuple[Channel, ...], capacity: int, slow: frozenset[int]) -> None:
        self.channels, self.capacity, self.slow = channels, capacity, slow
        self.tasks = tuple(sorted({task for channel in channels for task in channel}))
        places = range(len(channels))
        self.inputs = {t: frozenset(c for c in places if channels[c][1] == t) for t in self.tasks}
        self.outputs = {t: frozenset(c for c in places if channels[c][0] == t) for t in self.tasks}
        none = (False,) * len(self.tasks)
        self.nothing = Checkpoint((None,) * len(self.tasks), none, none)

    def new(self, checkpoints: int) -> Job:
        """A new job; ids end with `checkpoints`."""
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
                Checkpoint((Snapshot(),) * size, everywhere, everywhere),
                *(self.nothing,) * checkpoints,
            ),
            output=((),) * size,
            committed=(0,) * size,
        )

    # records

    def has_credit(self, job: Job, channel: Place) -> bool:
        """The reader has a buffer for one more item of the channel."""
        return len(job.channels[channel]) < self.capacity

    def can_send(self, job: Job, task: int) -> bool:
        """All outputs of the task have credit."""
        return job.up and all(self.has_credit(job, channel) for channel in self.outputs[task])

    def is_readable(self, job: Job, channel: Place) -> bool:
        """The channel has an item and no barrier that waits for others."""
        reader = job.tasks[self.channels[channel][1] - 1]
        return job.up and bool(job.channels[channel]) and channel not in reader.arrived

    def process(self, job: Job, task: int, entry: Any) -> Job:  # noqa: ANN401 - a number or a record
        """The task reads an entry, and sends its history."""
        state = job.tasks[task - 1]
        history = (*state.history, entry)
        written = state.written if self.outputs[task] else (*state.written, entry)
        return self._sent(_with(job, task, state._replace(history=history, written=written)), task, history)

    def read_record(self, job: Job, channel: Place) -> Job:
        """The reader takes the oldest item of a channel, a record."""
        sender, reader = self.channels[channel]
        return self.process(_without(job, channel), reader, (sender, job.channels[channel][0]))

    def _sent(self, job: Job, task: int, item: Any) -> Job:  # noqa: ANN401
        to = self.outputs[task]
        return job._replace(
            channels=tuple(
                (*items, item) if place in to else items for place, items in enumerate(job.channels)
            )
        )

    # barriers and snapshots

    def aligned(self, job: Job, channel: Place) -> bool:
        """With the channel's barrier, those of all channels have arrived, and a snapshot is due."""
        reader, arrived = self._arrival(job, channel)
        return arrived == self.inputs[reader]

    def _arrival(self, job: Job, channel: Place) -> tuple[int, frozenset[Place]]:
        """The reader, and the channels of the barriers that it then has; none if it ignores the barrier."""
        reader, checkpoint = self.channels[channel][1], job.channels[channel][0].checkpoint
        state = job.tasks[reader - 1]
        if checkpoint <= state.passed or checkpoint < state.aligning:
            return reader, frozenset()
        before = state.arrived if checkpoint == state.aligning else frozenset[Place]()
        return reader, before | {channel}

    def read_barrier(self, job: Job, channel: Place) -> Job:
        """The reader takes the oldest item of a channel, a barrier: the newest one decides."""
        checkpoint = job.channels[channel][0].checkpoint
        reader, arrived = self._arrival(job, channel)
        after = _without(job, channel)
        if self.aligned(job, channel):
            return self.snapshot(after, reader, checkpoint)
        if not arrived:
            return after
        return _with(after, reader, job.tasks[reader - 1]._replace(aligning=checkpoint, arrived=arrived))

    def snapshot(self, job: Job, task: int, checkpoint: int) -> Job:
        """The synchronous part: the state is captured, the barrier goes on."""
        state = job.tasks[task - 1]
        prepared = (*state.prepared, (checkpoint, state.written)) if state.written else state.prepared
        captured = Snapshot(state.history, prepared)
        after = Task(history=state.history, prepared=prepared, passed=checkpoint)
        job = self._sent(_with(job, task, after), task, Barrier(checkpoint))
        if checkpoint not in job.pending:
            return job
        known = job.checkpoints[checkpoint]
        job = _holding(
            job, checkpoint, known._replace(captured=with_element(known.captured, task - 1, captured))
        )
        return job if task in self.slow else acknowledge(store(job, task, checkpoint), task, checkpoint)

    # the coordinator, and the environment

    def complete(self, job: Job, checkpoint: int) -> Job:
        """All tasks have acknowledged; older checkpoints in flight are subsumed."""
        pending = tuple(other for other in job.pending if other > checkpoint)
        return self._keep(job._replace(latest=checkpoint, pending=pending))

    def abort(self, job: Job, checkpoint: int) -> Job:
        """A checkpoint times out or is declined."""
        pending = tuple(other for other in job.pending if other != checkpoint)
        return self._keep(job._replace(aborts=job.aborts + 1, pending=pending))

    def crash(self, job: Job) -> Job:
        """All tasks fail, and the checkpoints in flight end with them."""
        failed = job._replace(up=False, failures=job.failures + 1, pending=())
        tasks, channels = (Task(),) * len(self.tasks), ((),) * len(self.channels)
        return self._keep(failed._replace(tasks=tasks, channels=channels))

    def restore(self, job: Job) -> Job:
        """All tasks start from the latest completed checkpoint."""
        saved = (snapshot or Snapshot() for snapshot in job.checkpoints[job.latest].captured)
        tasks = tuple(Task(history=one.history, prepared=one.prepared) for one in saved)
        return job._replace(up=True, tasks=tasks)

    def _keep(self, job: Job) -> Job:
        matters = {0, job.latest, *job.pending}
        kept = (known if n in matters else self.nothing for n, known in enumerate(job.checkpoints))
        return job._replace(checkpoints=tuple(kept))


def begin(job: Job) -> Job:
    """The coordinator begins a checkpoint."""
    return job._replace(next=job.next + 1, pending=(*job.pending, job.next))


def give_up(job: Job, task: int) -> Job:
    """The task learns that the checkpoint whose barriers it collects is aborted."""
    state = job.tasks[task - 1]
    return _with(job, task, state._replace(passed=state.aligning, aligning=0, arrived=frozenset()))


def store(job: Job, task: int, checkpoint: int) -> Job:
    """The asynchronous part of a snapshot ends."""
    known = job.checkpoints[checkpoint]
    return _holding(job, checkpoint, known._replace(stored=with_element(known.stored, task - 1, True)))


def acknowledge(job: Job, task: int, checkpoint: int) -> Job:
    """The coordinator receives the acknowledgement of a task."""
    known = job.checkpoints[checkpoint]
    after = known._replace(acknowledged=with_element(known.acknowledged, task - 1, True))
    return _holding(job, checkpoint, after)


def commit(job: Job, task: int) -> Job:
    """A sink commits what belongs to completed checkpoints; nothing is committed a second time."""
    state = job.tasks[task - 1]
    new = [part for part in state.prepared if job.committed[task - 1] < part[0] <= job.latest]
    rest = tuple(part for part in state.prepared if part[0] > job.latest)
    records = (entry for _, written in new for entry in written)
    last = max([job.committed[task - 1], *(checkpoint for checkpoint, _ in new)])
    return _with(job, task, state._replace(prepared=rest))._replace(
        output=with_element(job.output, task - 1, (*job.output[task - 1], *records)),
        committed=with_element(job.committed, task - 1, last),
    )


def _with(job: Job, task: int, state: Task) -> Job:
    return job._replace(tasks=with_element(job.tasks, task - 1, state))


def _holding(job: Job, checkpoint: int, known: Checkpoint) -> Job:
    return job._replace(checkpoints=with_element(job.checkpoints, checkpoint, known))


def _without(job: Job, channel: Place) -> Job:
    return job._replace(channels=with_element(job.channels, channel, job.channels[channel][1:]))
