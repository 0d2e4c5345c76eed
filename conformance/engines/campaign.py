"""Runs a campaign: rounds of each row of `table.toml` until the row has its faults, or the time is over."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.adapters.flink.releases import FlinkError
from conformance.engines.engine import EngineSetUpError, Place
from conformance.engines.flink import logs
from conformance.engines.makers import Maker, maker, version
from conformance.engines.processes import EngineError
from conformance.engines.results import Stored, stored
from conformance.engines.rounds import RoundResult, run_round
from conformance.engines.rows import TableRow
from conformance.engines.schedule import Kind, faults_of

SEED = 20261125
FAULTS_A_ROW = 60


@dataclass(frozen=True)
class Order:
    """The rows, faults and limits of a campaign."""

    rows: Sequence[TableRow]
    seed: int = SEED
    faults: int = FAULTS_A_ROW
    """The number of faults of each row for which the table lists none."""
    seconds: float = 7_200.0
    """No round begins after this time since the start of the campaign."""
    only: Sequence[int] = ()
    """The numbers of the rounds to run; empty: all rounds."""
    repeat: int = 1
    """The number of times that each round of `only` runs."""


def run_campaign(
    order: Order, build: Path, done: Sequence[Stored] = (), progress: Callable[[str], None] = lambda _: None
) -> Iterator[dict[str, Any]]:
    """Run the rounds that are not `done`, the rows in turn. Yields the result of each as a JSON object.

    A round is done if `done` has its verdict for the present version of the engine. `build`: the folder for
    the rounds' folders. `progress` receives a message before the first round of each row. If an engine cannot
    be set up, the function runs the other rows, and raises EngineSetUpError at the end. Raises
    UnknownReleaseError if a row has an unknown release.
    """
    until = time.monotonic() + order.seconds
    known = {
        (one["row"], one["version"], one["seed"], one["round"]) for one in done if not one["undetermined"]
    }
    make: dict[str, Maker] = {}
    absent: dict[str, str] = {}
    for number, row in _rounds(order):
        if row.name in absent or (row.name, version(row), order.seed, number) in known:
            continue
        if time.monotonic() > until:
            break
        if row.name not in make:
            progress(f"{row.name}: {row.engine} {version(row)}")
            try:
                make[row.name] = maker(row)
            except (EngineError, FlinkError) as cannot:
                absent[row.name] = str(cannot)
                continue
        yield _round(row, make[row.name], order.seed, number, build)
    if absent:
        raise EngineSetUpError("; ".join(f"{row}: {why}" for row, why in absent.items()))


def _rounds(order: Order) -> Iterator[tuple[int, TableRow]]:
    if order.only:
        yield from ((number, row) for _ in range(order.repeat) for number in order.only for row in order.rows)
        return
    counts = {row.name: -(-(row.faults or order.faults) // row.a_round) for row in order.rows}
    for number in range(max(counts.values(), default=0)):
        yield from ((number, row) for row in order.rows if number < counts[row.name])


def _round(row: TableRow, make: Maker, seed: int, number: int, build: Path) -> dict[str, Any]:
    settings = row.settings(seed, number)
    folder = build.absolute() / f"{row.name}-{number}"
    result = RoundResult(row.name, number, seed, [])
    ran = run_round(
        lambda place: make(place, settings),
        faults_of(seed, number, row.a_round, row.records, row.kinds),
        folder,
        result,
        row.records,
        then=_validate if row.engine in {"flink", "pyflink"} else lambda _place, _result: None,
    )
    return stored(ran, row, version(row))


def _validate(place: Place, result: RoundResult) -> None:
    """Validate the log of a cluster, unless a disk was full, because then the log may lack lines."""
    if any(one["kind"] == Kind.DISK_FULL.value for one in result.faults):
        return
    result.log = logs.validated(logs.of_cluster(place.processes), place.folder / "job.log")
