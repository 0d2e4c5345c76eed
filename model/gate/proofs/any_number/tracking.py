"""The tracker with any number of channels and a stated number of tracked checkpoints, in every generation."""

from collections.abc import Iterator
from typing import Any

import z3

from model.checker.any_number.cases import RopeCase, start_case, step_by
from model.checker.any_number.recompiled_model import Reread
from model.checker.symbolic import symbolic_like
from model.gate.events import Barrier, Cancel, EndOfPartition, Record
from model.gate.profiles import NEWEST, PROFILES, Profile
from model.gate.proofs.any_number.aligned import is_permitted
from model.gate.proofs.any_number.channels import OWN, SIZES, by_channel, number_of

TRACKED_AT_MOST = 2
"""The bound on tracked checkpoints in these proofs. The bound of the protocol is 50."""


def symbolic_tracker(reread: Reread, profile: Profile, tracked: int, *, counts_as_aligned: bool) -> Any:  # noqa: ANN401 - a Tracker of the reread module
    """A tracker in any state with `tracked` tracked checkpoints."""
    tracking = reread.module("model.gate.tracking")
    entries = tuple(
        symbolic_like(tracking.Tracked(0, (), 0, False), f"tracked.{place}")._replace(
            counted=by_channel(f"counted.{place}", own=True, is_bool=False)
        )
        for place in range(tracked)
    )
    tracker = symbolic_like(tracking.new_tracker(0, True), "tracker")
    return tracker._replace(
        tracked=entries,
        closed=by_channel("closed", own=True),
        counts_as_aligned=counts_as_aligned,
        tracked_at_most=TRACKED_AT_MOST,
        profile=profile,
    )


def tracker_cases(
    reread: Reread, profile: Profile = NEWEST, *, counts_as_aligned: bool = True
) -> Iterator[RopeCase]:
    """Yields a new tracker, and every item at a tracker in any state."""
    properties = tuple(reread.module("model.gate.properties.tracking").TRACKER.properties)
    step = step_by(reread.module("model.gate.generations").tracking_steps)
    channels = number_of(by_channel("closed", own=True))
    new = reread.module("model.gate.tracking").new_tracker
    started = new(channels, counts_as_aligned, profile, TRACKED_AT_MOST)
    yield start_case("tracker", started, properties, SIZES)
    checkpoint = symbolic_like(0, "event.checkpoint")
    ends = "ends count" if counts_as_aligned else "ends abort"
    for tracked in range(TRACKED_AT_MOST + 1):
        tracker = symbolic_tracker(reread, profile, tracked, counts_as_aligned=counts_as_aligned)
        for event in (
            Record(OWN, symbolic_like(0, "event.value")),
            Barrier(OWN, checkpoint),
            Cancel(OWN, checkpoint),
            EndOfPartition(OWN),
        ):
            assumptions: tuple[z3.BoolRef, ...] = (*SIZES, *is_permitted(tracker, event))
            label = f"{profile.name}, {ends}, {tracked} tracked, {event.kind}"
            yield RopeCase("tracker", label, tracker, event, step, properties, assumptions)


def all_tracker_cases(reread: Reread) -> Iterator[RopeCase]:
    """The tracker in every generation."""
    for profile in PROFILES.values():
        for counts in (True, False) if profile.ends_count else (False,):
            yield from tracker_cases(reread, profile, counts_as_aligned=counts)
