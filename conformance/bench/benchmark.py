"""Rates of the suite: work that is repeated, and measured as units a second."""

from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from conformance.bench.figures import Figure

REPEATED = 5
ENOUGH_SECONDS = 60.0
"""Work that has taken so long is not repeated further."""


class Run(NamedTuple):
    """The work, done once."""

    amount: int
    """The number of units of work."""
    seconds: float
    own_seconds: float | None
    """Processor time of this process; None where another process does the work."""


class MeasurementError(RuntimeError):
    """The work was not done as expected, so that there is no figure."""


class Benchmark(NamedTuple):
    """Work to measure. `target`: the rate to reach; None without one. `setting`: the work, in words."""

    name: str
    unit: str
    target: int | None
    setting: str
    work: Callable[[], Run]

    def measure(self, repeated: int = REPEATED) -> Figure:
        """The rate. Raises MeasurementError if the work differs from run to run.

        Where other programs use the processors, the rate by processor time, in the note, says what the
        rate would be without them.
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
