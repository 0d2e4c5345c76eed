"""Tracking of checkpoint barriers at one input gate (mode at-least-once). Rules TRACK-01 to TRACK-17.

The tracker never blocks a channel. It counts the channels that have delivered barrier n, and triggers the
snapshot when the last awaited channel has delivered it. So the snapshot also contains records behind barrier
n of faster channels, and after a restore the operator processes these records again. The tracker can track
several checkpoints at once.

The module describes one tracker of Flink 1.14 and later, without coordinator and time.
`model.gate.generations` holds the steps that differ in older generations.
"""

from typing import NamedTuple

from model.events import INPUT_END_OF_STREAM, NONE, ON_CANCELLATION_BARRIER, Effects, Rules, Step
from model.gate.aligned import with_flag
from model.gate.events import Abort, Process, Trigger
from model.gate.profiles import NEWEST, Profile

TRACKED_AT_MOST = 50
"""Maximum number of tracked checkpoints (TRACK-07). Proofs and closed models use a smaller number."""


class Tracked(NamedTuple):
    """One tracked checkpoint."""

    checkpoint: int
    counted: tuple[int, ...]
    """By channel: how often its barrier, cancellation or end has counted. Above 1 only up to 1.13."""
    needed: int
    """Number of counts that complete the checkpoint. Never changes."""
    aborted: bool
    """The checkpoint was cancelled. When the last channel has counted, it ends without a trigger."""


class Tracker(NamedTuple):
    """One input gate in at-least-once mode."""

    latest: int
    """Highest checkpoint id ever tracked at this gate; -1 before the first."""
    tracked: tuple[Tracked, ...]
    """The tracked checkpoints, oldest first."""
    closed: tuple[bool, ...]
    """By channel: it has delivered its end of partition."""
    counts_as_aligned: bool
    """Checkpoints after tasks finish are enabled: an ended channel counts as aligned. Never changes."""
    tracked_at_most: int = TRACKED_AT_MOST
    """Maximum number of tracked checkpoints. Never changes."""
    profile: Profile = NEWEST
    """The generation. Never changes."""


def new_tracker(
    channels: int,
    counts_as_aligned: bool,
    profile: Profile = NEWEST,
    tracked_at_most: int = TRACKED_AT_MOST,
) -> Tracker:
    """A tracker in its initial state: no channel has delivered anything."""
    return Tracker(NONE, (), (False,) * channels, counts_as_aligned, tracked_at_most, profile)


class TrackingSteps:
    """The steps of a tracker, and the methods that older generations override."""

    def on_record(self, tracker: Tracker, channel: int, value: int) -> Step[Tracker]:
        """A record arrives. No channel is ever blocked, so the operator processes it at once."""
        return Step(tracker, (Process(channel, value),), ("TRACK-01",))

    def on_barrier(self, tracker: Tracker, channel: int, checkpoint: int) -> Step[Tracker]:
        """Barrier `checkpoint` arrives on `channel`, which is open."""
        if checkpoint > tracker.latest:
            if self.awaited_by_a_new_one(tracker) == 1:  # the checkpoint is complete at once
                return Step(tracker, (Trigger(checkpoint),), ("TRACK-17",))
            rules: Rules = ("TRACK-02", "TRACK-15")
            tracker = self.begin(tracker, channel, checkpoint, aborted=False)
            if len(tracker.tracked) > tracker.tracked_at_most:
                tracker = tracker._replace(tracked=tracker.tracked[1:])
                rules = ("TRACK-02", "TRACK-07")
            return Step(tracker, (), rules)
        for position, entry in enumerate(tracker.tracked):
            if entry.checkpoint == checkpoint:
                rule = "TRACK-16" if entry.counted[channel] > 0 else "TRACK-03"
                return settle(tracker, position, self.with_count(entry, channel), (), (rule,))
        return Step(tracker, (), ("TRACK-05",))  # a late barrier, or the tracker has dropped its checkpoint

    def on_cancel(self, tracker: Tracker, channel: int, checkpoint: int) -> Step[Tracker]:
        """A cancellation marker of `checkpoint` arrives on `channel`, which is open."""
        cancelled: Effects = (Abort(checkpoint, ON_CANCELLATION_BARRIER),)
        if checkpoint > tracker.latest and self.awaited_by_a_new_one(tracker) == 1:
            return Step(tracker, cancelled, ("TRACK-17",))
        older = sum(1 for entry in tracker.tracked if entry.checkpoint < checkpoint)
        effects = aborts(tracker.tracked[:older], ON_CANCELLATION_BARRIER)
        rules: Rules = ("TRACK-08",) if older else ()
        tracker = tracker._replace(tracked=tracker.tracked[older:])
        if tracker.tracked and tracker.tracked[0].checkpoint == checkpoint:
            entry = tracker.tracked[0]
            if not entry.aborted:
                effects = (*effects, *cancelled)
            entry = self.with_count(entry._replace(aborted=True), channel)
            return settle(tracker, 0, entry, effects, (*rules, "TRACK-09"))
        if checkpoint > tracker.latest:
            tracker = self.begin(tracker, channel, checkpoint, aborted=True)
            return Step(tracker, (*effects, *cancelled), (*rules, "TRACK-10"))
        return Step(tracker, effects, (*rules, "TRACK-11"))

    def on_end_of_partition(self, tracker: Tracker, channel: int) -> Step[Tracker]:
        """`channel` ends. The end counts for all tracked checkpoints, or aborts them (TRACK-13, TRACK-14)."""
        tracker = tracker._replace(closed=with_flag(tracker.closed, channel, True))
        if not tracker.counts_as_aligned:
            effects = aborts(tracker.tracked, INPUT_END_OF_STREAM)
            return Step(tracker._replace(tracked=()), effects, ("TRACK-13",))
        for position in reversed(range(len(tracker.tracked))):  # newest first: at most one checkpoint ends
            entry = self.with_count(tracker.tracked[position], channel)
            if is_complete(entry):
                return settle(tracker, position, entry, (), ("TRACK-14",))
            tracker = with_entry(tracker, position, entry)
        return Step(tracker, (), ("TRACK-14",))

    def begin(self, tracker: Tracker, channel: int, checkpoint: int, *, aborted: bool) -> Tracker:
        """Tracks a newer checkpoint, for which `channel` has counted."""
        counted = tuple(int(position == channel) for position in range(len(tracker.closed)))
        entry = Tracked(checkpoint, counted, self.awaited_by_a_new_one(tracker), aborted)
        return tracker._replace(latest=checkpoint, tracked=(*tracker.tracked, entry))

    def awaited_by_a_new_one(self, tracker: Tracker) -> int:
        """Number of counts that a new checkpoint needs: one for each open channel (TRACK-15)."""
        return sum(1 for ended in tracker.closed if not ended)

    def with_count(self, entry: Tracked, channel: int) -> Tracked:
        """The entry after the channel has counted. A repeated barrier does not count again (TRACK-16)."""
        return entry._replace(counted=(*entry.counted[:channel], 1, *entry.counted[channel + 1 :]))


def settle(tracker: Tracker, position: int, entry: Tracked, effects: Effects, rules: Rules) -> Step[Tracker]:
    """The step after a channel has counted for the checkpoint at `position`, which is now `entry`.

    If the checkpoint is complete, the tracker drops it and all older ones.
    """
    if not is_complete(entry):
        return Step(with_entry(tracker, position, entry), effects, rules)
    newer = tracker.tracked[position + 1 :]
    if newer:
        rules = (*rules, "TRACK-06")
    tracker = tracker._replace(tracked=newer)
    if entry.aborted:
        return Step(tracker, effects, (*rules, "TRACK-12"))
    return Step(tracker, (*effects, Trigger(entry.checkpoint)), (*rules, "TRACK-04"))


def is_complete(entry: Tracked) -> bool:
    """The checkpoint has as many counts as it needs."""
    return sum(entry.counted) == entry.needed


def with_entry(tracker: Tracker, position: int, entry: Tracked) -> Tracker:
    """The tracker with the entry at `position` replaced."""
    tracked = tracker.tracked
    return tracker._replace(tracked=(*tracked[:position], entry, *tracked[position + 1 :]))


def aborts(entries: tuple[Tracked, ...], reason: str) -> Effects:
    """The effects that abort each entry that was not aborted before, oldest first (TRACK-12)."""
    return tuple(Abort(entry.checkpoint, reason) for entry in entries if not entry.aborted)


def describe(tracker: Tracker) -> str:
    """The tracker in one line, for transcripts."""
    under_way = [
        f"{entry.checkpoint}: {sum(entry.counted)} of {entry.needed}" + (" aborted" if entry.aborted else "")
        for entry in tracker.tracked
    ]
    closed = [str(channel) for channel, flag in enumerate(tracker.closed) if flag]
    return ", ".join(
        [
            f"latest={tracker.latest}",
            *under_way,
            *(["closed " + " ".join(closed)] if closed else []),
        ]
    )
