"""Draws the rounds of a campaign, with their faults, from the seed and the name of each round.

So one round can be repeated alone. In the order of their numbers, local rounds use every pair of a point and
an action once before they repeat a pair. A task *passes* a point each time that it reaches this point of the
protocol; a fault happens at one of these passages. A campaign prefers rounds that reach points and phases
that were not reached before.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Generic, TypeVar

from conformance.cases.guided import Marks
from conformance.torture.clock_jumps import PATIENT_MS
from conformance.torture.streaming_query import IDEMPOTENT, PAIRS, STATE, StreamingFault
from impl.config import AT_LEAST_ONCE, EXACTLY_ONCE, INLINE_BYTES, CheckpointConfig
from impl.faults import CLOCK, DAMAGE, GATE_POINTS, POINTS, SINK_POINTS, Action, FaultPlan, Point, actions_at
from impl.jobs.numbers import COUNTERS, SINKS, SOURCES

MODES = ("exactly-once", "unaligned", "alternating")
"""The modes of the gates, which rounds use in turn, unless an option of the campaign sets the mode."""
ALL_MODES = (*MODES, "at-least-once")
LOCAL, DRIVER, EXECUTOR, SERVER, FROZEN = "round", "driver", "executor", "server", "frozen"
JUMPING, STANDALONE = "clock", "standalone"
FAULTS_A_ROUND = {LOCAL: 4, DRIVER: 3, EXECUTOR: 3, SERVER: 4, FROZEN: 1, JUMPING: 4, STANDALONE: 4}
KILLS_A_ROUND = 2
"""The number of kills of drivers, of executors or of the sinks' server in one round of that kind."""
_KILLS = {
    DRIVER: (Action.KILL_DRIVER,) * KILLS_A_ROUND,
    EXECUTOR: (Action.KILL_EXECUTOR,) * KILLS_A_ROUND,
    SERVER: (Action.KILL_SERVER,) * KILLS_A_ROUND,
    STANDALONE: (Action.KILL_HOST, Action.KILL_EXECUTOR, Action.KILL_DRIVER),
}
"""The kills of a round of each kind."""
_KILLED = frozenset(kill for kills in _KILLS.values() for kill in kills)
PARQUET, SQLITE, POSTGRES = "parquet", "sqlite", "postgres"
SINK_KINDS = (PARQUET, SQLITE, POSTGRES)
"""The sinks, which rounds with a frozen driver use in turn."""
_ROWS, _RATE = 4_000, 4_000.0
_FROZEN_RATE, _FROZEN_INTERVAL_MS = 500.0, 100
"""Low enough that both drivers complete some checkpoints before the input ends."""
_FROZEN_ROUNDS_PER_SPARK = 10
"""One of this number of rounds with a frozen driver runs on Spark."""
_JUMPING_RATE = 1_000.0
"""Rows per second, low enough that several checkpoints complete after a jump."""
_EXECUTOR_RATE = 250.0
"""Rows per second, low enough that the job still runs when Spark notices, after seconds, a lost executor."""
_RATES = {EXECUTOR: _EXECUTOR_RATE, STANDALONE: _EXECUTOR_RATE, JUMPING: _JUMPING_RATE}
_PATIENCE_MS = 10
_DIGITS = 9
STREAMING = "spark"
"""The kind of rounds of Structured Streaming."""
STREAMING_FAULTS_A_ROUND = 4
FILES, ROWS_A_FILE = 10, 200
"""The number of files in the input of a round of Structured Streaming, and of rows in each."""
FAULTS: Mapping[str, float] = {"faults": 4, "modes": 1, "phases": 1}
"""The kinds of marks that a round reaches, with their weights.

`faults`: pairs of a point and an action; `modes`: such a pair and the mode; `phases`: such a pair, the
operator, and whether it is the first passage. The weights make a new pair count most.
"""
TURN = 3_000
"""Two rounds of a kind whose numbers differ by TURN have the same mode, sink and runtime."""
_TASKS = {"numbers": SOURCES, "count": COUNTERS, "sink": SINKS}


class UnknownRoundError(ValueError):
    """The name of a round is not a kind of FAULTS_A_ROUND and a number, such as `round-12` or `driver-0`."""


Fault = TypeVar("Fault", FaultPlan, StreamingFault)


@dataclass(frozen=True)
class PlannedRound(Generic[Fault]):
    """A planned round of any implementation."""

    name: str
    """The kind and the number of the round. The name and the campaign's seed suffice to repeat the round."""
    mode: str
    """The mode of the gates; for Structured Streaming the mode of the sink."""
    faults: tuple[Fault, ...]
    rows: int
    """The number of rows of the input."""

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


@dataclass(frozen=True)
class StreamingRound(PlannedRound[StreamingFault]):
    """One run of Structured Streaming's query; the mode is `idempotent` or `appending`."""


@dataclass(frozen=True)
class Round(PlannedRound[FaultPlan]):
    """One run of the job: its faults, and its configuration of checkpoints."""

    rows_per_second: float
    interval_ms: int
    retained: int
    tolerable: int
    sink: str = PARQUET
    """The output, one of SINK_KINDS. Rounds with a killed server ignore it and write into PostgreSQL."""
    driver_first: bool = True
    """Whether a frozen driver continues before its children."""
    on_spark: bool = True
    """Whether the job runs on Spark. If not, each of its subtasks is a process of this host (`processes`)."""

    @property
    def kind(self) -> str:
        """`round`, `driver`, `executor`, `server`, `frozen`, `clock` or `standalone`."""
        return self.name.partition("-")[0]

    @property
    def table(self) -> str:
        """The name of its table, if it writes into a database."""
        return self.name.replace("-", "_")

    @property
    def damages(self) -> bool:
        """Whether a fault may damage the newest checkpoint, so that output must be taken back."""
        return any(one.action in DAMAGE for one in self.faults)

    def checkpoints(self) -> CheckpointConfig:
        """The job's configuration of checkpoints.

        Each task writes its state into a file if a fault of the round hits such files: a full disk, or a
        killed host.
        """
        fills_a_disk = any(one.action == Action.FULL_DISK for one in self.faults)
        writes_files = fills_a_disk or self.kind == STANDALONE
        overtaking = self.mode in ("unaligned", "alternating")
        return CheckpointConfig(
            checkpointing_interval_ms=self.interval_ms,
            checkpointing_mode=AT_LEAST_ONCE if self.mode == "at-least-once" else EXACTLY_ONCE,
            checkpoint_timeout_ms=PATIENT_MS if self.kind == JUMPING else 5_000,
            num_retained_checkpoints=self.retained,
            tolerable_checkpoint_failure_number=self.tolerable,
            unaligned_checkpoints_enabled=overtaking,
            aligned_checkpoint_timeout_ms=_PATIENCE_MS if self.mode == "alternating" else 0,
            data_inline_threshold_bytes=0 if writes_files else INLINE_BYTES,
        )

    @classmethod
    def from_json(cls, planned: Mapping[str, Any]) -> "Round":
        """The round of a JSON object."""
        return cls(**{**planned, "faults": tuple(FaultPlan(**one) for one in planned["faults"])})


def is_number(text: str) -> bool:
    """Whether the text is the number of a round: at most nine ASCII digits."""
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def round_named(name: str, seed: int, mode: str | None = None) -> Round:
    """The round of that name in the campaign of `seed`. Raises UnknownRoundError."""
    kind, _, number = name.partition("-")
    if kind not in FAULTS_A_ROUND or not is_number(number):
        expected = ", ".join(f"{one}-N" for one in FAULTS_A_ROUND)
        raise UnknownRoundError(f"expected one of {expected}, got {name!r}")
    draw = random.Random(f"{seed} {name}")
    index = int(number)
    chosen = mode or MODES[(index + seed) % len(MODES)]
    if kind == FROZEN:
        return _frozen(draw, name, index, chosen)
    first = index * FAULTS_A_ROUND[LOCAL]
    if kind == LOCAL:
        pairs = [_pair_at(seed, place) for place in range(first, first + FAULTS_A_ROUND[LOCAL])]
    else:
        pairs = _with_a_failure(draw) if kind == JUMPING else _with_kills(draw, kind)
    return Round(
        name=name,
        mode=chosen,
        faults=tuple(_placed(draw, point, action) for point, action in pairs),
        rows=_ROWS,
        rows_per_second=_RATES.get(kind, _RATE),
        interval_ms=draw.choice((30, 40, 60)),
        retained=draw.choice((5, 6, 40)),
        tolerable=draw.choice((0, 0, 1, -1)),
    )


def streaming_round(number: int, seed: int, sink: str = IDEMPOTENT) -> StreamingRound:
    """Round `number` of the campaign of `seed` against Structured Streaming."""
    draw = random.Random(f"{seed} spark {number}")
    pairs = [*PAIRS]
    draw.shuffle(pairs)
    faults = []
    for point, action in pairs[:STREAMING_FAULTS_A_ROUND]:
        # no fault is in the first file, so that a restart finds a checkpoint
        record = draw.randrange(ROWS_A_FILE, FILES * ROWS_A_FILE)
        batch = draw.randrange(1, FILES)
        faults.append(StreamingFault(point, record if point == STATE else batch, action))
    return StreamingRound(f"{STREAMING}-{number}", sink, tuple(faults), FILES * ROWS_A_FILE)


def marks_of(planned: PlannedRound[Any], faults: Iterable[FaultPlan | StreamingFault]) -> Marks:
    """The marks that these faults reach in a round, as in FAULTS."""
    known = list(faults)
    phases = (
        (one.point, one.action, _stage(one.task), one.occurrence == 1)
        for one in known
        if isinstance(one, FaultPlan)
    )
    return {
        "faults": {(one.point, one.action) for one in known},
        "modes": {(one.point, one.action, planned.mode) for one in known},
        "phases": set(phases),
    }


def all_marks(mode: str | None = None) -> Marks:
    """All marks that the rounds of a campaign can reach, in one mode or in all MODES."""
    pairs = {
        *pairs_in_process(),
        *((point, kill) for kind, kills in _KILLS.items() for kill in kills for point in _killed_at(kind)),
        *((point, Action.FREEZE.value) for point in _not_restoring()),
        *jumps(),
    }
    phases = set()
    for pair in pairs:
        tasks, most = _places(*pair)
        phases |= {(*pair, _stage(task), first) for task in tasks for first in (True, most == 1)}
    modes = (mode,) if mode else MODES
    return {"faults": pairs, "modes": {(*pair, one) for pair in pairs for one in modes}, "phases": phases}


def all_streaming_marks(sink: str) -> Marks:
    """All marks that the rounds of Structured Streaming can reach."""
    return {"faults": set(PAIRS), "modes": {(*pair, sink) for pair in PAIRS}, "phases": set()}


def pairs_in_process() -> list[tuple[str, str]]:
    """Every pair of a point and an action, without freezes, jumps, and kills of more than one task."""
    return [
        (point, action)
        for point in POINTS
        for action in actions_at(point)
        if action not in (*_KILLED, Action.FREEZE, *CLOCK)
    ]


def jumps() -> list[tuple[str, str]]:
    """Every pair of a point and a jump of a clock."""
    return [(point, action) for point in POINTS for action in actions_at(point) if action in CLOCK]


def _with_a_failure(draw: random.Random) -> list[tuple[str, str]]:
    """Draw jumps of clocks and one error. The error makes the job restore, perhaps after a jump."""
    failure = (draw.choice(_not_restoring()), Action.ERROR.value)
    return [failure, *draw.sample(jumps(), FAULTS_A_ROUND[JUMPING] - 1)]


def _pair_at(seed: int, place: int) -> tuple[str, str]:
    """The pair of point and action at a position in an endless sequence: shuffled lists of all pairs."""
    number, within = divmod(place, len(_shuffled_pairs(seed, 0)))
    return _shuffled_pairs(seed, number)[within]


@lru_cache(maxsize=512)
def _shuffled_pairs(seed: int, number: int) -> list[tuple[str, str]]:
    pairs = pairs_in_process()
    random.Random(f"{seed} pack {number}").shuffle(pairs)
    return pairs


def _with_kills(draw: random.Random, kind: str) -> list[tuple[str, str]]:
    kills = [*zip(draw.sample(_killed_at(kind), len(_KILLS[kind])), _KILLS[kind], strict=True)]
    others = FAULTS_A_ROUND[kind] - len(kills)
    return [*kills, *draw.sample(pairs_in_process(), others)]


def _killed_at(kind: str) -> list[str]:
    """The points at which rounds of a kind kill. Only a server is also killed during a restart or restore."""
    points = POINTS if kind == SERVER else _not_restoring()
    return [one for one in points if _KILLS[kind][0] in actions_at(one)]


def _not_restoring() -> list[str]:
    return [one for one in POINTS if not one.startswith("rest")]


def _frozen(draw: random.Random, name: str, index: int, mode: str) -> Round:
    """A round with frozen processes: with probability 3/4 the driver and its children, else only a sink."""
    whole = draw.random() < 0.75
    where = _not_restoring() if whole else list(SINK_POINTS)
    placed = _placed(draw, draw.choice(where), Action.FREEZE if whole else Action.HANG)
    return Round(
        name=name,
        mode=mode,
        faults=(replace(placed, occurrence=draw.randint(1, 6)),),
        rows=_ROWS,
        rows_per_second=_FROZEN_RATE,
        interval_ms=_FROZEN_INTERVAL_MS,
        retained=draw.choice((1, 2, 6)),
        tolerable=-1,
        sink=SINK_KINDS[index % len(SINK_KINDS)],
        driver_first=draw.random() < 0.75,
        on_spark=index % _FROZEN_ROUNDS_PER_SPARK == _FROZEN_ROUNDS_PER_SPARK - 1,
    )


def _placed(draw: random.Random, point: str, action: str) -> FaultPlan:
    """The fault at a point, with its task and the number of its passage drawn at random."""
    tasks, most = _places(point, action)
    return FaultPlan(point, draw.choice(tasks), draw.randint(1, most) if most > 1 else 1, action)


def _places(point: str, action: str) -> tuple[Sequence[str | None], int]:
    """The tasks to which a fault can happen, and the highest number of the passage at which it happens."""
    if point in (Point.COMPLETION_DUE, Point.COMPLETION_STORED):
        return (None, *_ids("count"), *_ids("numbers")), 5
    sinks = point in SINK_POINTS or action == Action.KILL_SERVER
    stages = ("sink",) if sinks else ("count", "sink") if point in GATE_POINTS else _TASKS
    most = 2 if point == Point.RESTART else 1 if point.startswith("restore") else 3
    return [one for stage in stages for one in _ids(stage)], most


def _stage(task: str | None) -> str:
    """The operator of a task; `all` for None."""
    return task.rpartition("-")[0] if task else "all"


def _ids(stage: str) -> Iterator[str]:
    return (f"{stage}-{index}" for index in range(_TASKS[stage]))
