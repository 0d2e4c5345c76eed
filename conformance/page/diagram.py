"""The words of a space-time diagram: lines that run through the steps, and what happens on them.

Steps count from 1 and run from left to right; a lane is a channel, a task, a checkpoint or a transaction.
What model and implementation do alike is BOTH's, what only one of them does is MODEL's or IMPLEMENTATION's.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

BOTH, MODEL, IMPLEMENTATION = "both", "model", "implementation"

LOOKS: Mapping[str, str] = MappingProxyType(
    {
        "barrier": "a barrier, with its checkpoint",
        "late": "a barrier that does not count",
        "announce": "a barrier is announced",
        "cancel": "a cancellation marker",
        "end": "the end of a channel",
        "record": "a record, with its value",
        "request": "something is asked for",
        "time": "time passes",
        "trigger": "a snapshot is triggered",
        "snapshot": "a snapshot is taken",
        "written": "a snapshot is written",
        "acknowledge": "an acknowledgement",
        "decline": "something is declined or rejected",
        "restore": "a checkpoint is restored",
        "complete": "a checkpoint is complete",
        "abort": "an abort",
        "discard": "a checkpoint is discarded",
        "pre-commit": "a transaction is pre-committed",
        "commit": "a transaction is committed",
        "store": "records are stored with a checkpoint",
        "block": "a channel is blocked",
        "resume": "a channel goes on",
        "fail": "a failure",
        "status": "a status is reported",
        "said": "something else is said",
    }
)
"""How marks and arrows look, and what each means."""

BANDS: Mapping[str, str] = MappingProxyType(
    {
        "blocked": "blocked",
        "persisting": "records are stored",
        "pending": "a checkpoint is pending",
        "awaited": "an acknowledgement is awaited",
        "writing": "a snapshot is being written",
        "retained": "retained",
        "open": "a transaction is open",
        "pre-committed": "pre-committed",
        "committed": "committed",
        "held": "remembered",
        "stopped": "stands still",
    }
)
"""How intervals look, and what each means."""


class Mark(NamedTuple):
    """Something happens on one lane."""

    step: int
    lane: str
    look: str
    label: str
    """What stands beside it: a checkpoint, a value; may be empty."""
    told: str
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
    told: str
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
    told: str
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
    """From top to bottom."""
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
        """Those of marks and arrows, and those of bands, that a legend has to explain."""
        seen = {mark.look for mark in self.marks}
        return (
            tuple(look for look in LOOKS if look in seen),
            tuple(look for look in BANDS if look in {band.look for band in self.bands}),
        )
