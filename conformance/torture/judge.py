"""One round, judged: was anything lost or doubled, and is its log a run of the protocol?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from conformance.observe import EventLogError, validate
from conformance.observe.guarantees.anomalies import Guarantee
from conformance.observe.guarantees.guarantee import Classification, Row, Seen, classify
from conformance.torture.account import account_of
from conformance.verdict import Verdict
from impl.connectors.errors import ConnectorError
from impl.job import JobResult
from impl.state import StateError


class Struck(Protocol):
    """A fault that has struck."""

    @property
    def point(self) -> str:
        """Where."""

    @property
    def action(self) -> str:
        """What happened."""

    @property
    def task(self) -> str | None:
        """To whom, if the plan says so."""

    def as_dict(self) -> dict[str, Any]:
        """As a JSON object."""


class AnyRound(Protocol):
    """A round of whatever implementation."""

    @property
    def name(self) -> str:
        """By which it is run again."""

    @property
    def mode(self) -> str:
        """What is to be kept, and how."""

    @property
    def rows(self) -> int:
        """Of the input."""

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""


@dataclass
class Outcome:
    """What came of one round."""

    round: AnyRound
    struck: Sequence[Struck] = ()
    attempts: int = 0
    checkpoints: int = 0
    drivers: int = 1
    """How many driver processes it took."""
    refused: int = 0
    """Checkpoints that were damaged and not gone on from."""
    rows: int = 0
    events: int = 0
    recoveries: tuple[float, ...] = ()
    seconds: float = 0.0
    classification: Classification | None = None
    findings: list[str] = field(default_factory=list)
    """What is wrong, in a line each; nothing: the round has passed."""

    @property
    def guarantee(self) -> Guarantee:
        """The strongest guarantee that the round has not refuted."""
        return self.classification.guarantee if self.classification else Guarantee.BROKEN

    def took_from(self, result: JobResult) -> None:
        """Take over what the job itself tells."""
        self.struck = result.faults
        self.attempts = len(result.attempts)
        self.checkpoints = len(result.checkpoints)
        self.refused = len(result.refused)
        self.recoveries = result.recoveries

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        anomalies = self.classification.findings if self.classification else ()
        return {
            "round": self.round.to_json(),
            "struck": [one.as_dict() for one in self.struck],
            "attempts": self.attempts,
            "checkpoints": self.checkpoints,
            "drivers": self.drivers,
            "refused": self.refused,
            "rows": self.rows,
            "events": self.events,
            "recoveries": list(self.recoveries),
            "seconds": round(self.seconds, 3),
            "guarantee": self.guarantee.value,
            "anomalies": [
                {
                    "name": one.anomaly.title,
                    "times": one.times,
                    "rules_out": [guarantee.value for guarantee in one.anomaly.refutes],
                    "subject": one.anomaly.subject.value,
                    "first": [evidence.describe() for evidence in one.first],
                }
                for one in anomalies
            ],
            "findings": self.findings,
        }


def judge(
    outcome: Outcome,
    folder: Path,
    logs: Sequence[Path],
    seen: Sequence[Seen] = (),
    committed: Sequence[Row] | None = None,
) -> None:
    """Look at what the round has left in `folder`, and write it into `outcome`.

    `committed`: what its sinks have written into a table; None: they wrote files into the folder.

    A mode at-least-once may double records, and nothing else; every other mode must be exact.
    """
    try:
        account = account_of(outcome.round.rows, folder, seen, committed)
    except (StateError, ConnectorError) as unreadable:
        outcome.findings.append(f"its output or state cannot be read: {unreadable}")
        return
    outcome.rows = len(account.committed)
    outcome.classification = classify(account)
    if account.state is None:
        outcome.findings.append("it has ended without a checkpoint that can be read")
    allowed = {Guarantee.EXACTLY_ONCE}
    if outcome.round.mode == "at-least-once":
        allowed.add(Guarantee.AT_LEAST_ONCE)
    if outcome.guarantee not in allowed:
        outcome.findings += [
            f"{one.describe()}: {one.anomaly.explain()}" for one in outcome.classification.findings
        ]
    for log in logs:
        outcome.findings += _trace(log, outcome)


def _trace(log: Path, outcome: Outcome) -> list[str]:
    try:
        trace = validate(log, required=())
    except EventLogError as unreadable:
        return [f"its event log cannot be read: {unreadable}"]
    outcome.events += trace.events
    return [f"its trace is refused: {trace.describe()}"] if trace.verdict is Verdict.DIVERGES else []


def tally(outcomes: Sequence[Outcome]) -> Counter[tuple[str, str]]:
    """How often each action has struck at each point."""
    return Counter((one.point, one.action) for outcome in outcomes for one in outcome.struck)
