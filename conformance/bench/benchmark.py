"""Measurements of the suite's own rates: what is measured, how often, and what came of it."""

from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

REPEATED = 5


ENOUGH_SECONDS = 60.0
"""A measurement that took so long is not repeated further; its row says how often it was."""


class Run(NamedTuple):
    """The work, done once."""

    amount: int
    """How many of its unit."""
    seconds: float
    own_seconds: float | None
    """Processor time of this process; None where another process does the work."""


Work = Callable[[], Run]


class MeasurementError(RuntimeError):
    """What was to be measured did not do its work; no rate can be told."""


class Measured(NamedTuple):
    """One rate."""

    name: str
    unit: str
    bar: int | None
    """The rate that it has to reach; None if it is told for comparison only."""
    amount: int
    """How many units one run does."""
    rates: tuple[float, ...]
    """Units a second, a run each."""
    own_rates: tuple[float, ...]
    """Units a second of this process's processor time, a run each; empty where another does the work.

    Where other programs hold the processors, `rates` say how it went and these how it could have gone.
    """
    setting: str
    """What was run."""

    @property
    def rate(self) -> float:
        """The median."""
        return median(self.rates)

    @property
    def own_rate(self) -> float | None:
        """The median of the rates by processor time."""
        return median(self.own_rates) if self.own_rates else None

    @property
    def met(self) -> bool | None:
        """The median reaches the bar; None without a bar."""
        return None if self.bar is None else self.rate >= self.bar

    def as_json(self) -> dict[str, Any]:
        """The row, for machines."""
        return {
            **self._asdict(),
            "rates": [round(rate, 1) for rate in self.rates],
            "own_rates": [round(rate, 1) for rate in self.own_rates],
            "median": round(self.rate, 1),
            "met": self.met,
        }


class Benchmark(NamedTuple):
    """Something to measure: the fields as in `Measured`, and the work."""

    name: str
    unit: str
    bar: int | None
    setting: str
    work: Work

    def measure(self, repeated: int = REPEATED) -> Measured:
        """Do the work several times; raises MeasurementError if it does not do what it should."""
        runs: list[Run] = []
        while len(runs) < repeated and sum(run.seconds for run in runs) < ENOUGH_SECONDS:
            runs.append(self.work())
        amounts = {run.amount for run in runs}
        if len(amounts) != 1:
            raise MeasurementError(f"{self.name}: expected the same work each time, got {sorted(amounts)}")
        rates = tuple(run.amount / run.seconds for run in runs)
        own = tuple(run.amount / run.own_seconds for run in runs if run.own_seconds)
        return Measured(self.name, self.unit, self.bar, amounts.pop(), rates, own, self.setting)
