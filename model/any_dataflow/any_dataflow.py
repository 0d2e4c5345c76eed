"""The steps of barrier snapshots on a given dataflow, as in spec/dataflow/AnyDataflow.tla.

Tasks have numbers from 1, and a channel leads from a task to a task with a greater number. A task without an
input channel is a source: it reads numbers. A task without an output channel is a sink: it writes
transactions. For each record that a task reads, it sends its history, so that a record shows all records on
which it depends. Checkpoints are aligned or unaligned. If inputs end, tasks finish. A subtask may hold
several tasks. They are its key groups, and take their snapshots together.

Each step function of `AnyDataflow` requires a job in which the step is possible.
`model.any_dataflow.environment` decides which steps are possible.
"""

from typing import Any

from model.any_dataflow.job import (
    Barrier,
    Checkpoint,
    End,
    History,
    Job,
    Place,
    Snapshot,
    Task,
    is_record,
)
from model.any_dataflow.structure import Structure
from model.dataflow.dataflow import with_element


class AnyDataflow(Structure):
    """The steps of barrier snapshots on one dataflow."""

    # records

    def has_credit(self, job: Job, channel: Place) -> bool:
        """Whether the channel has capacity for one more item."""
        return len(job.channels[channel]) < self.capacity

    def can_send(self, job: Job, task: int) -> bool:
        """The job runs, and all output channels of the task have capacity for one more item."""
        return job.up and all(self.has_credit(job, channel) for channel in self.outputs[task])

    def is_readable(self, job: Job, channel: Place) -> bool:
        """The channel has an item, and its reader does not block it for an alignment."""
        reader = job.tasks[self.channels[channel][1] - 1]
        is_free = channel not in reader.arrived or reader.is_recording
        return job.up and bool(job.channels[channel]) and is_free

    def process(self, job: Job, task: int, entry: Any) -> Job:  # noqa: ANN401 - a number or a record
        """The task reads an entry, and sends its history."""
        state = job.tasks[task - 1]
        history = (*state.history, entry)
        written = state.written if self.outputs[task] else (*state.written, entry)
        return self._sent(_with(job, task, state._replace(history=history, written=written)), task, history)

    def read_record(self, job: Job, channel: Place) -> Job:
        """The reader takes the oldest item of a channel, which is a record."""
        record, reader = job.channels[channel][0], self.channels[channel][1]
        kept = self._kept(_without(job, channel), channel, (record,))
        return self.process(kept, reader, (self.numbers[channel], record))

    def _sent(self, job: Job, task: int, item: Any) -> Job:  # noqa: ANN401
        to = self.outputs[task]
        return job._replace(
            channels=tuple(
                (*items, item) if place in to else items for place, items in enumerate(job.channels)
            )
        )

    # barriers and snapshots

    def is_barrier_next(self, job: Job, channel: Place) -> bool:
        """The channel's next barrier is the next item of all channels between the two subtasks.

        Of these channels, only the first one gives true, so that the barrier is read once.
        """
        bundle, head = self.bundle(job, channel), job.channels[channel][0]
        return channel == bundle[0] and all(
            self.is_readable(job, place) and job.channels[place][0] == head for place in bundle
        )

    def can_snapshot(self, job: Job, task: int) -> bool:
        """The job runs, and all output channels of the subtask have capacity for its barriers."""
        return all(self.can_send(job, one) for one in self.group(job, task))

    def aligned(self, job: Job, channel: Place) -> bool:
        """The next item of the channel is the last awaited barrier, so that the snapshot follows."""
        reader, arrived = self._arrival(job, channel)
        return all(self.inputs[u] <= arrived | self.counted(job, u) for u in self.group(job, reader))

    def counted(self, job: Job, task: int) -> frozenset[Place]:
        """The channels that count as delivered without a barrier, because they have ended."""
        return job.tasks[task - 1].ended

    def _arrival(self, job: Job, channel: Place) -> tuple[int, frozenset[Place]]:
        """The reader, and the channels that have delivered once the next barrier of this channel arrives.

        No channels: the reader ignores the barrier.
        """
        reader, checkpoint = self.channels[channel][1], job.channels[channel][0].checkpoint
        state = job.tasks[reader - 1]
        if checkpoint <= state.passed or checkpoint < state.aligning:
            return reader, frozenset()
        before = self.group(job, reader) if checkpoint == state.aligning else ()
        return reader, frozenset(self.bundle(job, channel)).union(*(job.tasks[u - 1].arrived for u in before))

    def read_barrier(self, job: Job, channel: Place) -> Job:
        """The reader takes the oldest item of a channel, a barrier. A newer checkpoint ends an alignment."""
        checkpoint = job.channels[channel][0].checkpoint
        reader, arrived = self._arrival(job, channel)
        after = job
        for place in self.bundle(job, channel):
            after = _without(after, place)
        if self.aligned(job, channel):
            return self.snapshot(after, reader, checkpoint)
        for one in self.group(job, reader) if arrived else ():
            state = job.tasks[one - 1]._replace(aligning=checkpoint, arrived=arrived & self.inputs[one])
            after = _with(after, one, state)
        return after

    def overtaking(self, job: Job, channel: Place) -> int:
        """The unaligned checkpoint whose barrier is the next one in the channel. 0 if there is none."""
        first = next((item for item in job.channels[channel] if not is_record(item)), None)
        is_unaligned = isinstance(first, Barrier) and first.checkpoint in self.unaligned
        return first.checkpoint if isinstance(first, Barrier) and is_unaligned and job.up else 0

    def may_overtake(self, job: Job, channel: Place) -> bool:
        """The next barrier of the channel may overtake the records before it.

        If it is the checkpoint's first one at the reader, the reader's outputs need capacity for its
        barriers.
        """
        checkpoint, reader = self.overtaking(job, channel), self.channels[channel][1]
        is_first = checkpoint > job.tasks[reader - 1].passed
        return checkpoint != 0 and (not is_first or self.can_send(job, reader))

    def overtake(self, job: Job, channel: Place) -> Job:
        """A barrier overtakes records, which become channel state.

        A checkpoint's first one starts the snapshot.
        """
        checkpoint, items = self.overtaking(job, channel), job.channels[channel]
        place, reader = items.index(Barrier(checkpoint)), self.channels[channel][1]
        state, is_pending = job.tasks[reader - 1], checkpoint in job.pending
        ahead, rest = items[:place], (*items[:place], *items[place + 1 :])
        after = job._replace(channels=with_element(job.channels, channel, rest))
        open_channels = self.inputs[reader] - {channel} - state.ended
        if checkpoint > state.passed:
            after = self.snapshot(after, reader, checkpoint, open_channels)
            return _keeping(after, checkpoint, channel, ahead) if is_pending else after
        if checkpoint < state.passed or not state.is_recording:
            return after
        after = self._kept(after, channel, ahead) if is_pending else after
        return _with(after, reader, _awaiting(state, open_channels - state.arrived, channel))

    def _kept(self, job: Job, channel: Place, records: tuple[History, ...]) -> Job:
        reader = job.tasks[self.channels[channel][1] - 1]
        if not reader.is_recording or channel in reader.arrived:
            return job
        before = job.checkpoints[reader.aligning].kept[channel]
        return _keeping(job, reader.aligning, channel, (*before, *records))

    def snapshot(self, job: Job, task: int, checkpoint: int, awaited: frozenset[Place] = frozenset()) -> Job:
        """The synchronous part of a snapshot: it copies the state of all key groups and sends barriers.

        `awaited`: the channels whose barrier has not arrived.
        """
        group = self.group(job, task)
        for one in group:
            job = self._captured(job, one, checkpoint, awaited)
        at_once = checkpoint in job.pending and self.slow.isdisjoint(group)
        return self.acknowledge(self.store(job, task, checkpoint), task, checkpoint) if at_once else job

    def _captured(self, job: Job, task: int, checkpoint: int, awaited: frozenset[Place]) -> Job:
        state = job.tasks[task - 1]
        prepared = (*state.prepared, (checkpoint, state.written)) if state.written else state.prepared
        captured = Snapshot(state.history, prepared)
        after = Task(
            history=state.history,
            prepared=prepared,
            passed=checkpoint,
            aligning=checkpoint if awaited else 0,
            arrived=self.inputs[task] - awaited if awaited else frozenset(),
            ended=state.ended,
        )
        job = self._sent(_with(job, task, after), task, Barrier(checkpoint))
        if checkpoint not in job.pending:
            return job
        known = job.checkpoints[checkpoint]
        known = known._replace(captured=with_element(known.captured, task - 1, captured))
        return _holding(job, checkpoint, known)

    def give_up(self, job: Job, task: int) -> Job:
        """The subtask is notified that the checkpoint whose barriers it collects is aborted."""
        for one in self.group(job, task):
            state = job.tasks[one - 1]
            after = state._replace(passed=state.aligning, aligning=0, arrived=frozenset())
            job = _with(job, one, after)
        return job

    def store(self, job: Job, task: int, checkpoint: int) -> Job:
        """The asynchronous part of a snapshot ends."""
        known = job.checkpoints[checkpoint]
        return _holding(job, checkpoint, known._replace(stored=self._and(known.stored, job, task)))

    def acknowledge(self, job: Job, task: int, checkpoint: int) -> Job:
        """The coordinator receives the acknowledgement of a subtask."""
        known = job.checkpoints[checkpoint]
        return _holding(
            job, checkpoint, known._replace(acknowledged=self._and(known.acknowledged, job, task))
        )

    def _and(self, flags: tuple[bool, ...], job: Job, task: int) -> tuple[bool, ...]:
        group = self.group(job, task)
        return tuple(known or number in group for number, known in enumerate(flags, start=1))

    # a stop-with-savepoint

    def is_suspended(self, job: Job, task: int) -> bool:
        """The task has taken its snapshot for a stop-with-savepoint that is pending or complete."""
        passed = job.tasks[task - 1].passed
        return passed in self.stops and (passed in job.pending or passed == job.latest)

    def is_stopping(self, job: Job) -> bool:
        """A stop-with-savepoint is pending or complete."""
        is_in_flight = not self.stops.isdisjoint(job.pending)
        return is_in_flight or any(self.is_suspended(job, task) for task in self.tasks)

    def has_stopped(self, job: Job) -> bool:
        """The savepoint is complete, and all records that it holds are committed."""
        return (
            job.up
            and job.latest in self.stops
            and all(job.tasks[task - 1].finished or self.is_suspended(job, task) for task in self.tasks)
            and not any(task.prepared for task in job.tasks)
        )

    # tasks that finish

    def is_delivered_with(self, job: Job, channel: Place) -> bool:
        """Whether the end of this channel completes an alignment, so that the reader takes a snapshot."""
        reader = self.channels[channel][1]
        state = job.tasks[reader - 1]
        delivered = state.arrived | state.ended | {channel}
        return state.aligning != 0 and not state.is_recording and delivered == self.inputs[reader]

    def read_end(self, job: Job, channel: Place) -> Job:
        """The reader takes the oldest item of a channel, its end.

        An alignment counts the end as a barrier.
        """
        reader = self.channels[channel][1]
        state = job.tasks[reader - 1]
        ended = state._replace(ended=state.ended | {channel})
        after = _with(_without(job, channel), reader, ended)
        if self.is_delivered_with(job, channel):
            return self.snapshot(after, reader, state.aligning)
        if ended.arrived | ended.ended == self.inputs[reader]:
            return _with(after, reader, ended._replace(aligning=0, arrived=frozenset()))
        return after

    def is_settled(self, job: Job, task: int) -> bool:
        """All records that the sink has written are committed."""
        state = job.tasks[task - 1]
        return not state.written and not state.prepared

    def may_finish(self, job: Job, task: int) -> bool:
        """A task whose channels have ended may finish. A source must also have read all its records."""
        state = job.tasks[task - 1]
        has_ended = state.ended == self.inputs[task] and self.is_settled(job, task)
        has_ended &= not self.is_suspended(job, task)
        return not state.finished and has_ended and self.can_send(job, task)

    def finish(self, job: Job, task: int) -> Job:
        """The task finishes, and its channels end."""
        return self._sent(_with(job, task, job.tasks[task - 1]._replace(finished=True)), task, End())

    def may_count(self, job: Job, task: int, checkpoint: int) -> bool:
        """The checkpoint counts as finished each task from which this finished task reads."""
        captured = job.checkpoints[checkpoint].captured
        senders = (captured[self.channels[channel][0] - 1] for channel in self.inputs[task])
        return all(snapshot is not None and snapshot.finished for snapshot in senders)

    def count(self, job: Job, task: int, checkpoint: int) -> Job:
        """The coordinator counts a finished task. The task's part of the checkpoint is its final state."""
        state, known = job.tasks[task - 1], job.checkpoints[checkpoint]
        captured = Snapshot(state.history, state.prepared, finished=True)
        known = known._replace(captured=with_element(known.captured, task - 1, captured))
        stored = self.store(_holding(job, checkpoint, known), task, checkpoint)
        return self.acknowledge(stored, task, checkpoint)

    # the coordinator, and the environment

    def complete(self, job: Job, checkpoint: int) -> Job:
        """A checkpoint completes after all tasks have acknowledged it. It subsumes older pending ones."""
        pending = tuple(other for other in job.pending if other > checkpoint)
        return self._keep(job._replace(latest=checkpoint, pending=pending))

    def abort(self, job: Job, checkpoint: int) -> Job:
        """A checkpoint times out or is declined."""
        pending = tuple(other for other in job.pending if other != checkpoint)
        return self._keep(job._replace(aborts=job.aborts + 1, pending=pending))

    def crash(self, job: Job) -> Job:
        """All tasks fail, and all pending checkpoints end."""
        failed = job._replace(up=False, failures=job.failures + 1, pending=())
        tasks, channels = (Task(),) * len(self.tasks), ((),) * len(self.channels)
        return self._keep(failed._replace(tasks=tasks, channels=channels))

    def committable(self, job: Job, task: int) -> int:
        """The latest checkpoint whose transaction the sink may commit."""
        return job.latest

    def restore(self, job: Job) -> Job:
        """All tasks start from the latest completed checkpoint. A subtask has the state of its key groups."""
        known = job.checkpoints[job.latest]
        saved = (
            (snapshot if self.subtasks.holds(job.failures, task) else None) or Snapshot()
            for task, snapshot in zip(self.tasks, known.captured, strict=True)
        )
        tasks = tuple(
            Task(history=one.history, prepared=one.prepared, finished=one.finished) for one in saved
        )
        channels = tuple(
            (*kept, End()) if tasks[sender - 1].finished else kept
            for kept, (sender, _) in zip(known.kept, self.channels, strict=True)
        )
        return job._replace(up=True, tasks=tasks, channels=channels)

    def _keep(self, job: Job) -> Job:
        matters = {0, job.latest, *job.pending}
        kept = (known if n in matters else self.nothing for n, known in enumerate(job.checkpoints))
        return job._replace(checkpoints=tuple(kept))


def begin(job: Job) -> Job:
    """The coordinator begins a checkpoint."""
    return job._replace(next=job.next + 1, pending=(*job.pending, job.next))


def commit(job: Job, task: int, up_to: int | None = None) -> Job:
    """A sink commits the transactions of completed checkpoints, each one once.

    `up_to`: the latest of these checkpoints. None: the latest completed checkpoint of the job.
    """
    state, most = job.tasks[task - 1], job.latest if up_to is None else up_to
    new = [part for part in state.prepared if job.committed[task - 1] < part[0] <= most]
    rest = tuple(part for part in state.prepared if part[0] > most)
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


def _keeping(job: Job, checkpoint: int, channel: Place, records: tuple[History, ...]) -> Job:
    known = job.checkpoints[checkpoint]
    return _holding(job, checkpoint, known._replace(kept=with_element(known.kept, channel, records)))


def _awaiting(state: Task, awaited: frozenset[Place], arrived: Place) -> Task:
    if not awaited:
        return state._replace(aligning=0, arrived=frozenset())
    return state._replace(arrived=state.arrived | {arrived})


def _without(job: Job, channel: Place) -> Job:
    return job._replace(channels=with_element(job.channels, channel, job.channels[channel][1:]))
