"""Wall clocks jump by an hour: a worker's until its attempt ends, the driver's until its job ends."""

import time

import pytest
from coordination_bench import PLAN

from impl.config import CheckpointConfig
from impl.faults import FaultLedger, FaultPlan
from impl.savepoints import SavepointRequests
from impl.spark.coordination.context import JobContext
from impl.spark.faults import clock_jumps
from impl.spark.faults.driver import FaultyRuntimeFactory
from impl.spark.faults.injector import FaultInjector
from impl.spark.savepoints.job_savepoints import Savepoints
from impl.spark.worker.context import clock_from
from impl.state import CheckpointStorage


@pytest.fixture
def true_clock():
    yield time.time
    clock_jumps.settle()


@pytest.mark.parametrize(("action", "hours"), [("clock-forward", 1), ("clock-back", -1)])
def test_the_wall_clock_of_a_worker_jumps_until_its_attempt_ends(true_clock, action, hours):
    injector = FaultInjector("count-1", (), lambda report: None, {})
    measured = clock_from(500)
    assert injector.inject(action)
    assert time.time() - true_clock() == pytest.approx(3_600 * hours, abs=60)
    assert time.time_ns() / 1e9 == pytest.approx(time.time(), abs=60)
    assert 500 <= measured() < 60_000
    injector.close()
    assert time.time is true_clock


def test_the_wall_clock_of_the_driver_jumps_until_its_job_ends(true_clock, tmp_path):
    plans = [FaultPlan("aligned", None, 1, f"driver-clock-{way}") for way in ("forward", "forward", "back")]
    factory = FaultyRuntimeFactory(FaultLedger(plans), tmp_path)
    context = JobContext(PLAN, CheckpointConfig(), CheckpointStorage(tmp_path))
    factory.publisher(context, Savepoints(SavepointRequests(), tmp_path / "none", "", PLAN, context.storage))
    for number in range(3):
        assert factory._injector.claim(number, "in-0")
    assert time.time() - true_clock() == pytest.approx(3_600, abs=60)
    assert context.wall_clock() - true_clock() == pytest.approx(3_600, abs=60)
    factory.close()
    assert time.time is true_clock


def test_a_worker_continues_after_a_jump_of_its_drivers_clock(true_clock):
    assert FaultInjector("count-1", (), lambda report: None, {}).inject("driver-clock-back")
    assert time.time is true_clock
