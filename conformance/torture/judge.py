"""Judges a round: whether a record was lost or duplicated, and whether its event log is a valid run."""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.observe import EventLogError, validate
from conformance.observe.guarantees.anomalies import Finding, Guarantee
from conformance.observe.guarantees.guarantee import Classification, Row, Seen, classify
from conformance.torture.account import account_of
from conformance.torture.rounds import Round, StreamingRound
from conformance.torture.streaming_query import StreamingFault
from conformance.verdict import Verdict
from impl.config import ConfigError
from impl.connectors.errors import ConnectorError
from impl.faults import FaultPlan
from impl.job import JobResult
from impl.spark.errors import SparkRuntimeError
from impl.state import StateError


@dataclass
class Outcome:
    """The result of one round."""

    round: Round | StreamingRound
    injected: Sequence[FaultPlan | StreamingFault] = ()
    """The faults that were injected."""
    attempts: int = 0
    checkpoints: int = 0
    drivers: int = 1
    """The number of driver processes."""
    refused: int = 0
    """The number of damaged checkpoints that the job has refused to restore."""
    rows: int = 0
    events: int = 0
    recoveries: tuple[float, ...] = ()
    """For each failed attempt, the seconds from its failure until all tasks of the next attempt ran."""
    store: Mapping[str, int] = field(default_factory=dict)
    """The number of faults of the store and of the broker, by kind."""
    seconds: float = 0.0
    classification: Classification | None = None
    findings: list[str] = field(default_factory=list)
    """The defects, one line each; empty if the round has passed."""

    @property
    def guarantee(self) -> Guarantee:
        """The strongest guarantee that the round has not refuted."""
        return self.classification.guarantee if self.classification else Guarantee.BROKEN

    @property
    def anomalies(self) -> tuple[Finding, ...]:
        """The anomalies that the classifier has found."""
        return self.classification.findings if self.classification else ()

    def took_from(self, result: JobResult) -> None:
        """Copy the fields of the job's result."""
        self.injected = result.faults
        self.attempts = len(result.attempts)
        self.checkpoints = len(result.checkpoints)
        self.refused = len(result.refused)
        self.recoveries = result.recoveries

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "round": self.round.to_json(),
            "injected": [one.as_dict() for one in self.injected],
            "attempts": self.attempts,
            "checkpoints": self.checkpoints,
            "drivers": self.drivers,
            "refused": self.refused,
            "rows": self.rows,
            "events": self.events,
            "recoveries": list(self.recoveries),
            "store": dict(self.store),
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
                for one in self.anomalies
            ],
            "findings": self.findings,
        }


JOB_ERRORS = (SparkRuntimeError, StateError, ConnectorError, ConfigError)


@contextmanager
def timed(outcome: Outcome, folder: Path) -> Iterator[Callable[[], float]]:
    """Empty `folder`, and measure the time of the round.

    Yields a function that returns the number of seconds so far.
    """
    shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    try:
        yield lambda: time.monotonic() - began
    finally:
        outcome.seconds = time.monotonic() - began


def judge(
    outcome: Outcome,
    folder: Path,
    logs: Sequence[Path],
    seen: Sequence[Seen] = (),
    committed: Sequence[Row] | None = None,
) -> None:
    """Judge the files that the round has left in `folder`, and write the result into `outcome`.

    `logs`: the folders of its event logs. `seen`: the rows that were read during the round. `committed`: the
    rows that its sinks have written into a table; None: they wrote files into the folder. In mode
    at-least-once records may be duplicated; every other mode must keep exactly-once.
    """
    try:
        account = account_of(outcome.round.rows, folder, seen, committed)
    except (StateError, ConnectorError) as unreadable:
        outcome.findings.append(f"its output or state cannot be read: {unreadable}")
        return
    outcome.rows = len(account.committed)
    outcome.classification = classify(account)
    if account.state is None:
        outcome.findings.append("it has ended without a readable checkpoint")
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
    return [f"its trace is rejected: {trace.describe()}"] if trace.verdict is Verdict.DIVERGES else []


def tally(outcomes: Sequence[Outcome]) -> Counter[tuple[str, str]]:
    """The number of injected faults by point and action."""
    return Counter((one.point, one.action) for outcome in outcomes for one in outcome.injected)
