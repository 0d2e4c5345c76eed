"""Runs rounds of Structured Streaming: injects faults into a query, and judges its output and state.

Faults are injected where Spark calls user code: in the stateful function, and before and after the sink
writes a micro-batch. There is no event log to replay. The classifier compares output and final state with the
input.
"""

import os
import signal
import subprocess
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from conformance.observe.guarantees.guarantee import Account, Row, Sent, Totals, classify
from conformance.own_process import own_process
from conformance.torture.judge import Outcome, timed
from conformance.torture.rounds import FILES, ROWS_A_FILE, StreamingRound
from conformance.torture.separate_driver_round import TOKEN, processes_of
from impl.faults import Action
from impl.jobs.numbers import KEYS

LOCAL_MASTER = "local[2]"
CLUSTER_MASTER = "local-cluster[2,1,1024]"
_SECONDS_A_DRIVER = 400.0
_LANE = "files"


def run_streaming(planned: StreamingRound, folder: Path) -> Outcome:
    """Run a round under `folder`, which is emptied first, and judge it."""
    outcome = Outcome(planned, drivers=0)
    with timed(outcome, folder):
        _write_input(folder)
        result = None
        with processes_of(outcome) as token:
            while result is None and not outcome.findings:
                outcome.drivers += 1
                result = _drive(planned, folder, token, outcome)
        outcome.injected = tuple(one for one in planned.faults if one.mark(str(folder)).exists())
        if result is not None:
            outcome.attempts = result["started"]
            _judge(outcome, folder, {key: Totals(count, total) for key, count, total in result["state"]})
    return outcome


def _write_input(folder: Path) -> None:
    (folder / "input").mkdir(parents=True)
    (folder / "output").mkdir()
    for number in range(FILES):
        first = number * ROWS_A_FILE
        table = pa.table({"number": pa.array(range(first, first + ROWS_A_FILE), pa.int64())})
        path = folder / "input" / f"{number:02}.parquet"
        pq.write_table(table, path)
        os.utime(path, (number + 1, number + 1))  # Spark reads the oldest file first


def _drive(planned: StreamingRound, folder: Path, token: str, outcome: Outcome) -> dict[str, Any] | None:
    """Run one driver to its end. Returns its result; None if a fault has killed it, or it has a finding."""
    spec = folder / f"driver-{outcome.drivers}.json"
    cluster = any(one.action == Action.KILL_EXECUTOR for one in planned.faults)
    specification = {
        "folder": str(folder),
        "master": CLUSTER_MASTER if cluster else LOCAL_MASTER,
        "faults": [one.as_dict() for one in planned.faults],
        "sink": planned.mode,
    }
    spec.write_bytes(orjson.dumps(specification))
    injected = {one for one in planned.faults if one.mark(str(folder)).exists()}
    log = folder / f"driver-{outcome.drivers}.log"
    with log.open("wb") as output:
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
    new = {one for one in planned.faults if one.mark(str(folder)).exists()} - injected
    if code != -signal.SIGKILL or not any(one.action == Action.KILL_DRIVER for one in new):
        last = log.read_text(errors="replace").strip().splitlines()[-1:] or ["it logged nothing"]
        outcome.findings.append(f"driver {outcome.drivers} ended with {code}: {last[0][:600]}")
    return None


def _judge(outcome: Outcome, folder: Path, state: Mapping[Hashable, Totals]) -> None:
    """Compare output and state with the input."""
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
