"""Rounds against Structured Streaming: its query is broken as our job is, and judged by the same classifier.

Its faults strike where Spark lets a user's code stand: in the stateful function, and before and after the
sink writes a micro-batch. There is no event log to replay; output and final state are compared row for row.
"""

import os
import random
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from conformance.observe.guarantees.guarantee import Account, Row, Sent, Totals, classify
from conformance.own_process import own_process
from conformance.torture.apart import TOKEN, alive, kill_alive
from conformance.torture.judge import Outcome
from conformance.torture.leftovers import lasting
from conformance.torture.streaming_query import (
    IDEMPOTENT,
    PAIRS,
    STATE,
    StreamingFault,
)
from impl.faults import KILL_DRIVER, KILL_EXECUTOR
from impl.jobs.numbers import KEYS

LOCAL_MASTER = "local[2]"
CLUSTER_MASTER = "local-cluster[2,1,1024]"
FAULTS_A_ROUND = 4
STREAMING = "spark"
"""How these rounds are named."""
_FILES, _ROWS_A_FILE = 10, 200
_SECONDS_A_DRIVER = 400.0
_LANE = "files"


@dataclass(frozen=True)
class StreamingRound:
    """One run of the query: its faults, and how its sink writes."""

    name: str
    mode: str
    """`idempotent` or `appending`: of the sink."""
    faults: tuple[StreamingFault, ...]
    rows: int = _FILES * _ROWS_A_FILE

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


def streaming_round(number: int, seed: int, sink: str = IDEMPOTENT) -> StreamingRound:
    """Round `number` of the campaign of `seed`."""
    draw = random.Random(f"{seed} spark {number}")
    pairs = [*PAIRS]
    draw.shuffle(pairs)
    faults = []
    for point, action in pairs[:FAULTS_A_ROUND]:
        # not in the first file: what is struck has something to go back to
        record = draw.randrange(_ROWS_A_FILE, _FILES * _ROWS_A_FILE)
        batch = draw.randrange(1, _FILES)
        faults.append(StreamingFault(point, record if point == STATE else batch, action))
    return StreamingRound(f"{STREAMING}-{number}", sink, tuple(faults))


def run_streaming(planned: StreamingRound, folder: Path) -> Outcome:
    """Run a round under `folder`, which is emptied first, and judge it."""
    shutil.rmtree(folder, ignore_errors=True)
    _write_input(folder)
    began = time.monotonic()
    outcome = Outcome(planned, drivers=0)
    token = secrets.token_hex(8)
    result = None
    while result is None and not outcome.findings:
        outcome.drivers += 1
        result = _drive(planned, folder, token, outcome)
    left = lasting(lambda: list(alive(token)))
    outcome.findings += [f"left behind: {one}" for one in left]
    kill_alive(token)
    outcome.struck = tuple(one for one in planned.faults if one.mark(str(folder)).exists())
    if result is not None:
        outcome.attempts = result["started"]
        _judge(outcome, folder, {key: Totals(count, total) for key, count, total in result["state"]})
    outcome.seconds = time.monotonic() - began
    return outcome


def _write_input(folder: Path) -> None:
    (folder / "input").mkdir(parents=True)
    (folder / "output").mkdir()
    for number in range(_FILES):
        first = number * _ROWS_A_FILE
        table = pa.table({"number": pa.array(range(first, first + _ROWS_A_FILE), pa.int64())})
        path = folder / "input" / f"{number:02}.parquet"
        pq.write_table(table, path)
        os.utime(path, (number + 1, number + 1))  # Spark reads the oldest file first


def _drive(planned: StreamingRound, folder: Path, token: str, outcome: Outcome) -> dict[str, Any] | None:
    """Run one driver to its end: its result, None if it was killed as planned."""
    spec = folder / f"driver-{outcome.drivers}.json"
    cluster = any(one.action == KILL_EXECUTOR for one in planned.faults)
    told = {
        "folder": str(folder),
        "master": CLUSTER_MASTER if cluster else LOCAL_MASTER,
        "faults": [one.as_dict() for one in planned.faults],
        "sink": planned.mode,
    }
    spec.write_bytes(orjson.dumps(told))
    struck = {one for one in planned.faults if one.mark(str(folder)).exists()}
    said = folder / f"driver-{outcome.drivers}.log"
    with said.open("wb") as output:
        driver = subprocess.Popen(
            own_process("conformance.torture.streaming_query", str(spec)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, TOKEN: token},
        )
    try:
        code = driver.wait(_SECONDS_A_DRIVER)
    except subprocess.TimeoutExpired:
        driver.kill()
        driver.wait()
        outcome.findings.append(f"driver {outcome.drivers} has not ended after {_SECONDS_A_DRIVER:.0f} s")
        return None
    if code == 0:
        result: dict[str, Any] = orjson.loads(spec.with_suffix(".result").read_bytes())
        return result
    new = {one for one in planned.faults if one.mark(str(folder)).exists()} - struck
    if code != -signal.SIGKILL or not any(one.action == KILL_DRIVER for one in new):
        last = said.read_text(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
        outcome.findings.append(f"driver {outcome.drivers} ended with {code}: {last[0][:600]}")
    return None


def _judge(outcome: Outcome, folder: Path, state: Mapping[Hashable, Totals]) -> None:
    """Hold output and state against the input."""
    rows = [
        Row(*values)
        for path in sorted((folder / "output").glob("*.parquet"))
        for values in zip(*(column.to_pylist() for column in pq.read_table(path).columns), strict=True)
    ]
    sent: dict[Hashable, Sent] = {
        number: Sent(number % KEYS, _LANE, number, number) for number in range(outcome.round.rows)
    }
    outcome.rows = len(rows)
    outcome.classification = classify(Account(sent, rows, state))
