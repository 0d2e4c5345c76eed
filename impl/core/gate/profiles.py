"""Generations of the input gate: the switches in which the releases of Flink differ.

`PROFILES` maps each value of the option `profile` to the switches of a generation. The constructor of a gate
takes a profile. The gate reads a switch where the generations differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True)
class Profile:
    """The switches of one generation. The defaults are the switches of the newest generation.

    Each docstring states the behaviour with the switch, and after "else" the behaviour without it.
    """

    ends_count: bool = True
    """The option `checkpoints_after_tasks_finish` is on if it is left out; else it is off."""
    resumes_late: bool = True
    """A late barrier resumes its channel; else it has no effect (ALIGN-04)."""
    triggers_first: bool = True
    """A complete alignment triggers before it resumes its channels; else after (ALIGN-06)."""
    releases_first: bool = True
    """Subsumption and a channel's end resume the channels, then abort; else they abort first."""
    repeats_fail: bool = False
    """A repeated barrier of the pending checkpoint fails the task (ALIGN-20)."""
    repeats_count: bool = False
    """A repeated barrier of the pending checkpoint counts for one more channel (ALIGN-21)."""
    cancels_twice: bool = False
    """A marker that cancels a newer checkpoint than the pending one aborts the newer one twice.

    The first abort has the reason SUBSUMED.
    """
    has_unaligned: bool = True
    """The modes unaligned and alternating exist."""
    first_decides: bool = False
    """The first barrier decides whether its checkpoint aligns; there are no announcements and time-outs."""
    type_decides: bool = False
    """With `first_decides`: a savepoint aligns, any other checkpoint overtakes; else the options decide."""
    network_starts: bool = False
    """In mode unaligned the network thread reports each received barrier, which may start the checkpoint."""
    times_from_first: bool = False
    """The time-out counts from the first barrier or announcement; else from the barrier's timestamp."""
    savepoints_overtake: bool = False
    """A savepoint may become unaligned like a checkpoint; else the task fails instead (UNAL-21)."""
    passes_alone: bool = False
    """A gate with one channel triggers at its barrier and never blocks the channel (ALIGN-07)."""
    injects: bool = True
    """The coordinator may trigger a task with inputs if all its predecessors have finished (ALIGN-24)."""
    stores_blocked: bool = False
    """The gate stores the items of blocked channels; else the network holds them back (ALIGN-23)."""
    tracker_counts_repeats: bool = False
    """At-least-once: a repeated barrier counts again, and ended channels are awaited (TRACK-15, TRACK-16)."""
    tracker_counts_ends: bool = True
    """At-least-once: a channel's end counts or aborts a checkpoint; else it has no effect (TRACK-18)."""


_UP_TO_1_12: Final = Profile(
    ends_count=False, injects=False, triggers_first=False, repeats_fail=True, tracker_counts_repeats=True
)
_UP_TO_1_10: Final = replace(
    _UP_TO_1_12,
    resumes_late=False,
    releases_first=False,
    passes_alone=True,
    stores_blocked=True,
    has_unaligned=False,
)
NEWEST: Final = "flink-1.14"
PROFILES: Final[Mapping[str, Profile]] = {
    "flink-1.7": replace(_UP_TO_1_10, cancels_twice=True, tracker_counts_ends=False),
    "flink-1.9": _UP_TO_1_10,
    "flink-1.11": replace(
        _UP_TO_1_12,
        releases_first=False,
        passes_alone=True,
        first_decides=True,
        type_decides=True,
        network_starts=True,
    ),
    "flink-1.12": replace(_UP_TO_1_12, first_decides=True),
    "flink-1.13": Profile(
        ends_count=False,
        injects=False,
        repeats_count=True,
        times_from_first=True,
        savepoints_overtake=True,
        tracker_counts_repeats=True,
    ),
    "flink-1.14.0": Profile(savepoints_overtake=True),
    NEWEST: Profile(),
}
"""The switches of each generation, by its name on the wire, oldest first."""
