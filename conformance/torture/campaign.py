"""Runs the rounds of a campaign until enough faults are injected, or the time is over.

First the campaign runs the rounds with a frozen driver, most of them without Spark. Then it runs the rounds
that share one Spark session. After the end of this session it runs the rounds whose drivers and executors are
killed, and the rounds on a standalone cluster. A round that fails does not end the campaign, because other
rounds may show more defects.
"""

import itertools
import math
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from conformance.cases.guided import Marks, Reached
from conformance.observe.guarantees.anomalies import Anomaly
from conformance.torture.brokers.faulty_broker import FaultyBroker
from conformance.torture.faulty_store import KeptStore
from conformance.torture.frozen_drivers.frozen_round import run_frozen
from conformance.torture.judge import Outcome, tally
from conformance.torture.killed_postgres import KeptServer
from conformance.torture.kinds import FOLDERS, GENERATED, KAFKA, STORE, RoundsByKind
from conformance.torture.local_round import MASTER, run_local
from conformance.torture.rounds import (
    DRIVER,
    EXECUTOR,
    FAULTS,
    FROZEN,
    JUMPING,
    LOCAL,
    SERVER,
    STANDALONE,
    STREAMING,
    TURN,
    Round,
    StreamingRound,
    UnknownRoundError,
    all_marks,
    all_streaming_marks,
    is_number,
    marks_of,
    round_named,
    streaming_round,
)
from conformance.torture.separate_driver_round import run_with_separate_driver
from conformance.torture.servers.postgres_server import ServerNotFoundError, programs
from conformance.torture.servers.spark_cluster import SparkCluster
from conformance.torture.streaming import run_streaming
from conformance.torture.streaming_query import IDEMPOTENT
from conformance.verdict import Verdict
from impl.spark.session import spark_session

ALTERNATIVES = 64
"""Number of candidates for the next round. The campaign runs one with the most new marks (`FAULTS`)."""
_KEPT = 5
"""Number of passed rounds whose folders are kept, the last ones. Each folder has very many files."""


@dataclass
class Campaign:
    """A campaign: its options, and its results so far."""

    seed: int
    mode: str | None
    faults: int
    """The number of faults to inject."""
    budget: float
    """No round begins after this number of seconds."""
    build: Path
    outcomes: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0
    skipped: str | None = None
    """The kinds of rounds that this machine cannot run, and the reason; None: it can run all kinds."""
    implementation: str = "bundled"
    """`bundled`, or `spark` for Structured Streaming."""
    only: tuple[str, ...] = ()
    """The names of the rounds; empty: all."""
    kinds: tuple[str, ...] = ()
    """The kinds of the rounds; empty: all kinds, with most rounds local."""
    storage: str = FOLDERS
    """The place of checkpoints and output: folders, or an object store whose requests fail."""
    source: str = GENERATED
    """The origin of the input: the sources generate its numbers, or read them from a broker with faults."""

    @property
    def injected(self) -> int:
        """The number of injected faults."""
        return sum(len(one.injected) for one in self.outcomes)

    @property
    def failed(self) -> list[Outcome]:
        """The rounds with a finding."""
        return [one for one in self.outcomes if one.findings]

    @property
    def missed(self) -> frozenset[str]:
        """The named rounds in which no fault was injected."""
        return frozenset(self.only).difference(one.round.name for one in self.outcomes if one.injected)

    @property
    def reached(self) -> Reached:
        """The marks that the injected faults have reached."""
        reached = Reached(FAULTS)
        for one in self.outcomes:
            reached.add(marks_of(one.round, one.injected))
        return reached

    @property
    def reachable(self) -> Marks:
        """The marks that rounds of this campaign can reach."""
        bundled = self.implementation == "bundled"
        return all_marks(self.mode) if bundled else all_streaming_marks(self.mode or IDEMPOTENT)

    def anomalies(self) -> dict[Anomaly, tuple[int, Outcome]]:
        """Maps each anomaly to the number of rounds in which it was found, and the first of these rounds."""
        found: dict[Anomaly, tuple[int, Outcome]] = {}
        for outcome in self.outcomes:
            for one in outcome.anomalies:
                rounds, first = found.get(one.anomaly, (0, outcome))
                found[one.anomaly] = rounds + 1, first
        return found

    @property
    def verdict(self) -> Verdict:
        """DIVERGES after a finding or an anomaly.

        UNDETERMINED if too few faults were injected, or some rounds could not run or had no fault.
        """
        if self.failed or self.anomalies():
            return Verdict.DIVERGES
        enough = self.injected >= self.faults and self.skipped is None and not self.missed
        return Verdict.CONFORMS if enough else Verdict.UNDETERMINED

    def again(self, only: str | None = None) -> str:
        """The command that repeats the campaign, or one of its rounds."""
        spark = self.implementation != "bundled"
        mode = f" --{'sink' if spark else 'mode'} {self.mode}" if self.mode else ""
        mode = f" --implementation spark{mode}" if spark else mode
        named = (only,) if only else self.only
        kinds = "".join(f" --kind {one}" for one in self.kinds)
        what = "".join(f" --only {one}" for one in named) or f"{kinds} --faults {self.faults}"
        where = "" if self.storage == FOLDERS else f" --storage {self.storage}"
        where += "" if self.source == GENERATED else f" --source {self.source}"
        return f"barrierspec torture --seed {self.seed}{mode}{where}{what}"

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "seed": self.seed,
            "implementation": self.implementation,
            "mode": self.mode,
            "kinds": list(self.kinds),
            "storage": self.storage,
            "source": self.source,
            "planned": self.faults,
            "injected": self.injected,
            "seconds": round(self.seconds, 1),
            "verdict": self.verdict.value,
            "table": [
                {"point": point, "action": action, "times": times}
                for (point, action), times in sorted(tally(self.outcomes).items())
            ],
            "reached": {
                kind: {"reached": number, "of": len(self.reachable[kind])}
                for kind, number in self.reached.values().items()
            },
            "unreached": sorted(self.reachable["faults"] - self.reached.marks("faults")),
            "anomalies": [anomaly.title for anomaly in self.anomalies()],
            "again": self.again(),
            "rounds": [one.to_json() for one in self.outcomes],
        }


OnRound = Callable[[Campaign, str], None]
"""Called before each round, with its name."""
Planned = TypeVar("Planned", bound=Round | StreamingRound)


class _Rounds(Generic[Planned]):
    """Runs rounds of a campaign until its time is over."""

    def __init__(self, campaign: Campaign, on_round: OnRound, plan: Callable[[str], Planned]) -> None:
        self._campaign = campaign
        self._on_round = on_round
        self._plan = plan
        self._began = time.monotonic()

    def run(
        self, names: Iterable[str], run: Callable[[Planned, Path], Outcome], enough: float = math.inf
    ) -> None:
        """Run the rounds of these names, until `enough` faults are injected."""
        campaign = self._campaign
        for name in names:
            if campaign.seconds >= campaign.budget or campaign.injected >= enough:
                break
            planned = self._plan(name) if campaign.only else self._chosen(name)
            self._on_round(campaign, planned.name)
            _keep(campaign, run(planned, campaign.build / planned.name))
            campaign.seconds = time.monotonic() - self._began

    def _chosen(self, name: str) -> Planned:
        """Plan ALTERNATIVES rounds with `name`'s kind, mode and sink. Returns one with the most new marks."""
        kind, _, number = name.partition("-")
        several = [self._plan(f"{kind}-{int(number) + turn * TURN}") for turn in range(ALTERNATIVES)]
        return self._campaign.reached.choose([(one, marks_of(one, one.faults)) for one in several])[0]


def run_campaign(campaign: Campaign, on_round: OnRound, only: tuple[str, ...] = ()) -> None:
    """Run all rounds, or the rounds named in `only`. Adds the results to `campaign`.

    Raises UnknownRoundError for a wrong name in `only`, and the errors of Spark if its session cannot start.
    """

    def plan(name: str) -> Round:
        return round_named(name, campaign.seed, campaign.mode)

    kinds = RoundsByKind(campaign, plan, only)
    if kinds.need_server():
        try:
            programs()
        except ServerNotFoundError as missing:
            campaign.skipped = f"rounds that write into a PostgreSQL server: {missing}"
    rounds = _Rounds(campaign, on_round, plan)

    def run(kind: str, run_one: Callable[[Round, Path], Outcome]) -> None:
        rounds.run(kinds.names(kind), run_one, kinds.enough(kind))

    in_store = KeptStore(campaign.seed) if campaign.storage == STORE else nullcontext()
    from_broker = FaultyBroker(campaign.seed) if campaign.source == KAFKA else nullcontext()
    with in_store as store, from_broker as broker:
        with KeptServer() if kinds.need_server(FROZEN) else nullcontext() as server:
            run(FROZEN, lambda planned, folder: _run_frozen(planned, folder, server, store))
        if kinds.any(LOCAL) or kinds.any(SERVER) or kinds.any(JUMPING):
            with spark_session(MASTER, campaign.build / "spark.log", "torture") as spark:
                with KeptServer() if kinds.any(SERVER) else nullcontext() as server:
                    run(SERVER, lambda planned, folder: run_local(planned, folder, spark, server=server))
                run(JUMPING, lambda planned, folder: run_local(planned, folder, spark))
                run(
                    LOCAL,
                    lambda planned, folder: run_local(planned, folder, spark, store=store, broker=broker),
                )
        for kind in (DRIVER, EXECUTOR):
            run(kind, lambda planned, folder: run_with_separate_driver(planned, folder, store, broker))
        with SparkCluster(campaign.build) if kinds.any(STANDALONE) else nullcontext() as cluster:
            run(
                STANDALONE,
                lambda planned, folder: run_with_separate_driver(planned, folder, store, cluster=cluster),
            )


def _run_frozen(planned: Round, folder: Path, server: KeptServer | None, store: KeptStore | None) -> Outcome:
    if not planned.on_spark:
        return run_frozen(planned, folder, server, store=store)
    with spark_session(MASTER, folder.parent / "spark.log", "torture") as spark:
        return run_frozen(planned, folder, server, spark, store)


def run_streaming_campaign(campaign: Campaign, on_round: OnRound, only: tuple[str, ...] = ()) -> None:
    """Run the rounds of Structured Streaming. `campaign.mode` is the mode of the sink.

    Raises UnknownRoundError for a wrong name in `only`.
    """

    def plan(name: str) -> StreamingRound:
        kind, _, number = name.partition("-")
        if kind != STREAMING or not is_number(number):
            raise UnknownRoundError(f"expected {STREAMING}-N, got {name!r}")
        return streaming_round(int(number), campaign.seed, campaign.mode or IDEMPOTENT)

    for name in only:
        plan(name)
    names = only or (f"{STREAMING}-{number}" for number in itertools.count())
    _Rounds(campaign, on_round, plan).run(names, run_streaming, math.inf if only else campaign.faults)


def _keep(campaign: Campaign, outcome: Outcome) -> None:
    campaign.outcomes.append(outcome)
    passed = [one for one in campaign.outcomes if not one.findings and not one.anomalies]
    for old in passed[:-_KEPT]:
        shutil.rmtree(campaign.build / old.round.name, ignore_errors=True)
