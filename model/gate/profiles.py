"""The generations of the gate: one protocol, and the named switches in which the releases differ.

A profile is a set of switches. The properties check the steps against these switches. The modules
`model.gate.generations` and `model.gate.unaligned_generations` hold the steps of older generations. The
docstring of a switch states the behaviour if the switch is true, and after *Else* the behaviour if it is not.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Profile:
    """The switches of one generation. Each profile is a single object, to which states refer."""

    name: str
    """The name on the wire: the first release of the generation.

    `flink-1.14` is the newest one, although its unaligned modes begin with 1.15. `flink-1.14.0` is 1.14.
    """
    releases: str
    """The releases that behave alike."""

    # ------------------------------------------------------------ alignment at one gate

    ends_count: bool = True
    """Checkpoints after tasks finish are enabled if the configuration does not name them.

    An ended channel then counts as aligned. Flink has this option from 1.14 on. Its own default is off in
    1.14, and on from 1.15 on.
    """
    stores_blocked: bool = False
    """The gate stores the items of a blocked channel. Else the network holds these items back."""
    resumes_late: bool = True
    """A late barrier resumes its channel, because its sender has stopped. Else senders do not stop."""
    triggers_first: bool = True
    """At completion the gate triggers the snapshot before it resumes the channels. Else it resumes first."""
    releases_first: bool = True
    """If a newer barrier or an end aborts an alignment, its channels resume first. Else they resume last."""
    repeats_count: bool = False
    """A repeated barrier of the pending checkpoint counts again, which makes the cut inconsistent."""
    repeats_fail: bool = False
    """The gate refuses a repeated barrier of the pending checkpoint on one channel with an exception."""
    passes_alone: bool = False
    """A gate with a single channel triggers at its barrier and never blocks the channel."""
    cancels_twice: bool = False
    """A newer cancellation during an alignment aborts its own id twice. The first reason is subsumed."""

    # ------------------------------------------------------------ at-least-once tracking

    tracker_counts_ends: bool = True
    """An ended channel counts for the tracked checkpoints, or aborts them. Else the tracker ignores ends."""
    tracker_awaits_ended: bool = False
    """A new checkpoint needs a barrier of every channel. Else it needs a barrier of each open channel."""
    tracker_counts_repeats: bool = False
    """The tracker counts barriers, so a repeated barrier counts again. Else it keeps the set of channels."""

    # ------------------------------------------------------------ unaligned checkpoints

    has_unaligned: bool = True
    """The modes unaligned and alternating exist. Else the generation has no unaligned checkpoints."""
    has_announcements: bool = True
    """A channel may announce a barrier that it still holds. Else there are no announcements."""

    times_from_first: bool = False
    """The time-out runs from the first barrier or announcement. Else it runs from the timestamp."""
    first_decides: bool = False
    """The first barrier decides whether its checkpoint aligns. Else any mix of barriers is legal.

    If the first barrier decides, the gate refuses a barrier that disagrees. There are no announcements and no
    time-outs, and barriers that overtake never block. A gate keeps the phase of its last checkpoint until the
    next first barrier.
    """
    savepoints_overtake: bool = False
    """The gate may end the alignment of a savepoint early, as for a checkpoint. Else it refuses to."""
    type_decides: bool = False
    """With `first_decides`: a savepoint aligns, and any other checkpoint overtakes.

    Else the options of the barrier decide.
    """
    reports_stop: bool = True
    """The gate emits an effect when it stops persisting. Else persisting stops without an effect."""
    whole_stays_pending: bool = False
    """A checkpoint whose barriers have all overtaken stays pending. Else it ends with its last barrier.

    While it is pending, an end, a cancellation or a savepoint still aborts it.
    """
    network_starts: bool = False
    """In mode unaligned the network thread reports each received barrier, which may start the checkpoint.

    Else a barrier has an effect only when the task reads it.
    """
    overtaking_counts_repeats: bool = False
    """The gate counts overtaking barriers, so a repeated one counts again. Else a channel counts once."""

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str | tuple[object, ...]:
        """Unpickles to the one object of that name, also in another process."""
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
"""By name, oldest first."""

NEWEST = PROFILES["flink-1.14"]
