"""A series of cases of one component: what came of them together, and when it has to end."""

from collections.abc import Callable

from conformance.adapters.protocol import Unsupported
from conformance.drive.lockstep import Divergence, Played

STOPS_ALLOWED = 3
"""After so many cases that hung or could not begin a series ends: each may cost a whole time limit."""


class Series:
    """Cases that are played one after the other, each with a fresh instance."""

    def __init__(self, is_known: Callable[[Divergence], bool] = lambda _: False) -> None:
        """A divergence that `is_known` ends its case and not the series."""
        self.total = Played()
        self.skipped: list[str] = []
        """Why cases were skipped, each reason once."""
        self._is_known = is_known
        self._stops = 0

    def take(self, played: Played) -> None:
        """Count one case."""
        stopped = played.stopped
        if isinstance(stopped, Unsupported):
            played.stopped = None
            played.cases = 0
            if stopped.why not in self.skipped:
                self.skipped.append(stopped.why)
        if played.divergence is not None and self._is_known(played.divergence):
            played.divergence = None
        self.total.add(played)
        self._stops += stopped is not None and not isinstance(stopped, Unsupported)

    @property
    def is_over(self) -> bool:
        """It came to a divergence, or too many cases were stopped."""
        return self.total.divergence is not None or self._stops >= STOPS_ALLOWED
