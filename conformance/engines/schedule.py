"""Draws the faults of a round by a seed; all engines get the same faults.

A fault is due when a given number of records was fed, and the engine has processed records since the last
fault.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from importlib.resources import files
from random import Random
from typing import Any

RECORDS = 10_000
"""The number of records of a round."""
FAULTS = 4
"""The number of faults of a round."""
SPACING = 1_000
"""The minimum number of records between two faults."""
_MOST_DELAY, _LEAST_LENGTH, _MOST_LENGTH = 400, 200, 1_600


class Kind(Enum):
    """The kinds of faults; `faults.toml` has a sentence on each."""

    KILL_WORKER = "kill-worker"
    KILL_COORDINATOR = "kill-coordinator"
    FREEZE = "freeze"
    LONG_FREEZE = "long-freeze"
    NO_FOLDER = "no-folder"
    DISK_FULL = "disk-full"
    STOP = "stop"
    RESCALE = "rescale"
    KILL_WHILE_STOPPING = "kill-while-stopping"
    READ_ONLY = "read-only"
    NO_SPACE = "no-space"
    CHECKPOINT_TIMEOUT = "checkpoint-timeout"
    DECLINE = "decline"

    @property
    def sentence(self) -> str:
        """The meaning of the kind, in one sentence."""
        return str(KINDS[self]["sentence"])

    @property
    def shows(self) -> str | None:
        """A regular expression: lines of the engine's log that show the effect; None: not checked."""
        return KINDS[self].get("shows")

    def among(self, possible: frozenset["Kind"]) -> "Kind":
        """This kind, or its replacement for an engine that has only the `possible` kinds."""
        return self if self in possible else Kind(KINDS[self]["instead"]).among(possible)


KINDS: Mapping[Kind, Mapping[str, Any]] = {
    Kind(name): row
    for name, row in tomllib.loads(
        files("conformance.engines").joinpath("faults.toml").read_text(encoding="utf-8")
    ).items()
}


@dataclass(frozen=True)
class Fault:
    """One fault. `delay` and `length` are in milliseconds. `target` chooses a process or a parallelism."""

    point: int
    """The number of fed records at which the fault is due."""
    delay: int
    """The time from that point until the fault occurs."""
    kind: Kind
    length: int
    """The duration, if faults of this kind have one."""
    target: int

    def as_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return {**asdict(self), "kind": self.kind.value}


def faults_of(
    seed: int, round_number: int, faults: int = FAULTS, records: int = RECORDS, kinds: Sequence[Kind] = ()
) -> tuple[Fault, ...]:
    """The faults of a round, in the order of their points.

    If `kinds` is given, each of them is equally likely, and all values differ from those without `kinds`.
    Raises ValueError if there are too few records for so many faults.
    """
    free = records - SPACING * (faults + 1)
    if free < 0:
        raise ValueError(
            f"expected at least {SPACING * (faults + 1):,} records for {faults} faults, got {records:,}"
        )
    draw = Random("/".join(map(str, (seed, round_number, *(one.value for one in kinds)))))
    extra = sorted(draw.randint(0, free) for _ in range(faults))
    weights = [1] * len(kinds) or [row["weight"] for row in KINDS.values()]
    drawn = draw.choices(kinds or list(KINDS), weights, k=faults)
    return tuple(
        Fault(
            SPACING * (number + 1) + extra[number],
            draw.randint(0, _MOST_DELAY),
            kind,
            draw.randint(_LEAST_LENGTH, _MOST_LENGTH),
            draw.randrange(1 << 16),
        )
        for number, kind in enumerate(drawn)
    )
