"""Closed models of the tracker. spec/gate/TrackingModel.tla specifies the same environment."""

from collections.abc import Iterator

from model.checker.closed_model import ClosedModel, Environment
from model.events import Event
from model.gate.events import Barrier, Cancel, EndOfPartition, Record
from model.gate.profiles import NEWEST, PROFILES, Profile
from model.gate.tracking import TRACKED_AT_MOST, Tracker, new_tracker
from model.steps import step_of


def closed_tracker(
    channels: int,
    ids: int,
    *,
    counts_as_aligned: bool,
    tracked_at_most: int = TRACKED_AT_MOST,
    profile: Profile = NEWEST,
    records: bool = False,
) -> ClosedModel:
    """A tracker whose channels deliver barriers and cancellations with ids from 1 to `ids`.

    The ids of one channel never fall. `records`: channels also deliver records.
    """

    def offers(tracker: Tracker) -> Iterator[tuple[str, Event]]:
        for channel in range(channels):
            if tracker.closed[channel]:
                continue
            for checkpoint in range(1, ids + 1):
                yield "Barrier", Barrier(channel, checkpoint)
                yield "Cancel", Cancel(channel, checkpoint)
            yield "EndOfPartition", EndOfPartition(channel)
            if records:
                yield "Record", Record(channel, channel)

    def allows(last: Environment, event: Event) -> Environment | None:
        if type(event) is Barrier or type(event) is Cancel:
            channel, checkpoint = event.channel, event.checkpoint
            if checkpoint < last[channel]:
                return None
            return (*last[:channel], checkpoint, *last[channel + 1 :])
        return last

    ends = "ends count" if counts_as_aligned else "ends abort"
    if not profile.tracker_counts_ends:
        ends = "ends ignored"
    return ClosedModel(
        f"tracker of {channels} channels, ids to {ids}, at most {tracked_at_most} tracked, {ends}, "
        f"{profile.name}" + (", with records" if records else ""),
        "tracker",
        new_tracker(channels, counts_as_aligned, profile, tracked_at_most),
        (0,) * channels,
        offers,
        allows,
        step_of("tracker"),
        toured=tracked_at_most == TRACKED_AT_MOST,
    )


def closed_tracker_models() -> tuple[ClosedModel, ...]:
    """The closed models of the tracker that the suite explores. Every TRACK rule fires in one of them.

    With three ids, a tracker with the bound of 50 drops no checkpoint. So one closed model has a bound of 2.
    """
    return (
        closed_tracker(2, 2, counts_as_aligned=True, records=True),
        closed_tracker(1, 2, counts_as_aligned=True),
        closed_tracker(2, 3, counts_as_aligned=True),
        closed_tracker(2, 3, counts_as_aligned=False),
        closed_tracker(3, 2, counts_as_aligned=True),
        closed_tracker(2, 3, counts_as_aligned=True, tracked_at_most=2),
        *(
            closed_tracker(channels, ids, counts_as_aligned=False, profile=PROFILES[name])
            for name, channels, ids in (("flink-1.7", 2, 3), ("flink-1.13", 2, 3), ("flink-1.13", 3, 2))
        ),
    )
