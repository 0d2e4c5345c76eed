"""TRACK-01 to TRACK-18, stated over one tracker.

If a rule depends on the generation, the property reads a switch of the tracker's profile and states the rule
for both values of the switch.
"""

from model.event_frames import Frame
from model.events import INPUT_END_OF_STREAM, NONE, ON_CANCELLATION_BARRIER, Effects
from model.gate.events import Abort, Barrier, Cancel, EndOfPartition, Process, Record, Trigger
from model.gate.polled_gate import Item
from model.gate.tracking import Tracked, Tracker
from model.registry import Registry

TRACKER = Registry("tracker")
TRACKER.frames({
    Record: Frame("TRACK-01", "", "process"),
    Barrier: Frame("TRACK-03", "latest tracked", "trigger?"),
    Cancel: Frame("TRACK-09", "latest tracked", "abort*"),
    EndOfPartition: Frame("TRACK-14", "tracked closed", "abort* | trigger"),
})  # fmt: skip


@TRACKER.initial("TRACK-02")
def track_02_at_first(tracker: Tracker) -> bool:
    """A new tracker tracks no checkpoint, its latest id is -1, and no channel is closed."""
    return tracker.latest == NONE and tracker.tracked == () and not any(tracker.closed)


@TRACKER.step("TRACK-01")
def track_01(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """The tracker never blocks a channel, and the operator processes a record at once."""
    if type(event) is Record:
        return effects == (Process(event.channel, event.value),) and after == before
    return all(type(effect) is Trigger or type(effect) is Abort for effect in effects)


@TRACKER.step("TRACK-02")
def track_02(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """The first barrier of a newer id makes its checkpoint the newest tracked one, and has no effect."""
    if type(event) is not Barrier or not _begins(before, event):
        return True
    if effects or after.latest != event.checkpoint or not after.tracked:
        return False
    newest = after.tracked[-1]
    counted = tuple(int(channel == event.channel) for channel in range(len(before.closed)))
    return newest.checkpoint == event.checkpoint and newest.counted == counted and not newest.aborted


@TRACKER.step("TRACK-03")
def track_03(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """If a further barrier is not the last awaited one, its channel counts, and nothing else changes."""
    if type(event) is not Barrier or event.checkpoint > before.latest:
        return True
    for position, entry in enumerate(before.tracked):
        if entry.checkpoint == event.checkpoint:
            if _is_last(before, entry, event.channel):
                return True
            if effects or len(after.tracked) != len(before.tracked) or after.latest != before.latest:
                return False
            kept = (*before.tracked[:position], _counted(before, entry, event.channel))
            return after.tracked == (*kept, *before.tracked[position + 1 :])
    return True


@TRACKER.step("TRACK-04")
def track_04(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """The last awaited barrier triggers its checkpoint. The tracker drops it and the older ones."""
    if type(event) is not Barrier or event.checkpoint > before.latest:
        return True
    for position, entry in enumerate(before.tracked):
        if entry.checkpoint == event.checkpoint and _is_last(before, entry, event.channel):
            if after != before._replace(tracked=before.tracked[position + 1 :]):
                return False
            return effects == (() if entry.aborted else (Trigger(event.checkpoint),))
    return True


@TRACKER.step("TRACK-05")
def track_05(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """A barrier that is not above the latest id and not tracked changes nothing."""
    if type(event) is not Barrier or event.checkpoint > before.latest or _is_tracked(before, event):
        return True
    return not effects and after == before


@TRACKER.step("TRACK-06")
def track_06(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """A barrier or cancellation does not change the checkpoints that are newer than its own."""
    if type(event) is not Barrier and type(event) is not Cancel:
        return True
    newer = tuple(entry for entry in before.tracked if entry.checkpoint > event.checkpoint)
    return newer == tuple(entry for entry in after.tracked if entry.checkpoint > event.checkpoint)


@TRACKER.step("TRACK-07")
def track_07(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """If a checkpoint begins and exceeds the bound, the tracker drops the oldest one, and only this one."""
    if type(event) is not Barrier or not _begins(before, event):
        return True
    full = len(before.tracked) == before.tracked_at_most
    return after.tracked[:-1] == (before.tracked[1:] if full else before.tracked)


@TRACKER.state("TRACK-07")
def track_07_bound(tracker: Tracker) -> bool:
    """The number of tracked checkpoints does not exceed the bound, which is at most 50."""
    return len(tracker.tracked) <= tracker.tracked_at_most <= 50


@TRACKER.step("TRACK-08")
def track_08(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """A cancellation drops all older checkpoints. It aborts those that were not aborted, oldest first."""
    if type(event) is not Cancel or _is_alone_and_newer(before, event):
        return True
    older = tuple(entry for entry in before.tracked if entry.checkpoint < event.checkpoint)
    expected = _aborted(older, ON_CANCELLATION_BARRIER)
    if effects[: len(expected)] != expected:
        return False
    own = all(_id_of(effect) == event.checkpoint for effect in effects[len(expected) :])
    return own and not any(entry.checkpoint < event.checkpoint for entry in after.tracked)


@TRACKER.step("TRACK-09")
def track_09(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """A cancellation of a tracked id aborts it once, and its channel counts. The last count drops the id."""
    if type(event) is not Cancel or event.checkpoint > before.latest:
        return True
    for position, entry in enumerate(before.tracked):
        if entry.checkpoint == event.checkpoint:
            own = tuple(effect for effect in effects if _id_of(effect) == event.checkpoint)
            expected = () if entry.aborted else (Abort(event.checkpoint, ON_CANCELLATION_BARRIER),)
            if own != expected or after.latest != before.latest:
                return False
            rest = before.tracked[position + 1 :]
            if _is_last(before, entry, event.channel):
                return after.tracked == rest
            return after.tracked == (_counted(before, entry, event.channel)._replace(aborted=True), *rest)
    return True


@TRACKER.step("TRACK-10")
def track_10(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """A cancellation of a newer id aborts it once. The tracker tracks it as aborted, with this channel."""
    if type(event) is not Cancel or not _begins(before, event):
        return True
    if not effects or effects[-1] != Abort(event.checkpoint, ON_CANCELLATION_BARRIER):
        return False
    if after.latest != event.checkpoint or len(after.tracked) != 1:
        return False
    entry = after.tracked[0]
    counted = tuple(int(channel == event.channel) for channel in range(len(before.closed)))
    return entry.checkpoint == event.checkpoint and entry.aborted and entry.counted == counted


@TRACKER.step("TRACK-11")
def track_11(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """A cancellation that is not above the latest id and not tracked has only the effect of TRACK-08."""
    if type(event) is not Cancel or event.checkpoint > before.latest or _is_tracked(before, event):
        return True
    if any(_id_of(effect) == event.checkpoint for effect in effects) or after.latest != before.latest:
        return False
    return after.tracked == tuple(entry for entry in before.tracked if entry.checkpoint > event.checkpoint)


@TRACKER.step("TRACK-12")
def track_12(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """A tracked checkpoint that was aborted stays aborted. It is neither triggered nor aborted again."""
    for entry in before.tracked:
        if entry.aborted:
            if any(_id_of(effect) == entry.checkpoint for effect in effects):
                return False
            if any(now.checkpoint == entry.checkpoint and not now.aborted for now in after.tracked):
                return False
    return True


@TRACKER.step("TRACK-13")
def track_13(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """Without checkpoints after tasks finish, an end aborts and drops all checkpoints, oldest first."""
    if type(event) is not EndOfPartition or before.counts_as_aligned:
        return True
    if not before.profile.tracker_counts_ends:
        return True
    expected = before._replace(closed=_closed_by(before, event), tracked=())
    return effects == _aborted(before.tracked, INPUT_END_OF_STREAM) and after == expected


@TRACKER.step("TRACK-14")
def track_14(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """With checkpoints after tasks finish, an ended channel counts for all tracked checkpoints.

    The newest one that it completes ends, together with the older ones.
    """
    if type(event) is not EndOfPartition or not before.counts_as_aligned:
        return True
    if not before.profile.tracker_counts_ends:
        return True
    if after.closed != _closed_by(before, event) or after.latest != before.latest:
        return False
    kept = before.tracked
    expected: Effects = ()
    for position in reversed(range(len(before.tracked))):
        entry = before.tracked[position]
        if _is_last(before, entry, event.channel):
            kept = before.tracked[position + 1 :]
            expected = () if entry.aborted else (Trigger(entry.checkpoint),)
            break
    counted = tuple(_counted(before, entry, event.channel) for entry in kept)
    return effects == expected and after.tracked == counted


@TRACKER.step("TRACK-15")
def track_15(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """A checkpoint needs as many counts as were awaited when it began. This number never changes."""
    if type(event) is not Record and after.latest != before.latest:
        return bool(after.tracked) and after.tracked[-1].needed == _awaited(before)
    if len(after.tracked) > len(before.tracked):
        return False
    dropped = len(before.tracked) - len(after.tracked)
    pairs = zip(before.tracked[dropped:], after.tracked, strict=True)
    return all(entry.needed == now.needed for entry, now in pairs)


@TRACKER.step("TRACK-16")
def track_16(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """A repeated barrier changes nothing. In generations that count barriers, it counts again."""
    if type(event) is not Barrier or event.checkpoint > before.latest:
        return True
    for position, entry in enumerate(before.tracked):
        if entry.checkpoint == event.checkpoint and entry.counted[event.channel] > 0:
            if not before.profile.tracker_counts_repeats:
                return not effects and after == before
            if len(after.tracked) != len(before.tracked):
                return True  # the barrier counts for the last channel: TRACK-04
            now = after.tracked[position].counted[event.channel]
            return now == entry.counted[event.channel] + 1
    return True


@TRACKER.step("TRACK-17")
def track_17(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """If only one channel is awaited, a newer id triggers or aborts at once, and is not tracked."""
    if type(event) is not Barrier and type(event) is not Cancel:
        return True
    if not _is_alone_and_newer(before, event):
        return True
    if type(event) is Barrier:
        return effects == (Trigger(event.checkpoint),) and after == before
    return effects == (Abort(event.checkpoint, ON_CANCELLATION_BARRIER),) and after == before


@TRACKER.step("TRACK-18")
def track_18(before: Tracker, event: Item, effects: Effects, after: Tracker) -> bool:
    """In generations whose tracker ignores ends, an end only closes the channel."""
    if type(event) is not EndOfPartition or before.profile.tracker_counts_ends:
        return True
    return not effects and after == before._replace(closed=_closed_by(before, event))


@TRACKER.state("TRACK-12")
def tracked_in_order(tracker: Tracker) -> bool:
    """Tracked ids ascend up to the latest, and each still awaits a channel. So no checkpoint ends twice."""
    highest = -1
    most = 1
    if tracker.profile.tracker_counts_repeats:
        most = len(tracker.closed)
    for entry in tracker.tracked:
        if entry.checkpoint <= highest or entry.checkpoint > tracker.latest:
            return False
        highest = entry.checkpoint
        if any(times < 0 or times > most for times in entry.counted):
            return False
        if sum(entry.counted) < 1 or sum(entry.counted) >= entry.needed or entry.needed > len(tracker.closed):
            return False
    return tracker.latest >= -1


@TRACKER.state("TRACK-02")
def newest_is_latest(tracker: Tracker) -> bool:
    """The last tracked checkpoint has the latest id, because older checkpoints end before newer ones."""
    return not tracker.tracked or tracker.tracked[-1].checkpoint == tracker.latest


@TRACKER.state("TRACK-08")
def only_oldest_aborted(tracker: Tracker) -> bool:
    """Only the oldest tracked checkpoint can be aborted, because a cancellation drops all older ones."""
    return not any(entry.aborted for entry in tracker.tracked[1:])


@TRACKER.state("TRACK-15")
def needed_by_all(tracker: Tracker) -> bool:
    """If ends abort all tracked checkpoints, each one needs as many counts as a new checkpoint would."""
    if tracker.counts_as_aligned or not tracker.profile.tracker_counts_ends:
        return True
    return all(entry.needed == _awaited(tracker) for entry in tracker.tracked)


def _awaited(tracker: Tracker) -> int:
    """Number of channels whose barriers a new checkpoint would need."""
    if tracker.profile.tracker_awaits_ended:
        return len(tracker.closed)
    return len([ended for ended in tracker.closed if not ended])


def _begins(before: Tracker, event: Barrier | Cancel) -> bool:
    return event.checkpoint > before.latest and _awaited(before) != 1


def _is_alone_and_newer(before: Tracker, event: Barrier | Cancel) -> bool:
    return event.checkpoint > before.latest and _awaited(before) == 1


def _is_tracked(before: Tracker, event: Barrier | Cancel) -> bool:
    return any(entry.checkpoint == event.checkpoint for entry in before.tracked)


def _is_last(before: Tracker, entry: Tracked, channel: int) -> bool:
    """After this channel has counted, the checkpoint awaits no further channel."""
    others = sum(times for position, times in enumerate(entry.counted) if position != channel)
    if before.profile.tracker_counts_repeats:
        return others + entry.counted[channel] + 1 == entry.needed
    return others + 1 == entry.needed


def _counted(before: Tracker, entry: Tracked, channel: int) -> Tracked:
    """The entry after this channel has counted for it."""
    times = entry.counted[channel] + 1 if before.profile.tracker_counts_repeats else 1
    return entry._replace(
        counted=tuple(times if place == channel else had for place, had in enumerate(entry.counted))
    )


def _aborted(entries: tuple[Tracked, ...], reason: str) -> Effects:
    return tuple(Abort(entry.checkpoint, reason) for entry in entries if not entry.aborted)


def _id_of(effect: object) -> int:
    """The checkpoint that an effect names; -1 for none."""
    return effect.checkpoint if type(effect) is Trigger or type(effect) is Abort else NONE


def _closed_by(before: Tracker, event: EndOfPartition) -> tuple[bool, ...]:
    return tuple(ended or position == event.channel for position, ended in enumerate(before.closed))
