"""A failure outside a single case, as values, so that it can be saved, listed as known, and repeated.

A late difference or hang in a long life, a batch after a refused event, an instance after a failed one, and
an instance that is not made have no sequence of events with an answer that differs. Their checks are played
again from a few values; a long life from its number of checkpoints, because its events are generated.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from conformance.adapters.protocol import Wire
from conformance.verdict import Verdict

LIFE, BATCH, FAILURE, NEW = "life", "batch", "behind-a-failure", "new"
CHECKS = (LIFE, BATCH, FAILURE, NEW)


class FailedCheck(NamedTuple):
    """One check that has failed."""

    check: str
    """The name of the check, one of CHECKS."""
    component: str
    config: Wire
    events: tuple[Wire, ...] = ()
    """The run whose answers are compared."""
    before: tuple[Wire, ...] = ()
    """For FAILURE: the run that ends with a `fail`."""
    checkpoints: int = 0
    """For LIFE: its length."""
    what: str = ""
    """The defect, as one sentence."""
    verdict: Verdict = Verdict.DIVERGES
    """UNDETERMINED of a hang, and of an instance that is not made."""

    def values(self) -> dict[str, object]:
        """The run that is played, as JSON values."""
        named = {"check": self.check, "component": self.component, "config": dict(self.config)}
        runs = {"events": list(self.events), "before": list(self.before)}
        return {**named, **runs, "checkpoints": self.checkpoints}


def failed_check_of(read: Mapping[str, Any]) -> FailedCheck:
    """The evidence of such values. Raises KeyError, TypeError or ValueError for any other value."""
    events, before = tuple(read["events"]), tuple(read.get("before", ()))
    checkpoints = read.get("checkpoints", 0)
    if read["check"] not in CHECKS:
        raise ValueError(f"expected a check of {', '.join(CHECKS)}, got {read['check']!r}")
    if type(checkpoints) is not int or not all(isinstance(event, dict) for event in (*events, *before)):
        raise TypeError("expected events that are objects, and a number of checkpoints")
    verdict = Verdict(read.get("verdict", Verdict.DIVERGES))
    return FailedCheck(
        read["check"], read["component"], read["config"], events, before, checkpoints, "", verdict
    )
