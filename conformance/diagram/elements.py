"""The elements of a space-time diagram: lanes, and the marks, arrows, bands and fronts on them.

Steps count from 1 and run from left to right. A lane is a channel, a task, a checkpoint or a transaction. The
`side` of an element: model and implementation have it (BOTH), or only one of them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from conformance.diagram.lanes import BANDS, LOOKS

BOTH, MODEL, IMPLEMENTATION = "both", "model", "implementation"


class Mark(NamedTuple):
    """An event or effect on one lane."""

    step: int
    lane: str
    look: str
    label: str
    """The text beside the mark, such as a checkpoint or a value; may be empty."""
    text: str
    """The event or effect in words."""
    side: str = BOTH
    slot: int = 0
    """The position of the mark within the step, from 0."""
    checkpoint: int | None = None
    """The checkpoint whose colour the mark has."""


class Arrow(NamedTuple):
    """A message from one lane to another, in the same step or a later one. It ends at a mark."""

    start: tuple[int, str]
    end: tuple[int, str]
    text: str
    side: str = BOTH
    slot: int = 0
    """The position of the arrow's end within the step."""
    checkpoint: int | None = None


class Band(NamedTuple):
    """A condition of a lane from the step `begins` up to the step `ends`.

    If `ends` is after the last step, the band reaches the edge of the diagram.
    """

    lane: str
    look: str
    begins: int
    ends: int
    text: str
    side: str = BOTH


class Front(NamedTuple):
    """A line that connects the barriers of one checkpoint on all channels, and its outcome."""

    checkpoint: int
    points: tuple[tuple[int, str], ...]
    """Steps and lanes, in the order of the lanes; then the outcome, if there is one."""
    is_done: bool
    """Whether the outcome is a trigger."""


class Diagram(NamedTuple):
    """The diagram of one case."""

    steps: int
    lanes: tuple[str, ...]
    """The names of the lanes, from top to bottom."""
    marks: tuple[Mark, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    bands: tuple[Band, ...] = ()
    fronts: tuple[Front, ...] = ()
    closed: Mapping[str, int] = MappingProxyType({})
    """The lanes that end, each with the step at which it ends."""
    wrong: int | None = None
    """The first step at which model and implementation differ."""
    hues: Mapping[int, int] = MappingProxyType({})
    """The colour of each checkpoint, as a number from 0."""

    def looks(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The looks of marks and arrows, and those of bands, that a legend has to explain."""
        seen = {mark.look for mark in self.marks}
        return (
            tuple(look for look in LOOKS if look in seen),
            tuple(look for look in BANDS if look in {band.look for band in self.bands}),
        )
