"""What must hold of barrier snapshots on any dataflow, under the rules of the composed dataflow.

A failure-free run is a history for each task in which every record read is the next one that its sender
sends. As the dataflow has no cycle, the tasks can take these steps one after the other.
"""

from collections.abc import Callable, Sequence
from itertools import chain

from model.any_dataflow.any_dataflow import AnyDataflow, Barrier, Channel, History, Job
from model.properties import Property
from model.registry import Registry


def follows(channel: Channel, histories: Sequence[History], in_flight: History) -> bool:
    """What the reader has read of the sender, and what is in flight, is what the sender sent, in order."""
    sent, history = (histories[task - 1] for task in channel)
    read = (entry[1] for entry in history if entry[0] == channel[0])
    return (*read, *in_flight) == tuple(sent[:many] for many in range(1, len(sent) + 1))


def properties_of(dataflow: AnyDataflow, may_stop: Callable[[Job], bool]) -> tuple[Property, ...]:
    """The properties of all jobs on a dataflow; `may_stop`: no step is needed in the state."""
    registry = Registry("any dataflow")

    @registry.state("ONCE-01")
    def consistent_cut(job: Job) -> bool:
        """The latest completed checkpoint is a state of a failure-free run with nothing in flight."""
        saved = [snapshot.history for snapshot in job.checkpoints[job.latest].captured if snapshot]
        return len(saved) == len(dataflow.tasks) and all(
            follows(channel, saved, ()) for channel in dataflow.channels
        )

    @registry.state("ONCE-02")
    def each_record_once(job: Job) -> bool:
        """The job is at a state of a failure-free run with its records in flight."""
        histories = [task.history for task in job.tasks]
        return not job.up or all(
            follows(channel, histories, tuple(one for one in items if not isinstance(one, Barrier)))
            for channel, items in zip(dataflow.channels, job.channels, strict=True)
        )

    @registry.state("ONCE-05")
    def output_of_the_run(job: Job) -> bool:
        """The output is a prefix of that of the run of which the latest completed checkpoint is a cut."""
        saved = job.checkpoints[job.latest].captured
        return all(
            snapshot is not None and snapshot.history[: len(output)] == output
            for output, snapshot in zip(job.output, saved, strict=True)
        )

    @registry.state("ONCE-03")
    def nothing_left_out(job: Job) -> bool:
        """What a sink has read is committed, pre-committed or in its open transaction, once."""
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

    @registry.state("LIVE-03")
    def no_deadlock(job: Job) -> bool:
        """Something can happen, or nothing is left to do."""
        return may_stop(job)

    return tuple(registry.properties)
