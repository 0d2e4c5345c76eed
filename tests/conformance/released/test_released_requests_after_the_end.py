"""A request after the end of a job, before a master of an aborted checkpoint has answered (COORD-30)."""

import shutil

import pytest

from conformance.adapters.flink.adapter import flink_adapter
from conformance.adapters.flink.fetch import cached
from conformance.adapters.flink.releases import release
from conformance.adapters.protocol import Applied, Made
from conformance.drive.oracle import Oracle

EVENTS = (
    {"kind": "job_status", "status": "RUNNING"},
    {"kind": "task_status", "task": "src-0", "status": "RUNNING"},
    {"kind": "trigger", "type": "checkpoint"},
    {"kind": "shutdown", "status": "FAILED"},
    {"kind": "trigger", "type": "checkpoint"},
    {"kind": "hook_done", "name": "hook", "checkpoint": 1},
)
REJECTED = [{"kind": "rejected", "type": "checkpoint", "reason": "COORDINATOR_SHUTDOWN"}]
WAITS, AT_ONCE = ([], REJECTED), (REJECTED, [])
"""The effects of the last two events: the request is rejected after the hook has answered, or at once."""


def config(profile):
    return {"profile": profile, "tasks": [{"id": "src-0", "source": True}], "hooks": ["hook"]}


@pytest.mark.parametrize(
    ("profile", "last"),
    [("1.11", WAITS), ("1.13", WAITS), ("1.14", WAITS), ("1.15", WAITS), ("1.17", AT_ONCE), ("2.3", AT_ONCE)],
)
def test_a_request_after_the_end_waits_for_the_hook_up_to_1_15(profile, last):
    edges = Oracle("coordinator", config(profile)).transcript(EVENTS)

    assert tuple([*edge.effects] for edge in edges[-2:]) == last


@pytest.mark.parametrize(("version", "last"), [("1.13.6", WAITS), ("1.17.2", AT_ONCE), ("2.3.0", AT_ONCE)])
def test_released_coordinators_do_the_same(version, last):
    one = release(version)
    if shutil.which("java") is None or cached(one) is None:
        pytest.skip(f"no java, or no jar in the cache: barrierspec flink fetch {one.version}")
    with flink_adapter(one) as adapter:
        assert isinstance(adapter.new("coordinator", config(one.coordinator)), Made)
        done = adapter.apply(EVENTS)

    assert isinstance(done, Applied)
    assert tuple(done.effects[-2:]) == last
