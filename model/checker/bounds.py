"""The bounds of the ints in closed models, from which `model.checker.compiled.packing` packs states.

The search checks declared bounds. A move to a value outside the bounds ends the search with an error that
names the field.
"""

from collections.abc import Mapping
from typing import NamedTuple

from model.checker.closed_model import ClosedModel
from model.coordinator.environment.whole_coordinator import closed_coordinator
from model.gate.environment.aligned import closed_gate
from model.gate.profiles import NEWEST, Profile
from model.store.store import CHECKPOINT, SAVEPOINT

Interval = tuple[int, int]
"""The lowest and the highest value, both included."""


class FieldBounds(NamedTuple):
    """The intervals of the ints that vary."""

    intervals: Mapping[str, Interval]
    """By the name of a field; `pending.checkpoint` takes precedence over `checkpoint`.

    The elements of a tuple have its name; the state of the environment has the name `environment`.
    """
    pinned: frozenset[str] = frozenset()
    """Fields whose value belongs to the shape, because the model needs it as a number."""

    def of(self, names: tuple[str, ...]) -> tuple[str, Interval] | None:
        """The longest declared ending of a dotted name with its interval, or None."""
        for start in range(len(names)):
            known = ".".join(names[start:])
            if known in self.intervals:
                return known, self.intervals[known]
        return None


class Symmetry(NamedTuple):
    """Elements that may be permuted without a difference. The search uses a symmetry only after its proof."""

    names: tuple[str, ...]
    """Fields that have one element for each channel or task. This may include `environment`."""
    size: int
    """Number of elements that may be permuted."""
    event_field: str = "channel"
    """The field of events that names one of these elements."""
    first: int = 0
    """The position of the first of these elements."""


class Bounded(NamedTuple):
    """A closed model with the bounds of its ints."""

    closed: ClosedModel
    bounds: FieldBounds


def bounded_gate(
    channels: int,
    ids: int,
    *,
    counts_as_aligned: bool = True,
    polled: bool = True,
    profile: Profile = NEWEST,
    injects: bool = False,
) -> Bounded:
    """`closed_gate` with its bounds. `repeats` is at most the number of channels."""
    closed = closed_gate(
        channels, ids, counts_as_aligned=counts_as_aligned, polled=polled, profile=profile, injects=injects
    )
    id_or_none = (-1, ids)
    return Bounded(
        closed,
        FieldBounds(
            {"current": id_or_none, "repeats": (0, channels), "checkpoint": (1, ids), "environment": (0, ids)}
        ),
    )


def channels_of_gate(channels: int) -> Symmetry:
    """The symmetry of the channels of `closed_gate`."""
    return Symmetry(("blocked", "closed", "environment"), channels)


def tasks_of_coordinator(tasks: int) -> Symmetry:
    """The symmetry of the tasks of `closed_coordinator`, without the source: only it fails and restarts."""
    of_tasks = ("tasks_run", "tasks_finished", "tasks_reached", "awaited", "unreported")
    of_pending = ("tasks", "acknowledged", "states")
    return Symmetry(("sources", *of_tasks, *of_pending), tasks - 1, "task", first=1)


def bounded_coordinator(tasks: int, ids: int, *, max_concurrent: int = 1, retain: int = 1) -> Bounded:
    """`closed_coordinator` with its bounds: time ends at 2 ms, a checkpoint expires 2 ms after its start."""
    id_or_none = (-1, ids)
    return Bounded(
        closed_coordinator(tasks, ids, max_concurrent=max_concurrent, retain=retain),
        FieldBounds(
            {
                "now": (0, 2),
                "deadline": (0, 4),
                "next_id": (1, ids + 1),
                "checkpoint": (1, ids),
                "master": id_or_none,
                "states": (0, 1),
                "type": (CHECKPOINT, SAVEPOINT),
            }
        ),
    )
