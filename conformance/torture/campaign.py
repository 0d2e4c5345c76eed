"""A campaign: rounds until enough faults have struck, or the time is over.

First the rounds with a frozen driver, most of them without Spark; then those in one session; then, with
Spark stopped, those whose drivers and executors are killed, which start Spark anew each time. A round that
fails does not end the campaign: what it shows may have company.
"""

import itertools
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.observe.guarantees.anomalies import Anomaly
from conformance.torture.apart import run_apart
from conformance.torture.frozen_drivers.frozen_round import run_frozen
from conformance.torture.judge import Outcome, tally
from conformance.torture.local import MASTER, run_local
from conformance.torture.postgres_server import ServerNotFoundError, programs
from conformance.torture.rounds import (
    DRIVER,
    EXECUTOR,
    FROZEN,
    KILLS_A_ROUND,
    LOCAL,
    POSTGRES,
    SERVER,
    UnknownRoundError,
    is_number,
    round_named,
)
from conformance.torture.server import KeptServer
from conformance.torture.streaming import STREAMING, run_streaming, streaming_round
from conformance.torture.streaming_query import IDEMPOTENT
from conformance.verdict import Verdict
from impl.spark.session import spark_session

FAULTS = 300
SECONDS = 1_200.0
_FAULTS_PER_DRIVER_ROUND = 75
_FAULTS_PER_EXECUTOR_ROUND = 150
_FAULTS_PER_SERVER_ROUND = 30
_FAULTS_PER_FROZEN_ROUND = 15
_KEPT = 5
"""Folders of rounds that passed are removed, but for the last ones: a campaign leaves thousands of files."""


@dataclass
class Campaign:
    """What was asked for, and what has come of it so far."""

    seed: int
    mode: str | None
    wanted: int
    budget: float
    build: Path
    outcomes: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0
    skipped: str | None = None
    """Rounds that cannot run here, and why."""
    implementation: str = "bundled"
    """Who is tortured: `bundled`, or `spark` for Structured Streaming."""
    only: tuple[str, ...] = ()
    """The rounds that were named; empty: all."""

    @property
    def struck(self) -> int:
        """Faults that have struck."""
        return sum(len(one.struck) for one in self.outcomes)

    @property
    def failed(self) -> list[Outcome]:
        """Rounds in which something is wrong."""
        return [one for one in self.outcomes if one.findings]

    @property
    def missed(self) -> frozenset[str]:
        """The rounds that were named and in which no fault has struck."""
        return frozenset(self.only).difference(one.round.name for one in self.outcomes if one.struck)

    def anomalies(self) -> dict[Anomaly, tuple[int, Outcome]]:
        """Every anomaly that was found: in how many rounds, and the first of them."""
        found: dict[Anomaly, tuple[int, Outcome]] = {}
        for outcome in self.outcomes:
            for one in outcome.classification.findings if outcome.classification else ():
                rounds, first = found.get(one.anomaly, (0, outcome))
                found[one.anomaly] = rounds + 1, first
        return found

    @property
    def verdict(self) -> Verdict:
        """DIVERGES if anything is wrong or not exactly once, UNDETERMINED if too few faults have struck."""
        if self.failed or self.anomalies():
            return Verdict.DIVERGES
        enough = self.struck >= self.wanted and self.skipped is None and not self.missed
        return Verdict.CONFORMS if enough else Verdict.UNDETERMINED

    def again(self, only: str | None = None) -> str:
        """The command that runs it, or one of its rounds, again."""
        spark = self.implementation != "bundled"
        mode = f" --{'sink' if spark else 'mode'} {self.mode}" if self.mode else ""
        mode = f" --implementation spark{mode}" if spark else mode
        named = (only,) if only else self.only
        what = "".join(f" --only {one}" for one in named) or f" --faults {self.wanted}"
        return f"barrierspec torture --seed {self.seed}{mode}{what}"

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "seed": self.seed,
            "implementation": self.implementation,
            "mode": self.mode,
            "wanted": self.wanted,
            "struck": self.struck,
            "seconds": round(self.seconds, 1),
            "verdict": self.verdict.value,
            "table": [
                {"point": point, "action": action, "times": times}
                for (point, action), times in sorted(tally(self.outcomes).items())
            ],
            "anomalies": [anomaly.title for anomaly in self.anomalies()],
            "again": self.again(),
            "rounds": [one.to_json() for one in self.outcomes],
        }


OnRound = Callable[[Campaign, str], None]
"""Told before each round what comes."""


def run_campaign(campaign: Campaign, tell: OnRound, only: tuple[str, ...] = ()) -> None:
    """Run all rounds, or those named. Raises UnknownRoundError and what the start of Spark raises."""
    began = time.monotonic()
    local: Iterable[str] = _of(only, LOCAL) if only else _names()
    servers = _of(only, SERVER) if only else _servers(campaign.wanted)
    frozen = _of(only, FROZEN) if only else _frozen(campaign.wanted)
    if servers or any(_needs_server(campaign, name) for name in frozen):
        try:
            programs()
        except ServerNotFoundError as missing:
            campaign.skipped = f"rounds with a killed server, or a frozen sink in front of one: {missing}"
            servers = []
            frozen = [name for name in frozen if not _needs_server(campaign, name)]
    here = (LOCAL, SERVER, FROZEN)
    apart = [one for one in only if one.partition("-")[0] not in here] if only else _apart(campaign.wanted)
    enough = campaign.wanted - len(apart) * KILLS_A_ROUND

    def go_on() -> bool:
        campaign.seconds = time.monotonic() - began
        return campaign.seconds < campaign.budget

    needed = any(_needs_server(campaign, name) for name in frozen)
    with KeptServer() if needed else nullcontext() as server:
        for name in frozen:
            if go_on():
                _run_frozen(campaign, name, tell, server)
    if local or servers:
        with spark_session(MASTER, campaign.build / "spark.log", "torture") as spark:
            with KeptServer() if servers else nullcontext() as server:
                for name in servers:
                    if go_on():
                        tell(campaign, name)
                        planned = round_named(name, campaign.seed, campaign.mode)
                        _keep(campaign, run_local(planned, campaign.build / name, spark, server=server))
            for name in local:
                if not go_on() or (not only and campaign.struck >= enough):
                    break
                tell(campaign, name)
                planned = round_named(name, campaign.seed, campaign.mode)
                _keep(campaign, run_local(planned, campaign.build / name, spark))
    for name in apart:
        if go_on():
            tell(campaign, name)
            planned = round_named(name, campaign.seed, campaign.mode)
            _keep(campaign, run_apart(planned, campaign.build / name))
    go_on()


def _run_frozen(campaign: Campaign, name: str, tell: OnRound, server: KeptServer | None) -> None:
    tell(campaign, name)
    planned = round_named(name, campaign.seed, campaign.mode)
    folder = campaign.build / name
    if not planned.on_spark:
        _keep(campaign, run_frozen(planned, folder, server))
        return
    with spark_session(MASTER, campaign.build / "spark.log", "torture") as spark:
        _keep(campaign, run_frozen(planned, folder, server, spark))


def run_streaming_campaign(campaign: Campaign, tell: OnRound, only: tuple[str, ...] = ()) -> None:
    """The same against Structured Streaming; the campaign's mode is that of its sink."""
    began = time.monotonic()
    for name in only or (f"{STREAMING}-{number}" for number in itertools.count()):
        kind, _, number = name.partition("-")
        if kind != STREAMING or not is_number(number):
            raise UnknownRoundError(f"expected {STREAMING}-N, came {name!r}")
        if not only and (campaign.struck >= campaign.wanted or campaign.seconds >= campaign.budget):
            break
        tell(campaign, name)
        planned = streaming_round(int(number), campaign.seed, campaign.mode or IDEMPOTENT)
        _keep(campaign, run_streaming(planned, campaign.build / name))
        campaign.seconds = time.monotonic() - began


def _of(names: Iterable[str], kind: str) -> list[str]:
    return [name for name in names if name.partition("-")[0] == kind]


def _servers(wanted: int) -> list[str]:
    """Two killed servers for 30 faults."""
    return [f"{SERVER}-{one}" for one in range(wanted // _FAULTS_PER_SERVER_ROUND)]


def _frozen(wanted: int) -> list[str]:
    """A frozen driver, or a frozen sink, for 15 faults."""
    return [f"{FROZEN}-{one}" for one in range(wanted // _FAULTS_PER_FROZEN_ROUND)]


def _needs_server(campaign: Campaign, name: str) -> bool:
    """Whether a round writes into PostgreSQL."""
    return round_named(name, campaign.seed, campaign.mode).sink == POSTGRES


def _names() -> Iterator[str]:
    return (f"{LOCAL}-{number}" for number in itertools.count())


def _apart(wanted: int) -> list[str]:
    """Two killed drivers for 75 faults, two killed executors for 150: they are slow."""
    drivers, executors = wanted // _FAULTS_PER_DRIVER_ROUND, wanted // _FAULTS_PER_EXECUTOR_ROUND
    return [f"{DRIVER}-{one}" for one in range(drivers)] + [f"{EXECUTOR}-{one}" for one in range(executors)]


def _keep(campaign: Campaign, outcome: Outcome) -> None:
    campaign.outcomes.append(outcome)
    passed = [one for one in campaign.outcomes if not one.findings and not _found(one)]
    for old in passed[:-_KEPT]:
        shutil.rmtree(campaign.build / old.round.name, ignore_errors=True)


def _found(outcome: Outcome) -> bool:
    return outcome.classification is not None and bool(outcome.classification.findings)
