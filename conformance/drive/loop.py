"""The only loop that drives an implementation. It plays cases from any source, each with a new instance.

Every command that compares an implementation with the model plays its cases here. The commands differ in the
source of the cases (`conformance.cases`) and in the `Limits`.
"""

from collections.abc import Callable, Iterable
from math import inf
from typing import NamedTuple

from conformance.adapters.protocol import Adapter, Unsupported
from conformance.divergence import Divergence
from conformance.drive.crashes import Crashes
from conformance.drive.lockstep import Case, Played, play


class Limits(NamedTuple):
    """The limits of one loop over cases."""

    batch: int = 1
    """The number of events in one request."""
    may_go_on: Callable[[], bool] = lambda: True
    """Called before each case; false ends the loop, because the budget has ended."""
    is_known: Callable[[Divergence], bool] = lambda _: False
    """Whether a divergence is known. A known divergence ends its case, but not the loop."""
    crashes: Crashes | None = None
    """Known crashes, before which cases are cut; None: no crash is known."""
    cases: float = inf
    """The loop ends after this many cases, but not before `steps`."""
    stops: int = 2
    """The loop ends after this many cases that hung or could not begin: each may take a whole time limit."""
    steps: int = 0
    """The number of events to play before `cases` may end the loop."""


NO_LIMITS = Limits()


def drive(
    cases: Iterable[Case | None], adapter: Adapter, limits: Limits = NO_LIMITS, total: Played | None = None
) -> Played:
    """Play the cases until one diverges, too many are stopped, or none is left. Returns all outcomes.

    A None in `cases` stands for a case that is left out: it counts for `limits.cases`, but is not played. The
    same holds for a case at a bound that the implementation has declined. Outcomes are added to `total`.
    """
    total = Played() if total is None else total
    begun = total.steps
    for number, case in () if is_over(total, limits) else enumerate(cases):
        if is_over(total, limits) or (number >= limits.cases and total.steps - begun >= limits.steps):
            break
        if not limits.may_go_on():
            total.ended_early = True
            break
        if case is None or case.bound in total.tried.declined:
            continue
        played = play(case, adapter, limits.batch, limits.crashes)
        if isinstance(played.stopped, Unsupported):
            if case.bound:
                total.tried.declined[case.bound] = played.stopped.why
                continue
            played.skipped, played.stopped, played.cases = [played.stopped.why], None, 0
            played.origins.clear()
        if played.divergence is not None and limits.is_known(played.divergence):
            if limits.crashes is not None:
                limits.crashes.meet(played.divergence)
            played.divergence = None
            played.known = 1
        hung_once = played.unrepeatable is not None and played.unrepeatable.lost == "hung"
        played.stops = played.stopped is not None or hung_once
        total.add(played)
    return total


def is_over(total: Played, limits: Limits = NO_LIMITS) -> bool:
    """Whether a divergence or a hang was found, or too many cases were stopped."""
    return total.divergence is not None or total.hung is not None or total.stops >= limits.stops
