"""Planned faults without Spark: who is asked for leave, and that each strike is real."""

import errno
import os
import queue
import subprocess
import threading

import pytest

from impl.config import ConfigError
from impl.faults import (
    ACTIONS,
    BARRIER_DUE,
    BARRIER_SENT,
    COMPLETION_DUE,
    POINTS,
    PRE_COMMIT_DUE,
    RESTART,
    SNAPSHOT_DUE,
    FaultLedger,
    FaultPlan,
    actions_at,
)
from impl.jobs.flights import flights_csv, flights_job
from impl.spark.errors import InjectedFaultError
from impl.spark.faults.driver import DriverFaults, damage
from impl.spark.faults.worker import Striker, executor_above
from impl.state import FileSystemStorage, SnapshotCorruptError, StorageError, encode


class Bench:
    """A worker's striker whose driver always gives leave."""

    def __init__(self, *plans, granted=True):
        self.asked, self.cut = queue.Queue(), []
        self.striker = Striker("count-1", self._say, {"lost-channel": lambda: self.cut.append("channel")})
        self.striker.plan([(number, plan.as_dict()) for number, plan in enumerate(plans)])
        self.granted = granted

    def _say(self, message):
        self.asked.put(message)
        threading.Thread(target=lambda: self.striker.answered(granted=self.granted)).start()


def test_every_point_has_something_that_happens_there_and_every_action_a_point():
    assert {action for point in POINTS for action in actions_at(point)} == set(ACTIONS)
    assert all(FaultPlan(point, action=action) for point in POINTS for action in actions_at(point))


def test_without_a_plan_nobody_is_asked():
    bench = Bench()
    with bench.striker.around(BARRIER_DUE, BARRIER_SENT):
        bench.striker.passing(SNAPSHOT_DUE)
    assert bench.asked.empty()


def test_an_error_is_raised_at_its_passage_with_leave_and_not_without():
    plan = FaultPlan(BARRIER_SENT, occurrence=2, action="error")
    bench = Bench(plan)
    with bench.striker.around(BARRIER_DUE, BARRIER_SENT):
        assert bench.asked.empty()
    with pytest.raises(InjectedFaultError), bench.striker.around(BARRIER_DUE, BARRIER_SENT):
        assert bench.asked.empty()
    assert bench.asked.get() == {"say": "fault", "number": 0}
    refused = Bench(plan, granted=False)
    for _ in range(3):
        refused.striker.passing(BARRIER_SENT)
    assert refused.asked.qsize() == 1


def test_nobody_waits_for_leave_when_the_attempt_is_over():
    bench = Bench(FaultPlan(BARRIER_DUE))
    bench.striker.over()
    bench.striker.passing(BARRIER_DUE)
    assert bench.asked.empty()


def test_a_cut_channel_raises_nothing_where_it_happens():
    bench = Bench(FaultPlan(BARRIER_DUE, action="lost-channel"))
    bench.striker.passing(BARRIER_DUE)
    assert bench.cut == ["channel"]


def test_a_full_disk_lets_no_byte_through_and_is_free_again_afterwards(tmp_path):
    storage = FileSystemStorage(tmp_path)
    bench = Bench(FaultPlan(SNAPSHOT_DUE, action="full-disk"))
    with pytest.raises(StorageError, match="writing") as refused, bench.striker.around(SNAPSHOT_DUE):
        storage.write(1, "count-1", 1, encode({"a": 1}))
    assert refused.value.__cause__.errno == errno.EFBIG
    assert not any((tmp_path / "chk-1").iterdir())
    assert storage.write(1, "count-1", 1, encode({"a": 1})).size > 0


def test_the_driver_finds_its_disk_full_once(tmp_path):
    lines = []
    faults = DriverFaults(FaultLedger([FaultPlan(COMPLETION_DUE, action="full-disk")]), (), (), lines.append)
    for turn in range(2):
        with faults.publication(lambda task, message: None):
            target = tmp_path / str(turn)
            if turn == 0:
                with pytest.raises(OSError, match="too large"):
                    target.write_bytes(b"x")
            else:
                target.write_bytes(b"x")
    assert [line["struck"] for line in lines] == ["the driver"]


@pytest.mark.parametrize("action", ["torn-snapshot", "bit-flip"])
def test_the_newest_checkpoint_is_damaged_so_that_it_is_refused(tmp_path, action):
    storage = FileSystemStorage(tmp_path)
    attempt = storage.new_attempt()
    for checkpoint in (9, 10):
        handle = storage.write(checkpoint, "count-1", attempt, encode({"a": checkpoint}))
        storage.publish(checkpoint, attempt, [handle])
    lines = []
    faults = DriverFaults(FaultLedger([FaultPlan(RESTART, action=action)]), (), (), lines.append)
    faults.restarting(tmp_path)
    assert [line["struck"] for line in lines] == ["chk-10/count-1.1.state"]
    with pytest.raises(SnapshotCorruptError):
        storage.load(10)
    assert storage.latest_completed().completed.checkpoint == 9


def test_damage_is_never_nothing(tmp_path):
    file = tmp_path / "one"
    for action in ("torn-snapshot", "bit-flip"):
        file.write_bytes(b"x")
        damage(file, action)
        assert file.read_bytes() != b"x"


def test_an_executor_is_only_killed_where_it_is_not_the_driver(tmp_path):
    job = flights_job(flights_csv(), tmp_path)
    with pytest.raises(ConfigError, match="executors of their own"):
        job.execute("local[8]", tmp_path, faults=[FaultPlan(PRE_COMMIT_DUE, action="kill-executor")])
    with pytest.raises(InjectedFaultError, match="no executor"):
        executor_above(os.getpid())
    child = subprocess.Popen(["sleep", "60"])
    try:
        with pytest.raises(InjectedFaultError, match=f"process {child.pid}"):
            executor_above(child.pid)
    finally:
        child.kill()
        child.wait()
