"""The symbolic cases of the tracker, by shape (see `model.checker.shapes`).

The maximum number of tracked checkpoints is 50 in the protocol, and a parameter of a case. The proofs use 2
to 4. The label of a case states the number.
"""

from collections.abc import Iterator
from typing import Any

import z3

from model.checker.prove import Case
from model.checker.symbolic import bool_term, int_term, symbolic_like
from model.gate.events import Barrier, Cancel, EndOfPartition, Record
from model.gate.profiles import NEWEST, PROFILES, Profile
from model.gate.tracking import Tracked, Tracker, new_tracker
from model.steps import step_of


def tracker_cases(
    channels: int,
    tracked: int,
    tracked_at_most: int,
    *,
    counts_as_aligned: bool = True,
    profile: Profile = NEWEST,
) -> Iterator[Case]:
    """Yields every permitted event at a tracker with these numbers of channels and tracked checkpoints."""
    entry = Tracked(0, (0,) * channels, 0, False)
    shape = new_tracker(channels, counts_as_aligned, profile)._replace(tracked=(entry,) * tracked)
    state: Tracker = symbolic_like(shape, "tracker")._replace(
        counts_as_aligned=counts_as_aligned, tracked_at_most=tracked_at_most, profile=profile
    )
    for channel in range(channels):
        arriving = symbolic_like(0, "event.checkpoint")
        events: tuple[Any, ...] = (
            Record(channel, symbolic_like(0, "event.value")),
            Barrier(channel, arriving),
            Cancel(channel, arriving),
            EndOfPartition(channel),
        )
        for event in events:
            yield Case(
                "tracker",
                f"{channels} channels, {tracked} of at most {tracked_at_most} tracked, {event.kind} on "
                f"{channel}, {profile.name}, " + ("ends count" if counts_as_aligned else "ends abort"),
                state,
                event,
                step_of("tracker"),
                _is_open(state, channel, event),
            )


def _is_open(tracker: Tracker, channel: int, event: Any) -> tuple[z3.BoolRef, ...]:  # noqa: ANN401 - an Item
    """The assumptions about an event: its channel is open, and its id is not negative."""
    opened = z3.Not(bool_term(tracker.closed[channel]))
    if type(event) is Barrier or type(event) is Cancel:
        return (opened, int_term(event.checkpoint) >= 0)
    return (opened,)


def all_tracker_cases(channels: int = 3) -> Iterator[Case]:
    """All cases of the published proofs: at most 2 to 4 tracked checkpoints, in each different generation."""
    for tracked in (0, 1, 2):
        yield from tracker_cases(2, tracked, 2)
        yield from tracker_cases(2, tracked, 2, counts_as_aligned=False)
        for name in ("flink-1.7", "flink-1.9", "flink-1.11", "flink-1.12", "flink-1.13"):
            yield from tracker_cases(2, tracked, 2, counts_as_aligned=False, profile=PROFILES[name])
    yield from tracker_cases(1, 0, 2)
    yield from tracker_cases(2, 4, 4)
    if channels > 2:
        yield from tracker_cases(3, 2, 3)
        yield from tracker_cases(3, 3, 3)
