"""The elements of a space-time diagram: lanes that run through the steps, and what happens on them.

Steps count from 1 and run from left to right; a lane is a channel, a task, a checkpoint or a transaction.
The `side` of what model and implementation do alike is BOTH; of what only one of them does it is MODEL or
IMPLEMENTATION.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from conformance.diagram.lanes import BANDS, LOOKS

BOTH, MODEL, IMPLEMENTATION = "both", "model", "implementation"


class Mark(NamedTuple):
    """Something happens on one lane."""

    step: int
    lane: str
    look: str
    label: str
    """What stands beside it: a checkpoint, a value; may be empty."""
    text: str
    """The event or effect in words."""
    side: str = BOTH
    slot: int = 0
    """Its place within the step, from 0."""
    checkpoint: int | None = None
    """It decides the colour."""


class Arrow(NamedTuple):
    """A message from one lane to another, within a step or from an earlier one; a mark stands at its end."""

    start: tuple[int, str]
    end: tuple[int, str]
    text: str
    side: str = BOTH
    slot: int = 0
    """Its place within the step in which it ends."""
    checkpoint: int | None = None


class Band(NamedTuple):
    """A lane is in a condition from a step on, up to another; after the last one, to the edge."""

    lane: str
    look: str
    begins: int
    ends: int
    text: str
    side: str = BOTH


class Front(NamedTuple):
    """One checkpoint's barriers over the channels, and where that led."""

    checkpoint: int
    points: tuple[tuple[int, str], ...]
    """Steps and lanes, in the order of the lanes; the outcome last, if there was one."""
    is_done: bool
    """It ended in a trigger."""


class Diagram(NamedTuple):
    """What one case looks like."""

    steps: int
    lanes: tuple[str, ...]
    """The names of the lanes, from top to bottom."""
    marks: tuple[Mark, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    bands: tuple[Band, ...] = ()
    fronts: tuple[Front, ...] = ()
    closed: Mapping[str, int] = MappingProxyType({})
    """Lanes that end, and at which step."""
    wrong: int | None = None
    """The step at which model and implementation part."""
    hues: Mapping[int, int] = MappingProxyType({})
    """The colour of each checkpoint, as a number from 0."""

    def looks(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The looks of marks and arrows, and those of bands, that a legend has to explain."""
        seen = {mark.look for mark in self.marks}
        return (
            tuple(look for look in LOOKS if look in seen),
            tuple(look for look in BANDS if look in {band.look for band in self.bands}),
        )
