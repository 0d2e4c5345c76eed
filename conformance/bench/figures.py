"""What a measurement of the runtime answers: figures with their bars, where and how they were measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from conformance import machine

FOLDER = "bench"
"""Under `report/`: one file for each measurement."""


@dataclass(frozen=True)
class Figure:
    """One quantity, measured several times; its median is what counts.

    `bar`: what it has to reach, or with `at_most` must not exceed; None: told without a bar.
    """

    what: str
    unit: str
    samples: Sequence[float]
    bar: float | None = None
    at_most: bool = False
    told: str = ""
    """What a reader should know of it."""

    @property
    def value(self) -> float:
        """The median."""
        return median(self.samples)

    @property
    def met(self) -> bool | None:
        """Whether the median is on the right side of the bar; None without one."""
        if self.bar is None:
            return None
        return self.value <= self.bar if self.at_most else self.value >= self.bar

    def as_json(self) -> dict[str, Any]:
        """The figure, for machines."""
        return {
            "what": self.what,
            "unit": self.unit,
            "median": round(self.value, 4),
            "least": round(min(self.samples), 4),
            "greatest": round(max(self.samples), 4),
            "times": len(self.samples),
            "samples": [round(one, 4) for one in self.samples],
            "bar": self.bar,
            "at_most": self.at_most,
            "met": self.met,
            "told": self.told,
        }


@dataclass(frozen=True)
class Report:
    """One measurement: what was run, and what came of it. `series`: by name, points for a picture."""

    name: str
    title: str
    setting: str
    figures: Sequence[Figure]
    series: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def write(self, folder: Path, command: str) -> Path:
        """Write it with the facts of the machine, the commit and the command that does it again."""
        load = machine.load()
        made = {
            "name": self.name,
            "title": self.title,
            "setting": self.setting,
            "command": command,
            "commit": machine.source(),
            "machine": {**machine.machine()._asdict(), "load": None if load is None else round(load, 1)},
            "figures": [one.as_json() for one in self.figures],
            "series": self.series,
        }
        file = folder / "report" / FOLDER / f"{self.name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        return file


_ONE_TAIL = 0.025


def interval(samples: Sequence[float]) -> tuple[float, float]:
    """Between which samples the median lies with a confidence of 95 %, whatever their distribution is.

    Of fewer than six samples these are the least and the greatest, with less confidence.
    """
    ordered = sorted(samples)
    times = len(ordered)
    cut, below = 0, 0.5**times  # the chance that no sample, or at most `cut`, lie below the median
    while below + comb(times, cut + 1) * 0.5**times <= _ONE_TAIL:
        cut += 1
        below += comb(times, cut) * 0.5**times
    return ordered[cut], ordered[-1 - cut]
