"""The generations of the gate, described by the named switches in which the releases differ.

A profile is a set of switches. The properties check the steps against these switches. The modules
`model.gate.generations` and `model.gate.unaligned_generations` hold the steps of older generations. The
docstring of a switch states the behaviour if the switch is true, and after *Else* the behaviour if it is
false.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Profile:
    """The switches of one generation. There is one object for each generation, which all states share."""

    name: str
    """The name in the adapter protocol. It names the first release of the generation, with one exception.

    `flink-1.14.0` is 1.14. `flink-1.14` is 1.15 and later, because their aligned gates behave as in 1.14.
    """
    releases: str
    """The releases of the generation."""

    # ------------------------------------------------------------ alignment at one gate

    ends_count: bool = True
    """Checkpoints after tasks finish are enabled by default: an ended channel counts as aligned.

    Flink has this option from 1.14 on. In Flink its default is false in 1.14, and true from 1.15 on.
    """
    stores_blocked: bool = False
    """The gate stores the items of a blocked channel. Else the network holds these items back."""
    resumes_late: bool = True
    """A late barrier resumes its channel, because its sender has stopped. Else no sender stops."""
    triggers_first: bool = True
    """At the last barrier the gate triggers the snapshot and then resumes channels. Else it resumes first."""
    releases_first: bool = True
    """If a newer barrier or an end aborts an alignment, the resumes come before the abort. Else after it."""
    repeats_count: bool = False
    """A repeated barrier of the pending checkpoint counts again, so the cut can become inconsistent."""
    repeats_fail: bool = False
    """If a channel repeats the barrier of the pending checkpoint, the gate throws an exception."""
    passes_alone: bool = False
    """A gate with a single channel triggers at the barrier and never blocks the channel."""
    cancels_twice: bool = False
    """A cancellation of a newer id aborts this id twice during an alignment, first with reason SUBSUMED."""

    # ------------------------------------------------------------ at-least-once tracking

    tracker_counts_ends: bool = True
    """The end of a channel counts for the tracked checkpoints, or aborts them. Else it has no effect."""
    tracker_awaits_ended: bool = False
    """A new checkpoint awaits a barrier of every channel, also of ended ones. Else only of open channels."""
    tracker_counts_repeats: bool = False
    """The tracker counts barriers, so a repeated barrier counts again. Else each channel counts once."""

    # ------------------------------------------------------------ unaligned checkpoints

    has_unaligned: bool = True
    """The modes unaligned and alternating exist. Else the generation has no unaligned checkpoints."""
    has_announcements: bool = True
    """A channel may announce a barrier before the gate reads it. Else there are no announcements."""

    times_from_first: bool = False
    """The time-out counts from the first barrier or announcement. Else from the checkpoint's timestamp."""
    first_decides: bool = False
    """The first barrier decides whether its checkpoint aligns. Else any mix of barriers is legal.

    If the first barrier decides, the gate refuses later barriers that contradict it. There are no
    announcements and no time-outs, and barriers that overtake never block. After a checkpoint the gate keeps
    its phase, aligned or overtaking, until the first barrier of the next checkpoint.
    """
    savepoints_overtake: bool = False
    """The alignment of a savepoint may continue unaligned, as that of a checkpoint. Else the gate fails."""
    type_decides: bool = False
    """If the first barrier decides: a savepoint aligns, and the barriers of any other checkpoint overtake.

    Else the options of the first barrier decide.
    """
    reports_stop: bool = True
    """The gate emits an effect when it stops persisting in-flight data. Else it emits none."""
    whole_stays_pending: bool = False
    """A checkpoint whose barriers have all overtaken stays pending. Else it ends at its last barrier.

    While the checkpoint is pending, an end, a cancellation or a savepoint still aborts it.
    """
    network_starts: bool = False
    """In mode unaligned a checkpoint may start when the network thread receives a barrier.

    Else a barrier has an effect only when the task reads it.
    """
    overtaking_counts_repeats: bool = False
    """The gate counts overtaking barriers, so a repeated one counts again. Else each channel counts once."""

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str | tuple[object, ...]:
        """Unpickling returns the existing profile of this name, also in another process."""
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
            tracker_counts_ends=False,
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
            has_announcements=False,
            first_decides=True,
            type_decides=True,
            reports_stop=False,
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
        Profile("flink-1.14.0", "1.14", savepoints_overtake=True),
        Profile("flink-1.14", "1.15 to 2.3"),
    )
}
"""Maps the name of each profile to the profile, oldest first."""

NEWEST = PROFILES["flink-1.14"]
