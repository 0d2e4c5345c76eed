"""The steps of aligned gates and of trackers in older generations.

Each class overrides the steps in which its generation differs from its base class. `aligned_steps` and
`tracking_steps` select the class for a gate. The switches of `model.gate.profiles` state the same
differences. The properties check the steps against these switches.
"""

from collections.abc import Mapping

from model.events import ON_CANCELLATION_BARRIER, SUBSUMED, Effects, Fail, Rules, Step
from model.gate.aligned import AlignedSteps, Gate, idle, resume_all, with_flag
from model.gate.events import Abort, Trigger
from model.gate.profiles import PROFILES, Profile
from model.gate.tracking import Tracked, Tracker, TrackingSteps

REPEATED_BARRIER = "repeated barrier"


class CountsRepeats(AlignedSteps):
    """1.13: the gate counts barriers, so a repeated barrier can replace a missing one (ALIGN-21)."""

    def repeated(self, gate: Gate, channel: int) -> Step[Gate]:
        """A repeated barrier counts again, which makes the cut inconsistent."""
        return self.arrive(gate._replace(repeats=gate.repeats + 1), channel, (), ("ALIGN-21",))

    def awaits_a_channel(self, gate: Gate) -> bool:
        """Whether the open channels without the barrier are more than the counted repeated barriers."""
        channels = zip(gate.blocked, gate.closed, strict=True)
        return gate.repeats < sum(1 for blocked, closed in channels if not (blocked or closed))


class RefusesRepeats(AlignedSteps):
    """1.12: a repeated barrier fails the task, and channels resume before the snapshot is triggered."""

    def repeated(self, gate: Gate, channel: int) -> Step[Gate]:
        """The gate refuses the barrier with an exception (ALIGN-20)."""
        return Step(gate._replace(failed=True), (Fail(REPEATED_BARRIER),), ("ALIGN-20",))

    def complete(self, gate: Gate, effects: Effects, rules: Rules) -> Step[Gate]:
        """Every channel is aligned: resume the channels, then trigger the snapshot."""
        done = (*effects, *resume_all(gate), Trigger(gate.current))
        return Step(idle(gate), done, (*rules, "ALIGN-05", "ALIGN-06"))


class PassesAlone(RefusesRepeats):
    """1.11: a gate with one channel never blocks it; an alignment is aborted before its channels resume."""

    def on_barrier(self, gate: Gate, channel: int, checkpoint: int) -> Step[Gate]:
        """A gate with a single channel triggers at its barrier (ALIGN-07)."""
        is_over = checkpoint < gate.current or (checkpoint == gate.current and not gate.pending)
        if is_over or len(gate.blocked) > 1:
            return super().on_barrier(gate, channel, checkpoint)
        resumed = self.late(gate, channel).effects
        return Step(gate._replace(current=checkpoint), (*resumed, Trigger(checkpoint)), ("ALIGN-07",))

    def give_up(self, gate: Gate, reason: str) -> Effects:
        """The effects that abort the pending alignment: first the abort, then the resumes of its channels."""
        return (Abort(gate.current, reason), *resume_all(gate))


class SendersContinue(PassesAlone):
    """1.9 and 1.10: no sender stops after a barrier."""

    def late(self, gate: Gate, channel: int) -> Step[Gate]:
        """A late barrier has no effect."""
        return Step(gate, (), ("ALIGN-04",))


class CancelsTwice(SendersContinue):
    """1.7 and 1.8: a newer cancellation during an alignment aborts its own id twice."""

    def on_cancel(self, gate: Gate, channel: int, checkpoint: int) -> Step[Gate]:
        """The first of the two aborts has the reason subsumed (ALIGN-11)."""
        done = super().on_cancel(gate, channel, checkpoint)
        if done.rules != ("ALIGN-11",):
            return done
        aborts = (Abort(checkpoint, SUBSUMED), Abort(checkpoint, ON_CANCELLATION_BARRIER))
        return done._replace(effects=(*resume_all(gate), *aborts))


class CountsBarriers(TrackingSteps):
    """1.9 to 1.13: the tracker counts barriers, also of ended channels. It keeps no set of channels."""

    def awaited_by_a_new_one(self, tracker: Tracker) -> int:
        """Number of barriers that a new checkpoint needs: one for each channel, also if ended (TRACK-15)."""
        return len(tracker.closed)

    def with_count(self, entry: Tracked, channel: int) -> Tracked:
        """The entry after the channel has counted. A repeated barrier counts again (TRACK-16)."""
        counted = entry.counted
        return entry._replace(counted=(*counted[:channel], counted[channel] + 1, *counted[channel + 1 :]))


class IgnoresEnds(CountsBarriers):
    """1.7 and 1.8: the tracker is not notified of the end of a channel."""

    def on_end_of_partition(self, tracker: Tracker, channel: int) -> Step[Tracker]:
        """`channel` ends: the tracked checkpoints do not change (TRACK-18)."""
        closed = with_flag(tracker.closed, channel, True)
        return Step(tracker._replace(closed=closed), (), ("TRACK-18",))


_ALIGNED: Mapping[Profile, AlignedSteps] = {
    PROFILES["flink-1.7"]: CancelsTwice(),
    PROFILES["flink-1.9"]: SendersContinue(),
    PROFILES["flink-1.11"]: PassesAlone(),
    PROFILES["flink-1.12"]: RefusesRepeats(),
    PROFILES["flink-1.13"]: CountsRepeats(),
    **dict.fromkeys((PROFILES[name] for name in ("flink-1.14.0", "flink-1.14")), AlignedSteps()),
}


def aligned_steps(gate: Gate) -> AlignedSteps:
    """The steps of the gate's generation."""
    return _ALIGNED[gate.profile]


_TRACKING: Mapping[Profile, TrackingSteps] = {
    PROFILES["flink-1.7"]: IgnoresEnds(),
    PROFILES["flink-1.9"]: CountsBarriers(),
    PROFILES["flink-1.11"]: CountsBarriers(),
    PROFILES["flink-1.12"]: CountsBarriers(),
    PROFILES["flink-1.13"]: CountsBarriers(),
    **dict.fromkeys((PROFILES[name] for name in ("flink-1.14.0", "flink-1.14")), TrackingSteps()),
}


def tracking_steps(tracker: Tracker) -> TrackingSteps:
    """The steps of the tracker's generation."""
    return _TRACKING[tracker.profile]
