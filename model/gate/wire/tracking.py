"""The mode at-least-once on the wire: the tracker never holds an item back."""

from collections.abc import Hashable
from typing import NamedTuple

from model import fields
from model.events import Step
from model.fields import Wire, WireError
from model.gate import tracking
from model.gate.generations import tracking_steps
from model.gate.profiles import Profile
from model.gate.tracking import Tracked, Tracker
from model.gate.wire.mode import Mode


class TrackerSession(NamedTuple):
    """A tracker at one of the two levels, which differ only in records: the handler takes none."""

    tracker: Tracker
    polled: bool


def new(config: Wire, channels: int, profile: Profile, after_finish: bool, polled: bool) -> TrackerSession:
    """A tracker in its initial state.

    Raises WireError if checkpoints after tasks finish are enabled in a generation that awaits ended channels.
    """
    if after_finish and profile.tracker_awaits_ended:
        raise WireError(
            f"checkpoints_after_tasks_finish: the tracker of {profile.name} does not know it; leave it out"
        )
    return TrackerSession(tracking.new_tracker(channels, after_finish, profile), polled)


def step(session: TrackerSession, event: Wire) -> Step[TrackerSession]:
    """The step of one item. Raises WireError if the item is not legal in this state."""
    tracker = session.tracker
    kind = fields.kind_of(event, ("record", "barrier", "cancel", "end_of_partition"))
    channel = fields.index(event, "channel", len(tracker.closed))
    if tracker.closed[channel]:
        raise WireError(f"channel {channel} has ended; send nothing on it any more: {dict(event)}")
    steps = tracking_steps(tracker)
    if kind == "barrier":
        done = steps.on_barrier(tracker, channel, fields.checkpoint(event))
    elif kind == "cancel":
        done = steps.on_cancel(tracker, channel, fields.checkpoint(event))
    elif kind == "end_of_partition":
        done = steps.on_end_of_partition(tracker, channel)
    elif session.polled:
        done = tracking.on_record(tracker, channel, fields.field(event, "value"))
    else:
        raise WireError("a gate at handler level takes no records; use level 'polled'")
    return Step(TrackerSession(done.state, session.polled), done.effects, done.rules)


def observe(session: TrackerSession) -> dict[str, object]:
    """The observable state: `current`, `pending`, `blocked` (always empty), `closed`, `tracked`."""
    tracker = session.tracker
    return {
        "current": tracker.latest,
        "pending": bool(tracker.tracked),
        "blocked": [],
        "closed": [channel for channel, flag in enumerate(tracker.closed) if flag],
        "tracked": [
            [entry.checkpoint, counted_channels(entry, tracker.profile), entry.aborted]
            for entry in tracker.tracked
        ],
    }


def counted_channels(entry: Tracked, profile: Profile) -> list[int] | int:
    """The channels that have counted, sorted; in generations that count barriers, the number of counts."""
    if profile.tracker_counts_repeats:
        return sum(entry.counted)
    return [channel for channel, times in enumerate(entry.counted) if times]


def key(session: TrackerSession) -> Hashable:
    """The state: it holds no record value."""
    return session


MODE = Mode(TrackerSession, new, step, observe, key)
