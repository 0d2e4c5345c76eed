"""The bounds of the ints in closed models. `model.checker.compiled.packing` packs states by them.

The search checks the declared bounds. If a move leads to a value outside the bounds, the search ends with an
error that names the field.
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
    """The intervals of the ints of a closed model that vary from state to state."""

    intervals: Mapping[str, Interval]
    """By the name of a field. The longer name `pending.checkpoint` takes precedence over `checkpoint`.

    An element of a tuple has the name of the tuple. The state of the environment is named `environment`.
    """
    pinned: frozenset[str] = frozenset()
    """Fields that are never symbols, because the model needs their value. Each value makes another shape."""

    def of(self, names: tuple[str, ...]) -> tuple[str, Interval] | None:
        """The declared bounds of a field. `names`: the parts of its dotted name.

        Returns the longest end of the name that has bounds, with its interval. None if no end has bounds.
        """
        for start in range(len(names)):
            known = ".".join(names[start:])
            if known in self.intervals:
                return known, self.intervals[known]
        return None


class Symmetry(NamedTuple):
    """Channels or tasks that the model treats alike. The search uses a symmetry only after its proof."""

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
    """The symmetry of the tasks of `closed_coordinator`, except task 0: only it fails and restarts."""
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
