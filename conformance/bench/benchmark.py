"""Measures rates of the suite: repeats work, and counts its units each second."""

from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from conformance.bench.figures import Figure

REPEATED = 5
ENOUGH_SECONDS = 60.0
"""The repetitions of work end when its runs have taken this time together, in seconds."""


class Run(NamedTuple):
    """One run of the work."""

    amount: int
    """The number of units of work."""
    seconds: float
    own_seconds: float | None
    """Processor time of this process; None if another process does the work."""


class MeasurementError(RuntimeError):
    """The work was not done as expected, so there is no figure."""


class Benchmark(NamedTuple):
    """Work to measure. `target`: the rate to reach, or None. `setting`: the work in words."""

    name: str
    unit: str
    target: int | None
    setting: str
    work: Callable[[], Run]

    def measure(self, repeated: int = REPEATED) -> Figure:
        """Run the work up to `repeated` times. Returns its rate in units a second.

        The note of the figure has the rate by processor time, on which other programs of the machine have
        less influence. Raises MeasurementError if the amount of work differs from run to run.
        """
        runs: list[Run] = []
        while len(runs) < repeated and sum(run.seconds for run in runs) < ENOUGH_SECONDS:
            runs.append(self.work())
        amounts = {run.amount for run in runs}
        if len(amounts) != 1:
            raise MeasurementError(f"{self.name}: expected the same work each time, got {sorted(amounts)}")
        own = [run.amount / run.own_seconds for run in runs if run.own_seconds]
        note = f"{len(runs)} run{'s' * (len(runs) > 1)} of {amounts.pop():,}: {self.setting}"
        note += f"; {median(own):,.0f} a second of processor time" if own else ""
        return Figure(
            self.name, self.unit, [run.amount / run.seconds for run in runs], self.target, note=note
        )
