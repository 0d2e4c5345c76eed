"""A start of the scheduler with a waiting request (COORD-26), and a storage location that fails (COORD-35).

The matrix of releases found both: 1.18, 1.19 and 1.14.5 differed from the profiles that they had.
"""

import shutil

import pytest

from conformance.adapters.flink.adapter import flink_adapter
from conformance.adapters.flink.fetch import cached
from conformance.adapters.flink.releases import release
from conformance.adapters.protocol import Applied, Made
from conformance.drive.oracle import Oracle

TASKS = [{"id": "src-0", "source": True}, {"id": "map-0", "source": False}]
RUNNING = (
    {"kind": "job_status", "status": "RUNNING"},
    *({"kind": "task_status", "task": task["id"], "status": "RUNNING"} for task in TASKS),
)
TRIGGER = {"kind": "trigger", "type": "checkpoint"}
START = (
    *RUNNING,
    TRIGGER,
    {**TRIGGER, "forced": True},
    {"kind": "acknowledge", "task": "src-0", "checkpoint": 1, "state": "a"},
    {"kind": "acknowledge", "task": "src-0", "checkpoint": 2, "state": "b"},
    {"kind": "fail_tasks", "tasks": ["src-0"]},
    TRIGGER,
    {"kind": "job_status", "status": "RUNNING"},
)
"""Two deletions are under way, so the last request waits when the scheduler starts."""
DELETIONS = {"tasks": TASKS, "max_concurrent": 1, "interval_ms": 250, "cleaning": "slow"}
SUSPENDED = [{"kind": "rejected", "type": "checkpoint", "reason": "COORDINATOR_SUSPEND"}]

FAILS = (*RUNNING, {"kind": "io_fails", "what": "location"}, TRIGGER)
INJECTED = {"tasks": TASKS, "io_failures": "injected"}
REJECTED = [{"kind": "rejected", "type": "checkpoint", "reason": "IO_EXCEPTION"}]
ABORTED = [
    {"kind": "abort", "checkpoint": 1, "reason": "IO_EXCEPTION"},
    *({"kind": "notify_abort", "checkpoint": 1, "task": task["id"]} for task in TASKS),
]

CASES = [
    *((profile, DELETIONS, START, SUSPENDED) for profile in ("1.17", "1.18", "1.19")),
    *((profile, DELETIONS, START, []) for profile in ("1.20", "2.3")),
    *((profile, INJECTED, FAILS, REJECTED) for profile in ("1.14.0", "1.14.3")),
    *((profile, INJECTED, FAILS, ABORTED) for profile in ("1.14", "1.15", "2.3")),
]
DRIVEN = [
    *((version, DELETIONS, START, SUSPENDED) for version in ("1.17.2", "1.18.1", "1.19.3")),
    *((version, DELETIONS, START, []) for version in ("1.20.0", "2.3.0")),
    *((version, INJECTED, FAILS, REJECTED) for version in ("1.14.2", "1.14.4")),
    *((version, INJECTED, FAILS, ABORTED) for version in ("1.14.5", "1.14.6", "2.3.0")),
]


@pytest.mark.parametrize(("profile", "config", "events", "last"), CASES)
def test_the_model_answers_as_the_releases_of_its_generation(profile, config, events, last):
    edges = Oracle("coordinator", {**config, "profile": profile}).transcript(events)

    assert [*edges[-1].effects] == last


@pytest.mark.parametrize(("version", "config", "events", "last"), DRIVEN)
def test_released_coordinators_do_the_same(version, config, events, last):
    one = release(version)
    if shutil.which("java") is None or cached(one) is None:
        pytest.skip(f"no java, or no jar in the cache: barrierspec flink fetch {one.version}")
    with flink_adapter(one) as adapter:
        assert isinstance(adapter.new("coordinator", {**config, "profile": one.coordinator}), Made)
        done = adapter.apply(events)

    assert isinstance(done, Applied)
    assert done.effects[-1] == last
