"""Checkpoints that somebody asks for, on the driver's side: a clock of our own, and no Spark."""

import pytest

from impl.config import CheckpointConfig
from impl.faults import FaultLedger
from impl.plan import Edge, Plan, Role, Stage
from impl.savepoints import SavepointDesk, SavepointRequest
from impl.spark.coordination import Coordination
from impl.spark.errors import CheckpointFailedError
from impl.spark.savepoints import Savepoints
from impl.state import FileSystemStorage, encode

PLAN = Plan(
    "job", (Stage("in", Role.SOURCE, None, 1), Stage("out", Role.SINK, None, 1)), (Edge("in", "out"),)
)
TASKS = ("in-0", "out-0")


class Bench:
    """A coordination without a schedule, unless the test gives one, and its desk."""

    def __init__(self, folder, **config):
        self.now = 0.0
        self.storage = FileSystemStorage(folder / "checkpoints")
        self.desk = SavepointDesk()
        settings = CheckpointConfig(**{"checkpointing_interval_ms": None, **config})
        savepoints = Savepoints(self.desk, folder / "savepoints", "11ea9e00", PLAN, self.storage)
        self.it = Coordination(
            PLAN, settings, self.storage, FaultLedger(()), None, lambda: self.now, savepoints=savepoints
        )
        self.triggered = []
        self.attempt = self.storage.new_attempt()
        self.it.begin_attempt(self.attempt, self.hear)

    def hear(self, task, message):
        if message["do"] == "trigger" and task == "in-0":
            self.triggered.append(message["checkpoint"])

    def run(self):
        for task in TASKS:
            self.it.running(task)

    def ask(self):
        return self.desk.checkpoints.ask()

    def pass_ms(self, ms=1):
        self.now += ms / 1_000
        self.it.tick()
        triggered, self.triggered = self.triggered, []
        return triggered

    def acknowledge(self, checkpoint):
        for task in TASKS:
            handle = self.storage.write(checkpoint, task, self.attempt, encode(task))
            self.it.acknowledge(task, checkpoint, handle.to_json())


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_without_an_interval_a_checkpoint_is_taken_when_somebody_asks(bench):
    bench.run()
    assert bench.pass_ms(10**9) == []
    asked = bench.ask()
    assert bench.pass_ms() == [1]
    assert not asked.done()
    bench.acknowledge(1)
    assert asked.result(0) == 1
    assert bench.storage.completed_ids() == (1,)
    assert bench.pass_ms(10**9) == []


def test_a_request_waits_until_all_tasks_run(bench):
    asked = bench.ask()
    assert bench.pass_ms() == []
    bench.run()
    assert bench.pass_ms() == [1]
    bench.acknowledge(1)
    assert asked.result(0) == 1


def test_a_checkpoint_that_was_triggered_before_the_request_does_not_answer_it(bench):
    bench.run()
    first = bench.ask()
    assert bench.pass_ms() == [1]
    second, third = bench.ask(), bench.ask()
    assert bench.pass_ms() == []
    bench.acknowledge(1)
    assert (first.result(0), second.done()) == (1, False)
    bench.acknowledge(2)
    assert (second.result(0), third.result(0)) == (2, 2)


def test_the_schedule_goes_on_beside_the_requests(tmp_path):
    bench = Bench(tmp_path, checkpointing_interval_ms=100)
    bench.run()
    asked = bench.ask()
    assert bench.pass_ms(50) == [1]
    bench.acknowledge(1)
    assert bench.pass_ms(50) == [2]
    assert asked.result(0) == 1


def test_whoever_asked_hears_that_there_is_none(tmp_path):
    bench = Bench(tmp_path, tolerable_checkpoint_failure_number=1)
    bench.run()
    declined = bench.ask()
    bench.pass_ms()
    bench.it.decline("out-0", 1, "CHECKPOINT_DECLINED")
    with pytest.raises(CheckpointFailedError, match="checkpoint 1 was aborted with CHECKPOINT_DECLINED"):
        declined.result(0)
    pending, waiting = bench.ask(), (bench.pass_ms(), bench.ask())[1]
    bench.it.fail_attempt("a test says so")
    with pytest.raises(CheckpointFailedError, match="checkpoint 2 was aborted"):
        pending.result(0)
    with pytest.raises(CheckpointFailedError, match="a test says so"):
        waiting.result(0)
    bench.it.finish()
    with pytest.raises(CheckpointFailedError, match="the job has ended"):
        bench.ask().result(0)


def test_a_job_that_is_being_stopped_takes_no_checkpoint(bench):
    bench.run()
    bench.desk.ask(SavepointRequest(stop=True))
    asked = bench.ask()
    assert bench.pass_ms() == [1]
    with pytest.raises(CheckpointFailedError, match="being stopped"):
        asked.result(0)
