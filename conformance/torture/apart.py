"""A round whose driver or executors are killed: the driver is a process that is started until it finishes.

A driver that was killed is followed by one that resumes from the newest checkpoint, or begins anew if none
was completed. Each driver's event log is kept and validated by itself. Whatever the killed ones have started
has to end by itself: it is known by a token in its environment.
"""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import psutil

from conformance.torture.judge import Outcome, judge
from conformance.torture.leftovers import files, lasting
from conformance.torture.rounds import EXECUTOR, Round
from impl.faults import KILL_DRIVER, FaultPlan

LOCAL_MASTER = "local[6]"
CLUSTER_MASTER = "local-cluster[2,6,1024]"
"""Two executors, each with room for the whole job: one that is killed is not awaited."""
_TOKEN = "BARRIERSPEC_ROUND"
_SECONDS_A_DRIVER = 240.0


def run_apart(planned: Round, folder: Path) -> Outcome:
    """Run a round under `folder`, which is emptied first, and judge it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.monotonic()
    outcome = Outcome(planned, drivers=0)
    token = secrets.token_hex(8)
    left, logs = list(planned.faults), []
    while True:
        outcome.drivers += 1
        finished = _drive(planned, folder, left, token, outcome)
        log = (folder / "events").rename(folder / f"events-{outcome.drivers}")
        logs.append(log)
        for fault in _struck(log, left):
            left.remove(fault)
            outcome.struck = (*outcome.struck, fault)
        if finished or outcome.findings:
            break
    outcome.findings += [f"left behind: {one}" for one in lasting(lambda: list(_alive(token)))]
    for pid in _pids(token):
        os.kill(pid, signal.SIGKILL)  # it has been told of
    if finished:
        judge(outcome, folder, logs)
        outcome.findings += [f"left behind: {one}" for one in files(folder, planned.retained)]
    outcome.seconds = time.monotonic() - began
    return outcome


def _drive(planned: Round, folder: Path, faults: list[FaultPlan], token: str, outcome: Outcome) -> bool:
    """Run one driver to its end; whether the job has finished. A driver may only end otherwise by a kill."""
    spec = folder / f"driver-{outcome.drivers}.json"
    resume = any((folder / "checkpoints").glob("chk-*/_metadata"))
    told = {
        "round": planned.to_json(),
        "folder": str(folder),
        "master": CLUSTER_MASTER if planned.kind == EXECUTOR else LOCAL_MASTER,
        "faults": [one.as_dict() for one in faults],
        "resume": resume,
    }
    spec.write_bytes(orjson.dumps(told))
    (folder / "events").mkdir(exist_ok=True)
    said = folder / f"driver-{outcome.drivers}.log"
    with said.open("wb") as output:
        driver = subprocess.Popen(
            [sys.executable, "-m", "conformance.torture.child", str(spec)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, _TOKEN: token},
        )
    try:
        code = driver.wait(_SECONDS_A_DRIVER)
    except subprocess.TimeoutExpired:
        driver.kill()
        driver.wait()
        outcome.findings.append(f"driver {outcome.drivers} has not ended after {_SECONDS_A_DRIVER:.0f} s")
        return False
    if code == 0:
        result: dict[str, Any] = orjson.loads(spec.with_suffix(".result").read_bytes())
        outcome.attempts += result["attempts"]
        outcome.checkpoints += result["checkpoints"]
        outcome.refused += result["refused"]
        outcome.recoveries = tuple(result["recoveries"])
        return True
    planned_kill = any(one.action == KILL_DRIVER for one in _struck(folder / "events", faults))
    if code != -signal.SIGKILL or not planned_kill:
        last = said.read_text(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
        outcome.findings.append(f"driver {outcome.drivers} ended with {code}: {last[0][:600]}")
    return False


def _struck(log: Path, planned: list[FaultPlan]) -> list[FaultPlan]:
    """Which of the planned faults this driver's log tells of."""
    file = log / "coordinator.jsonl"
    lines = file.read_bytes().splitlines() if file.exists() else []
    told = [orjson.loads(line) for line in lines if b'"fault"' in line]
    struck = []
    for line in told:
        for fault in planned:
            same = (fault.point, fault.action) == (line.get("point"), line.get("action"))
            if same and fault not in struck and _by(fault, str(line.get("struck"))):
                struck.append(fault)
                break
    return struck


def _by(fault: FaultPlan, struck: str) -> bool:
    """Whether it is this fault that struck whom the log names."""
    return fault.task is None or fault.task in struck or "/" in struck or struck == "the driver"


def _alive(token: str) -> Iterator[str]:
    """Processes that a driver of this round has started and that still live."""
    return (f"process {pid} of an ended driver" for pid in _pids(token))


def _pids(token: str) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(_TOKEN) == token and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue  # it has just ended, or is somebody else's
    return found
