"""Planned faults without Spark: the driver allows each one once, and each has its real effect."""

import errno
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import psutil
import pytest
from coordination_bench import PLAN, TASKS, coordination_of

from impl.config import CheckpointConfig, ConfigError
from impl.faults import ACTIONS, POINTS, FaultLedger, FaultPlan, Point, actions_at
from impl.jobs.flights import flights_csv, flights_job
from impl.savepoints import SavepointRequests
from impl.spark.channels.control_channel import Workers
from impl.spark.channels.handshake import Credentials
from impl.spark.channels.listener import connect_to
from impl.spark.channels.messages import (
    AnswerFault,
    CheckpointCompleted,
    Failed,
    FaultReached,
    InjectFault,
    Running,
    pack_message,
    unpack_command,
)
from impl.spark.coordination.context import JobContext
from impl.spark.errors import InjectedFaultError
from impl.spark.faults.driver import FaultyRuntimeFactory, damaged
from impl.spark.faults.injector import FaultInjector, executor_above, kill_host
from impl.spark.faults.worker import FaultySparkTask, FaultyWorker
from impl.spark.savepoints.job_savepoints import Savepoints
from impl.spark.worker.worker import Worker
from impl.state import CheckpointStorage, SnapshotCorruptError, StorageError, encode
from tests.waiting import until

OURS = Credentials(b"secret", 1)


class Bench:
    """The injector of a worker. Its driver always gives the same answer."""

    def __init__(self, *plans, granted=True):
        self.reports, self.cut = queue.Queue(), []
        cuts = {"lost-channel": lambda: self.cut.append("channel")}
        self.injector = FaultInjector("count-1", tuple(enumerate(plans)), self._report, cuts)
        self.granted = granted

    def _report(self, report):
        self.reports.put(report)
        threading.Thread(target=lambda: self.injector.answer(granted=self.granted)).start()


def test_every_point_has_an_action_and_every_action_a_point():
    assert {action for point in POINTS for action in actions_at(point)} == set(ACTIONS)
    assert all(FaultPlan(point, action=action) for point in POINTS for action in actions_at(point))


def test_an_error_is_raised_at_its_occurrence_if_the_driver_consents():
    plan = FaultPlan(Point.BARRIER_SENT, occurrence=2, action="error")
    bench = Bench(plan)
    with bench.injector.around(Point.BARRIER_DUE, Point.BARRIER_SENT):
        assert bench.reports.empty()
    with pytest.raises(InjectedFaultError), bench.injector.around(Point.BARRIER_DUE, Point.BARRIER_SENT):
        assert bench.reports.empty()
    assert bench.reports.get() == FaultReached(0)
    refused = Bench(plan, granted=False)
    for _ in range(3):
        refused.injector.reach(Point.BARRIER_SENT)
    assert refused.reports.qsize() == 1


def test_no_fault_happens_when_the_attempt_is_over():
    bench = Bench(FaultPlan(Point.BARRIER_DUE))
    bench.injector.close()
    bench.injector.reach(Point.BARRIER_DUE)
    assert bench.reports.empty()


def test_a_cut_channel_raises_nothing_where_it_happens():
    bench = Bench(FaultPlan(Point.BARRIER_DUE, action="lost-channel"))
    bench.injector.reach(Point.BARRIER_DUE)
    assert bench.cut == ["channel"]


def test_a_full_disk_lets_no_byte_through_and_is_free_again_afterwards(tmp_path):
    storage = CheckpointStorage(tmp_path)
    bench = Bench(FaultPlan(Point.SNAPSHOT_DUE, action="full-disk"))
    with pytest.raises(StorageError, match="writing") as refused, bench.injector.around(Point.SNAPSHOT_DUE):
        storage.write(1, "count-1", 1, encode({"a": 1}))
    assert refused.value.__cause__.errno == errno.EFBIG
    assert not any((tmp_path / "chk-1").iterdir())
    assert storage.write(1, "count-1", 1, encode({"a": 1})).size > 0


@pytest.mark.parametrize(("task", "kind"), [("in", Worker), ("out-0", FaultyWorker), (None, FaultyWorker)])
def test_a_worker_to_which_no_fault_can_happen_is_a_plain_one(task, kind):
    from test_unknown_effects import LAUNCH

    faulty = FaultySparkTask(LAUNCH, ((0, FaultPlan(Point.BARRIER_DUE, task)),))
    assert type(faulty.worker(PLAN.subtasks()[1])) is kind


# ---------------------------------------------------------------- the driver


class Driver:
    """A coordination with planned faults. For each task a worker reads the commands."""

    def __init__(self, folder, *plans):
        self.ledger, self.lines, self.now = FaultLedger(plans), [], 0.0
        self.storage = CheckpointStorage(folder)
        settings = CheckpointConfig(100, tolerable_checkpoint_failure_number=1)
        self.context = JobContext(PLAN, settings, self.storage, self, lambda: self.now, lambda: 5)
        self.factory = FaultyRuntimeFactory(self.ledger, folder)
        savepoints = Savepoints(SavepointRequests(), folder / "none", "", PLAN, self.storage)
        files = self.factory.publisher(self.context, savepoints)
        self.it = coordination_of(self.context, savepoints, files=files)

    def line(self, fields):
        if fields.get("kind") == "fault":
            self.lines.append((fields["point"], fields["victim"]))

    def step(self, *arguments, **fields):
        """Appends a line to the event log."""

    def begin(self):
        self.workers = self.factory.workers("127.0.0.1", OURS, TASKS)
        address = (self.workers.host, self.workers.port)
        self.controls = {task: connect_to(address, OURS, {"task": task}, 65_536) for task in TASKS}
        for control in self.controls.values():
            control.time_out(10)
            control.send_message(pack_message(Running()))
        for _ in TASKS:  # the driver knows a connection from its first report on
            self.workers.receive(10)
        self.number = self.storage.new_attempt()
        self.it.begin_attempt(self.number, self.workers.send)
        for task in TASKS:
            self.it.running(task)

    def checkpoint(self):
        self.now += 0.1
        self.it.tick()
        checkpoint = self.it.pending
        for task in TASKS:
            self.it.acknowledge(task, self.storage.write(checkpoint, task, self.number, encode(task)))

    def received(self, task, count):
        return [unpack_command(self.controls[task].receive_message()) for _ in range(count)]

    def close(self):
        self.workers.close()


@pytest.fixture
def driver_of(tmp_path):
    made = []

    def make(*plans):
        made.append(Driver(tmp_path, *plans))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_fault_at_the_stored_completion_precedes_the_notification_and_happens_once(driver_of):
    driver = driver_of(FaultPlan(Point.COMPLETION_STORED, action="error"))
    driver.begin()
    driver.checkpoint()
    driver.checkpoint()
    injected = InjectFault("error", Point.COMPLETION_STORED)
    assert driver.received("out-0", 3) == [injected, CheckpointCompleted(1), CheckpointCompleted(2)]
    assert driver.lines == [(Point.COMPLETION_STORED, "out-0")]
    assert driver.ledger.left() == ()


def test_the_driver_finds_its_disk_full_once(driver_of):
    driver = driver_of(FaultPlan(Point.COMPLETION_DUE, action="full-disk"))
    driver.begin()
    driver.checkpoint()
    driver.checkpoint()
    assert driver.it.aborted == [(1, "FINALIZE_CHECKPOINT_FAILURE")]
    assert driver.storage.completed_ids() == (2,)
    assert driver.lines == [(Point.COMPLETION_DUE, "the driver")]


def test_the_driver_consents_to_a_fault_once_and_to_none_after_a_failure(driver_of):
    driver = driver_of(FaultPlan(Point.BARRIER_DUE), FaultPlan(Point.BARRIER_SENT))
    driver.begin()
    for task in TASKS:
        driver.controls[task].send_message(pack_message(FaultReached(0)))
        assert driver.workers.receive(10) is None
    assert driver.received("in-0", 1) == [AnswerFault(granted=True)]
    assert driver.received("out-0", 1) == [AnswerFault(granted=False)]
    failed = Failed("its reason", secondary=False, final=False)
    driver.controls["in-0"].send_message(pack_message(failed))
    assert driver.workers.receive(10) == ("in-0", failed)
    driver.controls["out-0"].send_message(pack_message(FaultReached(1)))
    assert driver.workers.receive(10) is None
    assert driver.ledger.happened == (FaultPlan(Point.BARRIER_DUE),)


@pytest.mark.parametrize("action", ["torn-snapshot", "bit-flip"])
def test_the_newest_checkpoint_is_damaged_at_a_restart_so_that_it_is_refused(driver_of, action):
    driver = driver_of(FaultPlan(Point.RESTART, action=action))
    driver.begin()
    driver.checkpoint()
    driver.checkpoint()
    driver.close()
    driver.it.fail_attempt("a test says so")
    assert driver.lines == []
    driver.begin()
    assert driver.lines == [(Point.RESTART, "chk-2/in-0.1.state")]
    with pytest.raises(SnapshotCorruptError):
        driver.storage.load(2)
    assert [one.checkpoint for one in driver.it.refused] == [2]


def test_a_job_without_planned_faults_has_plain_parts():
    from impl.spark.runtime import RuntimeFactory

    workers = RuntimeFactory().workers("127.0.0.1", OURS, TASKS)
    assert type(workers) is Workers
    workers.close()


def test_damage_always_changes_the_file(tmp_path):
    file = tmp_path / "one"
    for action in ("torn-snapshot", "bit-flip"):
        file.write_bytes(b"x")
        file.write_bytes(damaged(file.read_bytes(), action))
        assert file.read_bytes() != b"x"


def test_an_executor_is_only_killed_where_it_is_not_the_driver(tmp_path):
    job = flights_job(flights_csv(), tmp_path)
    with pytest.raises(ConfigError, match="executors in processes of their own"):
        job.execute("local[8]", tmp_path, faults=[FaultPlan(Point.PRE_COMMIT_DUE, action="kill-executor")])
    with pytest.raises(InjectedFaultError, match="no executor"):
        executor_above(os.getpid())
    child = subprocess.Popen(["sleep", "60"])
    try:
        with pytest.raises(InjectedFaultError, match=f"process {child.pid}"):
            executor_above(child.pid)
    finally:
        child.kill()
        child.wait()


def test_a_host_is_killed_with_all_its_processes_and_only_on_a_standalone_cluster(tmp_path):
    job = flights_job(flights_csv(), tmp_path)
    for master in ("local[8]", "local-cluster[2,4,1024]"):
        with pytest.raises(
            ConfigError, match=f"needs a standalone cluster, but the master is {re.escape(master)}"
        ):
            job.execute(master, tmp_path, faults=[FaultPlan(Point.PRE_COMMIT_DUE, action="kill-host")])
    with pytest.raises(InjectedFaultError, match="belongs to no standalone worker"):
        kill_host(os.getpid())

    java = shutil.copy("/bin/sh", tmp_path / "java")
    started = [java, "-c", f"{java} -c 'sleep 60 & wait' & sleep 60 & wait"]
    worker, processes = psutil.Popen(started), []
    try:
        until(lambda: len(worker.children(recursive=True)) >= 3, possible=lambda: worker.poll() is None)
        processes = worker.children(recursive=True)
        executor = next(one for one in processes if one.name() == "java")
        killing = f"from impl.spark.faults.injector import kill_host; kill_host({executor.pid})"
        ended = subprocess.run([sys.executable, "-c", killing], check=False)
        assert ended.returncode == -signal.SIGKILL
        assert worker.wait() == -signal.SIGKILL
        assert psutil.wait_procs(processes, timeout=10)[1] == []
    finally:
        for one in [worker, *processes]:
            with suppress(psutil.NoSuchProcess):
                one.kill()
