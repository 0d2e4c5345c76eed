"""The record of a failed check that no single case shows: to save it, list it as known, and repeat it.

Four checks are of this kind: a long life that differs or hangs late, a batch with a refused event, a new
instance after a failed one, and an instance that is not made. A FailedCheck has the values to play the check
again. For a long life this is the number of checkpoints, because the events are generated.
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
    """UNDETERMINED for a hang, and for an instance that is not made."""

    def values(self) -> dict[str, object]:
        """The run that is played, as JSON values."""
        named = {"check": self.check, "component": self.component, "config": dict(self.config)}
        runs = {"events": list(self.events), "before": list(self.before)}
        return {**named, **runs, "checkpoints": self.checkpoints}


def failed_check_of(read: Mapping[str, Any]) -> FailedCheck:
    """Read a failed check from the values of `FailedCheck.values`, to which a verdict may be added.

    Raises KeyError, TypeError or ValueError for any other value.
    """
    events, before = tuple(read["events"]), tuple(read.get("before", ()))
    checkpoints = read.get("checkpoints", 0)
    if read["check"] not in CHECKS:
        raise ValueError(f"expected one of {', '.join(CHECKS)}, got {read['check']!r}")
    if type(checkpoints) is not int or not all(isinstance(event, dict) for event in (*events, *before)):
        raise TypeError("expected events that are objects, and a number of checkpoints")
    verdict = Verdict(read.get("verdict", Verdict.DIVERGES))
    return FailedCheck(
        read["check"], read["component"], read["config"], events, before, checkpoints, "", verdict
    )
