"""Generations of Flink: one protocol, and the named switches in which the releases differ.

A profile is a set of switches. A step function reads a switch where the generations part ways and is
otherwise the same for all of them; no step function is written twice, and none asks for a profile's
name. Each switch says in one sentence what its two sides mean to an observer of one task.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Profile:
    """The switches of one generation. There is one object of each, and states refer to it."""

    name: str
    """As the wire calls it: the first release of the generation."""
    releases: str
    """The releases that behave so."""

    # ------------------------------------------------------------ alignment at one gate

    ends_count: bool = True
    """Checkpoints after tasks finish are on if left out: an ended channel counts as aligned. Flink offers
    them from 1.14 on; its own default is off in 1.14 and on from 1.15 on."""
    stores_blocked: bool = False
    """The gate itself stores what comes on a blocked channel; else the network holds it back."""
    resumes_late: bool = True
    """A late barrier resumes its channel, because the sender stopped after it; else nobody stopped."""
    triggers_first: bool = True
    """On completion the snapshot is triggered before the channels are let go; else after."""
    releases_first: bool = True
    """An alignment that is overtaken, or that an end aborts, lets its channels go first; else after."""
    repeats_count: bool = False
    """A second barrier of the pending checkpoint on one channel counts once more (a wrong cut)."""
    repeats_fail: bool = False
    """A second barrier of the pending checkpoint on one channel is refused with an exception."""
    passes_alone: bool = False
    """A gate that has one channel in all triggers at its barrier and never blocks it."""
    cancels_twice: bool = False
    """A newer cancellation while one is pending tells of its own id twice, first as subsumed."""

    # ------------------------------------------------------------ at-least-once tracking

    tracker_hears_ends: bool = True
    """An ended channel aborts, or counts for, what is tracked; else the tracker never learns of ends."""
    tracker_awaits_ended: bool = False
    """A checkpoint that begins needs one barrier of every channel, also of ended ones; else of open ones."""
    tracker_counts_repeats: bool = False
    """Barriers are counted, so a repeated one counts again; else the set of channels is kept."""

    # ------------------------------------------------------------ unaligned checkpoints

    has_unaligned: bool = True
    """The modes unaligned and alternating exist; else the generation has no such checkpoints."""
    hears_announcements: bool = True
    """A channel may tell of a barrier that stands in it; else nobody would listen."""

    times_from_first: bool = False
    """An alignment's time-out counts from when the gate first heard of it; else from its timestamp."""
    first_decides: bool = False
    """The first barrier decides for its checkpoint whether to align, and one that disagrees is refused; there
    are no announcements and no time-outs, barriers that overtake never block, and who overtook last goes on
    doing so until the next first barrier. Else any mix is legal."""
    savepoints_overtake: bool = False
    """The alignment of a savepoint is given up like that of a checkpoint; else that is refused."""
    type_decides: bool = False
    """Where the first barrier decides: a savepoint aligns and any other checkpoint overtakes, whatever its
    options ask for; else the options decide."""
    tells_stop: bool = True
    """The channels are told when the persisting of their input ends; else it ends without a word."""
    whole_stays_pending: bool = False
    """A checkpoint whose barriers have all overtaken stays pending until something else ends it, so that an
    end, a cancellation or a savepoint still aborts what was whole; else it ends with its last barrier."""
    network_starts: bool = False
    """A gate of mode unaligned is told by the network's thread of each barrier received, which may start its
    checkpoint and leaves the rest for the task's thread; else all begins where barriers are read."""
    overtaking_counts_repeats: bool = False
    """Barriers that overtake are counted, so a repeated one stands in for a channel; else once a channel."""

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str | tuple[object, ...]:
        """The one object of that name, also in another process."""
        return _profile_of, (self.name,)


def _profile_of(name: str) -> Profile:
    return PROFILES[name]


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "flink-1.7",
            "1.7, 1.8",
            ends_count=False,
            has_unaligned=False,
            passes_alone=True,
            stores_blocked=True,
            resumes_late=False,
            triggers_first=False,
            releases_first=False,
            repeats_fail=True,
            cancels_twice=True,
            tracker_hears_ends=False,
            tracker_awaits_ended=True,
            tracker_counts_repeats=True,
        ),
        Profile(
            "flink-1.9",
            "1.9, 1.10",
            ends_count=False,
            has_unaligned=False,
            passes_alone=True,
            stores_blocked=True,
            resumes_late=False,
            triggers_first=False,
            releases_first=False,
            repeats_fail=True,
            tracker_awaits_ended=True,
            tracker_counts_repeats=True,
        ),
        Profile(
            "flink-1.11",
            "1.11",
            ends_count=False,
            hears_announcements=False,
            first_decides=True,
            type_decides=True,
            tells_stop=False,
            whole_stays_pending=True,
            network_starts=True,
            passes_alone=True,
            triggers_first=False,
            releases_first=False,
            repeats_fail=True,
            tracker_awaits_ended=True,
            tracker_counts_repeats=True,
        ),
        Profile(
            "flink-1.12",
            "1.12",
            ends_count=False,
            first_decides=True,
            overtaking_counts_repeats=True,
            triggers_first=False,
            repeats_fail=True,
            tracker_awaits_ended=True,
            tracker_counts_repeats=True,
        ),
        Profile(
            "flink-1.13",
            "1.13",
            ends_count=False,
            repeats_count=True,
            overtaking_counts_repeats=True,
            times_from_first=True,
            savepoints_overtake=True,
            tracker_awaits_ended=True,
            tracker_counts_repeats=True,
        ),
        Profile("flink-1.14", "1.14 to 2.3"),
    )
}
"""By name, oldest first."""

NEWEST = PROFILES["flink-1.14"]
