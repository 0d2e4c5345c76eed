"""Checkpoints that fall back for failed regions: FLIP-600, proposed and in no release.

A *region* is a set of tasks that channels connect. If a task of a region does not take its snapshot, the
checkpoint may still complete. For the tasks of that region the checkpoint then refers to the snapshots that
the latest completed checkpoint has of them. The module follows the public discussion of the proposal. Where
the text leaves a choice, the module takes the one for which `model.any_dataflow.properties` hold.
`conformance.explore.proposed_protocols` holds the other choices.

Source: FLIP-600, and the pull requests of FLINK-40209 and FLINK-40210.
"""

from collections.abc import Iterable
from typing import TypeVar

from model.any_dataflow.any_dataflow import AnyDataflow
from model.any_dataflow.job import Channel, History, Job, Place, Snapshot, Task
from model.dataflow.dataflow import with_element

Region = frozenset[int]
"""The tasks of a region."""
_Of = TypeVar("_Of")


def regions_of(channels: Iterable[Channel]) -> tuple[Region, ...]:
    """The sets of tasks that the channels connect, in the order of their first tasks."""
    regions = list[Region]()
    for channel in channels:
        touched = [region for region in regions if not region.isdisjoint(channel)]
        regions = [one for one in regions if one not in touched]
        regions.append(frozenset(channel).union(*touched))
    return tuple(sorted(regions, key=min))


class RegionalDataflow(AnyDataflow):
    """The steps of barrier snapshots whose checkpoints may fall back for regions.

    `regions`: each task is in one region. The regions that `regions_of` returns have no channel between them.
    """

    def __init__(
        self,
        channels: tuple[Channel, ...],
        regions: tuple[Region, ...],
        capacity: int,
        slow: Region,
        unaligned: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(channels, capacity, slow, unaligned)
        self.regions = regions

    # a regional checkpoint

    def failed(self, job: Job, checkpoint: int) -> tuple[Region, ...]:
        """The regions with a task that has not acknowledged the checkpoint."""
        acknowledged = job.checkpoints[checkpoint].acknowledged
        return tuple(one for one in self.regions if not all(acknowledged[task - 1] for task in one))

    def is_declined(self, job: Job, checkpoint: int) -> bool:
        """A task takes no snapshot for the checkpoint: it gave the checkpoint up, or restarted since."""
        captured = job.checkpoints[checkpoint].captured
        return any(
            snapshot is None and task.passed >= checkpoint
            for task, snapshot in zip(job.tasks, captured, strict=True)
        )

    def may_fall_back(self, job: Job, checkpoint: int) -> bool:
        """Some regions have failed and some have not, and the job does not stop with the checkpoint."""
        return 0 < len(self.failed(job, checkpoint)) < len(self.regions) and checkpoint not in self.stops

    def fall_back(self, job: Job, checkpoint: int) -> Job:
        """The checkpoint completes.

        For tasks of failed regions it takes the latest completed one's snapshots.
        """
        known, before = job.checkpoints[checkpoint], job.checkpoints[job.latest]
        failed = frozenset[int]().union(*self.failed(job, checkpoint))
        own = (checkpoint,) * len(self.tasks)
        known = known._replace(
            captured=_chosen(failed, before.captured, known.captured),
            stored=(True,) * len(self.tasks),
            acknowledged=(True,) * len(self.tasks),
            references=_chosen(failed, before.references or (job.latest,) * len(self.tasks), own),
        )
        kept = tuple(self.channel_state(job, known.captured, failed, place) for place in self.places)
        fallen = job._replace(
            checkpoints=with_element(job.checkpoints, checkpoint, known._replace(kept=kept))
        )
        return self.complete(fallen._replace(aborts=job.aborts + 1), checkpoint)

    @property
    def places(self) -> range:
        """The places of all channels."""
        return range(len(self.channels))

    def channel_state(
        self, job: Job, captured: tuple[Snapshot | None, ...], failed: Region, place: Place
    ) -> tuple[History, ...]:
        """The in-flight data of a channel in the checkpoint.

        None here, because these checkpoints are aligned.
        """
        return ()

    # consequences of a fallback

    def committable(self, job: Job, task: int) -> int:
        """The latest checkpoint that the sink may commit: the one whose snapshot a restore takes."""
        references = job.checkpoints[job.latest].references
        return references[task - 1] if references else job.latest

    def may_restart(self, region: Region) -> bool:
        """No channel leads into the region or out of it. Otherwise other tasks would have to restart too."""
        return all((sender in region) == (reader in region) for sender, reader in self.channels)

    def restart(self, job: Job, region: Region) -> Job:
        """The tasks of one region fail and restart alone. Pending checkpoints continue without them."""
        none = (False,) * len(self.tasks)
        for pending in job.pending:
            old = job.checkpoints[pending]
            old = old._replace(
                captured=_chosen(region, self.nothing.captured, old.captured),
                stored=_chosen(region, none, old.stored),
                acknowledged=_chosen(region, none, old.acknowledged),
            )
            job = job._replace(checkpoints=with_element(job.checkpoints, pending, old))
        known = job.checkpoints[job.latest]
        restarted = tuple(
            Task(one.history, prepared=one.prepared, passed=job.next - 1, finished=one.finished)
            for one in (snapshot or Snapshot() for snapshot in known.captured)
        )
        channels = tuple(
            known.kept[place] if self.channels[place][1] in region else items
            for place, items in enumerate(job.channels)
        )
        return job._replace(
            failures=job.failures + 1, tasks=_chosen(region, restarted, job.tasks), channels=channels
        )


def _chosen(of: Region, ones: tuple[_Of, ...], others: tuple[_Of, ...]) -> tuple[_Of, ...]:
    """By task: the element of `ones` for the tasks in `of`, the element of `others` for all other tasks."""
    pairs = zip(ones, others, strict=True)
    return tuple(one if number in of else other for number, (one, other) in enumerate(pairs, start=1))
