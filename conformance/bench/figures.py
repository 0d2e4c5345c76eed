"""Figures: quantities measured several times, with their targets, and the report of a measurement."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import comb
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import orjson

from conformance import machine

FOLDER = Path("report", "bench")
"""The folder of the raw data in the build folder, with one JSON file for each measurement."""
FEWEST = 6
"""With fewer samples, no interval contains the median with a confidence of 95 %."""
_ONE_TAIL = 0.025
Points = list[tuple[float, float]]


class Summary(NamedTuple):
    """A figure as it is printed and published: its median with an interval, instead of its samples."""

    name: str
    unit: str
    median: float
    low: float
    high: float
    times: int
    """The number of samples."""
    note: str = ""
    target: float | None = None
    """The median must be at least this, or with `at_most` at most this; None: there is no target."""
    at_most: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the median meets the target; None if there is none."""
        if self.target is None:
            return None
        return self.median <= self.target if self.at_most else self.median >= self.target

    def cells(self) -> tuple[str, str, str, str, str]:
        """The row of a table: name, median, interval, target, and whether the median meets it."""
        few = f", all {self.times}" if self.times < FEWEST else ""
        span = "once" if self.times == 1 else f"{number(self.low)} to {number(self.high)}{few}"
        target = (
            ""
            if self.target is None
            else f"{'at most' if self.at_most else 'at least'} {number(self.target)}"
        )
        met = {True: "met", False: "MISSED", None: ""}[self.met]
        return self.name, f"{number(self.median)} {self.unit}", span, target, met


@dataclass(frozen=True)
class Figure:
    """One quantity with all its samples. `target` and `at_most`: as in `Summary`."""

    name: str
    unit: str
    samples: Sequence[float]
    target: float | None = None
    at_most: bool = False
    note: str = ""

    def summary(self) -> Summary:
        """The figure without its samples."""
        low, high = interval(self.samples)
        middle, low, high = (float(f"{value:.5g}") for value in (median(self.samples), low, high))
        times = len(self.samples)
        return Summary(self.name, self.unit, middle, low, high, times, self.note, self.target, self.at_most)


@dataclass(frozen=True)
class Report:
    """The result of a measurement. `setting`: how it was made. `series`: plotted points. `raw`: more data."""

    name: str
    title: str
    setting: str
    figures: Sequence[Figure]
    series: Mapping[str, Points] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict)

    def write(self, build: Path, command: str) -> Path:
        """Write every sample, the machine, the commit and the command that repeats it. Returns the file."""
        load = machine.load()
        busy = "" if load is None else f"; load at the end {load:.1f}"
        place = {"commit": machine.source(), "machine": machine.machine().describe() + busy}
        file = build / FOLDER / f"{self.name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        file.write_bytes(orjson.dumps({**asdict(self), "command": command, **place}, option=options))
        return file


def interval(samples: Sequence[float]) -> tuple[float, float]:
    """Two samples between which the median lies with a confidence of 95 %, for any distribution.

    With fewer than six samples, these are the smallest and the largest one, with less confidence.
    """
    ordered = sorted(samples)
    times = len(ordered)
    cut, below = 0, 0.5**times  # the chance that no sample, or at most `cut`, lie below the median
    while below + comb(times, cut + 1) * 0.5**times <= _ONE_TAIL:
        cut += 1
        below += comb(times, cut) * 0.5**times
    return ordered[cut], ordered[-1 - cut]


def number(value: float) -> str:
    """The value as text: without decimals from 100 on, with one from 10 on, else with two."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
