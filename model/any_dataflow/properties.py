"""The properties of barrier snapshots on any dataflow. They state the rules of the composed dataflow.

In a *failure-free run*, each task has a history, and from each channel a task reads exactly the records that
the sender sends, in order. The dataflow has no cycle, so the tasks can take these steps one after the other.
"""

from collections.abc import Callable, Sequence
from itertools import chain

from model.any_dataflow.any_dataflow import AnyDataflow
from model.any_dataflow.job import Channel, History, Job, is_record
from model.properties import Property
from model.registry import Registry


def follows(channel: Channel, number: int, histories: Sequence[History], in_flight: History) -> bool:
    """The records read from a channel, followed by those in flight, are the records that the sender has sent.

    `number`: the number of the channel in the histories of its reader.
    """
    sent, history = (histories[task - 1] for task in channel)
    read = (entry[1] for entry in history if entry[0] == number)
    return (*read, *in_flight) == tuple(sent[:many] for many in range(1, len(sent) + 1))


def properties_of(
    dataflow: AnyDataflow, records: int, may_stop: Callable[[Job], bool]
) -> tuple[Property, ...]:
    """The properties of all jobs on a dataflow.

    `records`: the number of records of each input. `may_stop`: whether a state needs no further step.
    """
    registry = Registry("any dataflow")

    @registry.state("ONCE-01")
    def consistent_cut(job: Job) -> bool:
        """The latest completed checkpoint, with its in-flight data, is a state of a failure-free run."""
        known = job.checkpoints[job.latest]
        saved = [snapshot.history for snapshot in known.captured if snapshot]
        is_whole = len(saved) == len(dataflow.tasks) and all(known.stored)
        is_aligned = job.latest in dataflow.unaligned or known.references or not any(known.kept)
        channels = zip(dataflow.channels, dataflow.numbers, known.kept, strict=True)
        return is_whole and bool(is_aligned) and all(follows(c, n, saved, kept) for c, n, kept in channels)

    @registry.state("ONCE-02")
    def each_record_once(job: Job) -> bool:
        """The state of the job, with its records in flight, is a state of a failure-free run."""
        histories = [task.history for task in job.tasks]
        return not job.up or all(
            follows(channel, number, histories, tuple(filter(is_record, items)))
            for channel, number, items in zip(dataflow.channels, dataflow.numbers, job.channels, strict=True)
        )

    @registry.state("ONCE-05")
    def output_of_the_run(job: Job) -> bool:
        """The output is a prefix of what the sinks have read in the latest completed checkpoint."""
        saved = job.checkpoints[job.latest].captured
        return all(
            snapshot is not None and snapshot.history[: len(output)] == output
            for output, snapshot in zip(job.output, saved, strict=True)
        )

    @registry.state("ONCE-03")
    def nothing_left_out(job: Job) -> bool:
        """Every record that a sink has read is either committed, pre-committed or in its open transaction."""
        return not job.up or all(
            dataflow.outputs[number]
            or task.history
            == (
                *output,
                *chain.from_iterable(part[1] for part in task.prepared if part[0] > committed),
                *task.written,
            )
            for number, task, output, committed in zip(
                dataflow.tasks, job.tasks, job.output, job.committed, strict=True
            )
        )

    @registry.state("ONCE-04")
    def finished_for_good(job: Job) -> bool:
        """A task that has finished in the latest completed checkpoint has nothing left to read."""
        known = job.checkpoints[job.latest]
        return all(
            dataflow.may_count(job, task, job.latest)
            and (dataflow.inputs[task] or len(snapshot.history) == records)
            and not any(known.kept[channel] for channel in dataflow.inputs[task])
            for task, snapshot in zip(dataflow.tasks, known.captured, strict=True)
            if snapshot and snapshot.finished
        )

    @registry.state("ONCE-03")
    def complete_at_the_end(job: Job) -> bool:
        """When all tasks have finished, they have read all records, and the whole output is visible."""
        if not all(task.finished for task in job.tasks):
            return True
        return not any(is_record(item) for items in job.channels for item in items) and all(
            (dataflow.outputs[number] or output == task.history)
            and (dataflow.inputs[number] or len(task.history) == records)
            for number, task, output in zip(dataflow.tasks, job.tasks, job.output, strict=True)
        )

    @registry.state("ONCE-01")
    def stops_at_the_savepoint(job: Job) -> bool:
        """When a stop-with-savepoint is complete, no task reads or sends a record after it."""
        is_over = any(task.passed in dataflow.stops and task.passed == job.latest for task in job.tasks)
        saved = [snapshot and snapshot.history for snapshot in job.checkpoints[job.latest].captured]
        is_read = any(is_record(item) for items in job.channels for item in items)
        is_at_it = saved == [task.history for task in job.tasks] and not is_read
        return is_at_it or not is_over

    @registry.state("ONCE-03")
    def complete_when_stopped(job: Job) -> bool:
        """When the job has stopped, all records that its savepoint holds are visible."""
        return not dataflow.has_stopped(job) or all(
            dataflow.outputs[number] or output == task.history
            for number, task, output in zip(dataflow.tasks, job.tasks, job.output, strict=True)
        )

    @registry.state("LIVE-03")
    def no_deadlock(job: Job) -> bool:
        """A step is possible, or no step is needed."""
        return may_stop(job)

    return tuple(registry.properties)
