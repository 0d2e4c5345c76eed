"""The examination of one component: its verdict, and the bound of this verdict.

If you add a kind of cases, add its line and its value in `Examination.reach`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from conformance.adapters.protocol import Failure
from conformance.divergence import Divergence
from conformance.drive.bounds.failed_check import FailedCheck
from conformance.drive.bounds.tested_scope import TestedScope
from conformance.report import suites
from conformance.rules.coverage import Coverage
from conformance.suites.play import Guarantee
from conformance.verdict import Verdict


class Bound(NamedTuple):
    """The bound of a verdict, as lines of text and as JSON values."""

    lines: tuple[str, ...]
    """Lines of text about options, channels, ids, lives, capabilities, untested features, and suites."""
    values: Mapping[str, object]
    """The same as JSON values. The object `tried` of findings.schema.json defines the keys."""


@dataclass(frozen=True)
class Examination:
    """The result for one component."""

    component: str
    verdict: Verdict
    coverage: Coverage
    steps: int = 0
    cases: int = 0
    divergence: Divergence | None = None
    """The simplest case that differs, hangs or is flaky; its verdict is that of the component."""
    undetermined: tuple[str, ...] = ()
    """The reasons for UNDETERMINED."""
    stopped: Failure | None = None
    """The first failure to answer that ended a case without a divergence."""
    unseen: tuple[str, ...] = ()
    """State fields that the implementation left out and that were not compared."""
    known: tuple[str, ...] = ()
    """Names of the known divergences that occurred; they are not reported."""
    broken: tuple[str, ...] = ()
    """Failed checks of batches that end with an error, and of new instances after a failed one."""
    evidence: tuple[FailedCheck, ...] = ()
    """The failed checks to save: those of `broken`, or the check that ended a case without events."""
    tried: TestedScope = field(default_factory=TestedScope)
    """The options, ids, times and lengths that the cases reached."""
    not_tested: tuple[str, ...] = ()
    """The values and events that the implementation offers and the run did not test, each with the reason."""
    capabilities: tuple[str, ...] = ()
    """The tests of optional capabilities (durable data, events at once), as lines of the bound."""
    guarantees: tuple[Guarantee, ...] = ()
    """The guarantee of each complete suite."""
    seconds: float = 0.0
    """Wall-clock time."""
    sources: tuple[str, ...] = ()
    """The sources of the cases, in order; a divergence comes from the last one."""

    @property
    def bound(self) -> str:
        """The bound of the verdict in one line: steps, cases, coverage, and the lines of `reach`."""
        reached = f"{self.steps:,} steps in {self.cases:,} cases, {self.coverage.describe()}"
        return "; ".join((reached, *self.reach.lines))

    @property
    def reach(self) -> Bound:
        """The bound without steps and coverage. It has no lines if no case was played."""
        lines = [f"{name}: {text}" for name, text in self.tried.lines().items()]
        lines += self.capabilities
        lines += [f"not tested: {'; '.join(self.not_tested)}"] if self.not_tested else []
        lines += suites.lines(self.guarantees)
        values = {
            **self.tried.values(),
            "sequences": self.cases,
            "events": self.steps,
            "capabilities": list(self.capabilities),
            "not_tested": list(self.not_tested),
            "complete_suites": [guarantee.values() for guarantee in self.guarantees],
        }
        return Bound(tuple(lines) if self.cases else (), values)
