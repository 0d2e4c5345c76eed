"""Readings (interpretations) of proposed protocols: some are exactly-once, the others violate a property.

FLIP-600 (regional checkpoints) is proposed and in no released jar. FLINK-38544 (checkpoints during recovery)
is an option of 2.3.0; the suite does not drive its classes.

`python -m conformance.explore.proposed_protocols` explores each reading on the smallest dataflow that
shows it. With the name of a reading, it explores this reading alone and prints its run. A reading that names
a property is explored for that property only, every other one for all properties. The exit code is 1 if a
named property holds, or if a reading that names no property violates one.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click

from conformance.verdict import Exit
from model.any_dataflow.bounds import Do, JobBounds
from model.any_dataflow.environment import closed_regional
from model.any_dataflow.job import Channel, History, Job, Place, Snapshot
from model.any_dataflow.properties import properties_of
from model.any_dataflow.regional import Region, RegionalDataflow, regions_of
from model.checker.explore import Graph, explore
from model.dataflow.dataflow import with_element
from model.events import Event
from model.registry import Registry

TWO_CHAINS = ((1, 2), (3, 4))
COORDINATOR = ((1, 2), (1, 3))
COLLECTOR = ((1, 3), (2, 3))


class NotifiesEveryTask(RegionalDataflow):
    """Tasks of a failed region are also notified of the completion, and commit up to this checkpoint."""

    def committable(self, job: Job, task: int) -> int:
        """The latest completed checkpoint of the job, even if it refers to an older one."""
        return job.latest


class FallsBackByTask(RegionalDataflow):
    """Only the tasks that have not acknowledged fall back, not the other tasks of their region."""

    def failed(self, job: Job, checkpoint: int) -> tuple[Region, ...]:
        """A region for each single task that has not acknowledged."""
        acknowledged = job.checkpoints[checkpoint].acknowledged
        return tuple(frozenset({task}) for task in self.tasks if not acknowledged[task - 1])


class DropsReferenced(RegionalDataflow):
    """The completed checkpoint subsumes the older one to which it refers, and its snapshots are deleted."""

    def restore(self, job: Job) -> Job:
        """A task whose snapshot belongs to a deleted checkpoint starts with empty state."""
        known = job.checkpoints[job.latest]
        references = known.references or (job.latest,) * len(self.tasks)
        captured = (
            one if reference == job.latest else Snapshot()
            for one, reference in zip(known.captured, references, strict=True)
        )
        known = known._replace(captured=tuple(captured))
        return (
            super()
            .restore(job._replace(checkpoints=with_element(job.checkpoints, job.latest, known)))
            ._replace(checkpoints=job.checkpoints)
        )


class FinishesOnFallback(RegionalDataflow):
    """A sink at the end of its input treats the fallback as the completion of its last checkpoint."""

    def is_settled(self, job: Job, task: int) -> bool:
        """Whether the last checkpoint of the task has completed, with or without fallback."""
        return super().is_settled(job, task) or 0 < job.tasks[task - 1].passed <= job.latest


class SendsAgain(RegionalDataflow):
    """The checkpoint contains the records that were sent to a failed region after its snapshot."""

    def channel_state(
        self, job: Job, captured: tuple[Snapshot | None, ...], failed: Region, place: Place
    ) -> tuple[History, ...]:
        """The records between the reader's snapshot and the sender's."""
        sender, reader = (captured[task - 1] or Snapshot() for task in self.channels[place])
        many = sum(entry[0] == self.numbers[place] for entry in reader.history)
        return tuple(sender.history[:read] for read in range(many + 1, len(sender.history) + 1))


class Recovers(RegionalDataflow):
    """A restored job begins checkpoints while tasks still read the records of the channel state."""

    def recovered(self, job: Job, channel: Place) -> tuple[History, ...]:
        """The records of the channel state that have not been read since the restore."""
        restored = job.checkpoints[job.latest].kept[channel] if job.failures else ()
        return tuple(record for record in job.channels[channel] if record in restored)

    def overtake(self, job: Job, channel: Place) -> Job:
        """A barrier overtakes recovered records as it overtakes other records."""
        checkpoint, recovered = self.overtaking(job, channel), self.recovered(job, channel)
        after = super().overtake(job, channel)
        if checkpoint not in after.pending:
            return after
        known = after.checkpoints[checkpoint]
        kept = self.written(known.kept[channel], recovered)
        known = known._replace(kept=with_element(known.kept, channel, kept))
        return after._replace(checkpoints=with_element(after.checkpoints, checkpoint, known))

    def written(self, kept: tuple[History, ...], recovered: tuple[History, ...]) -> tuple[History, ...]:
        """The overtaken records that become channel state."""
        return kept


class ForgetsRecovered(Recovers):
    """Only records that arrived from the sender become channel state."""

    def written(self, kept: tuple[History, ...], recovered: tuple[History, ...]) -> tuple[History, ...]:
        """The overtaken records without the recovered ones."""
        return tuple(record for record in kept if record not in recovered)


class WritesTwice(Recovers):
    """Both the recovery and the channel write recovered records (compare FLINK-40016)."""

    def written(self, kept: tuple[History, ...], recovered: tuple[History, ...]) -> tuple[History, ...]:
        """The overtaken records, with each recovered one twice."""
        return (*(record for record in kept if record in recovered), *kept)


class Reading(NamedTuple):
    """One interpretation of the proposal, and the property that it breaks."""

    name: str
    sentence: str
    breaks: str = ""
    """The property whose shortest violation is searched; empty: the reading violates no property."""
    effect: str = ""
    """The error at the end of the run."""
    dataflow: type[RegionalDataflow] = RegionalDataflow
    channels: tuple[Channel, ...] = TWO_CHAINS
    are_alone: bool = False
    """Whether each task is a region, although channels connect tasks. Else connected tasks are a region."""
    bounds: JobBounds = JobBounds(aborts=1)
    of: str = "FLIP-600, regional checkpoints: proposed, no released jar"

    def explore(self) -> Graph:
        """Every state within the bounds, up to the first violation."""
        tasks = frozenset(task for channel in self.channels for task in channel)
        sinks = tasks - {sender for sender, _ in self.channels}
        regions = tuple(frozenset({task}) for task in sorted(tasks))
        slow = self.bounds.slow or sinks
        regions = regions if self.are_alone else regions_of(self.channels)
        dataflow = self.dataflow(self.channels, regions, self.bounds.capacity, slow, self.bounds.unaligned)
        closed = closed_regional(dataflow, self.bounds)

        def may_stop(job: Job) -> bool:
            is_out_of_ids = self.bounds.ends and job.next > self.bounds.checkpoints
            return is_out_of_ids or any(True for _ in closed.offers(job))

        known = (*properties_of(dataflow, self.bounds.records, may_stop), *VISIBLE.properties)
        searched = tuple(one for one in known if self.breaks in ("", one.name))
        return explore(closed, searched, keep_transitions=False)


VISIBLE = Registry("any dataflow")


@VISIBLE.state("ONCE-05")
def visible_once(job: Job) -> bool:
    """No record is visible twice."""
    return all(len(set(output)) == len(output) for output in job.output)


RECOVERY = "FLINK-38544, checkpoints during recovery: an option of 2.3.0, not driven"
_RECOVERY = JobBounds(checkpoints=2, failures=2, unaligned=frozenset({1, 2}), slow=frozenset({1, 2}))
READINGS = (
    Reading("independent", "No channel connects regions, and a fallback moves whole regions."),
    Reading(
        "ends",
        "The same, and inputs end: a task finishes after the commit of its last transaction.",
        bounds=JobBounds(aborts=1, ends=True, checkpoints=1),
    ),
    Reading(
        "notified",
        "Tasks of failed regions are notified of the completion as before.",
        "visible_once",
        "sink 2 has committed the same record twice",
        NotifiesEveryTask,
    ),
    Reading(
        "by-task",
        "Only the tasks that did not acknowledge fall back, not their regions.",
        "each_record_once",
        "source 1 is behind the record, sink 2 is before it: the record is lost",
        FallsBackByTask,
    ),
    Reading(
        "subsumed",
        "Checkpoints are subsumed as before, although one refers to them.",
        "nothing_left_out",
        "the snapshot of 2 is deleted: it starts with empty state, but its record is visible already",
        DropsReferenced,
    ),
    Reading(
        "finishes",
        "A task takes the fallback of its last checkpoint for the completion.",
        "complete_at_the_end",
        "all tasks have finished, and the record of sink 4 is not visible",
        FinishesOnFallback,
        bounds=JobBounds(aborts=1, ends=True, checkpoints=1, failures=0),
    ),
    Reading(
        "sender-ahead",
        "An operator coordinator (1) sends to readers 2 and 3, and a reader falls back.",
        "each_record_once",
        "the record of 1 is neither in the reader's snapshot nor sent again: it is lost",
        channels=COORDINATOR,
        are_alone=True,
    ),
    Reading(
        "sends-again",
        "The same, and the checkpoint has the records sent to the reader since its snapshot.",
        dataflow=SendsAgain,
        channels=COORDINATOR,
        are_alone=True,
    ),
    Reading(
        "reader-ahead",
        "Readers 1 and 2 send to a coordinator (3), and a reader falls back; sent again as before.",
        "each_record_once",
        "3 has read a record that 1 has not sent yet: it will read it twice",
        SendsAgain,
        COLLECTOR,
        are_alone=True,
        bounds=JobBounds(aborts=1, slow=frozenset({1, 2, 3})),
    ),
    Reading(
        "recovering",
        "Unaligned checkpoints begin while recovered records wait; these become channel state again.",
        dataflow=Recovers,
        channels=((1, 2),),
        bounds=_RECOVERY,
        of=RECOVERY,
    ),
    Reading(
        "forgets-recovered",
        "Recovered records do not become channel state.",
        "each_record_once",
        "the record that was recovered once is lost at the second restore",
        ForgetsRecovered,
        ((1, 2),),
        bounds=_RECOVERY,
        of=RECOVERY,
    ),
    Reading(
        "written-twice",
        "Recovered records become channel state twice.",
        "each_record_once",
        "the record is in the channel twice after the second restore",
        WritesTwice,
        ((1, 2),),
        bounds=_RECOVERY,
        of=RECOVERY,
    ),
)


def described(reading: Reading, run: Iterable[Event]) -> Iterator[str]:
    """One sentence for each step of a run."""
    begun = 0
    for do in run:
        assert isinstance(do, Do)
        begun += do.action == "Begin"
        ends = reading.channels[do.of] if do.action in ON_CHANNELS else ()
        words = {"of": do.of, "checkpoint": do.checkpoint or begun, "region": do.of + 1}
        words.update(zip(("sender", "reader"), ends, strict=False))
        yield SENTENCES[do.action].format(**words)


ON_CHANNELS = ("ReadRecord", "ReadBarrier", "ReadEnd", "Overtake")
SENTENCES = {
    "ReadInput": "{of} reads a record of its input",
    "ReadRecord": "{reader} reads a record of {sender}",
    "ReadBarrier": "the barrier of {sender} reaches {reader}",
    "Overtake": "the barrier of {sender} overtakes the records that {reader} has not read",
    "ReadEnd": "{reader} has read all of {sender}",
    "Finish": "{of} finishes",
    "Trigger": "{of} takes its snapshot for checkpoint {checkpoint}",
    "Count": "the coordinator counts {of}, which has finished",
    "Store": "{of} stores its snapshot",
    "Acknowledge": "{of} acknowledges checkpoint {checkpoint}",
    "GiveUp": "{of} gives its alignment up",
    "Begin": "the coordinator begins checkpoint {checkpoint}",
    "Complete": "checkpoint {of} completes",
    "FallBack": "checkpoint {of} completes; regions that have not acknowledged fall back",
    "Abort": "checkpoint {of} is aborted",
    "Commit": "{of} commits",
    "Crash": "all tasks fail",
    "Restore": "all tasks restart from the latest checkpoint",
    "Restart": "region {region} fails and restarts from the latest checkpoint",
}


@click.command()
@click.argument("name", required=False, type=click.Choice([reading.name for reading in READINGS]))
def main(name: str | None) -> None:
    """Explore the readings of FLIP-600 (proposed, no released jar) and of checkpoints during recovery."""
    is_as_expected, group = True, ""
    for reading in READINGS:
        if name not in (None, reading.name):
            continue
        if reading.of != group:
            click.echo(f"\n{reading.of}" if group else reading.of)
            group = reading.of
        graph = reading.explore()
        found = graph.violation
        broken = ", ".join(found.properties) if found else ""
        is_as_expected &= broken == reading.breaks
        verdict = f"breaks {broken}" if found else f"holds in all {len(graph.nodes):,} states"
        click.echo(f"\n{reading.name}: {reading.sentence}\n  {verdict}")
        for number, step in enumerate(described(reading, found.run) if found and name else (), start=1):
            click.echo(f"  {number:>3} {step}")
        if found:
            click.echo(f"      {reading.effect}" if name else f"  {len(found.run)} steps: {reading.effect}")
    sys.exit(Exit.CONFORMS if is_as_expected else Exit.DIVERGES)


if __name__ == "__main__":
    main()
