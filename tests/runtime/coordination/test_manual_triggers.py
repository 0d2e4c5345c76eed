"""Checkpoints that a user requests, on the driver's side: no Spark, and a clock that the test moves."""

import pytest
from coordination_bench import Bench

from impl.savepoints import SavepointRequest
from impl.spark.errors import CheckpointFailedError


class RequestBench(Bench):
    """The driver's side of a job, without a schedule by default. `commands` returns only the triggers."""

    def __init__(self, folder, **config):
        super().__init__(folder, **{"checkpointing_interval_ms": None, **config})
        self.begin()

    def ask(self):
        return self.requests.checkpoints.request()

    def commands(self):
        return [checkpoint for _, do, checkpoint in super().commands() if do == "trigger"]


@pytest.fixture
def bench(tmp_path):
    return RequestBench(tmp_path)


def test_without_an_interval_a_checkpoint_is_taken_at_a_request(bench):
    bench.run()
    assert bench.pass_ms(10**9) == []
    request = bench.ask()
    assert bench.pass_ms() == [1]
    assert not request.done()
    bench.acknowledge(1)
    assert request.result(0) == 1
    assert bench.storage.completed_ids() == (1,)
    assert bench.pass_ms(10**9) == []


def test_a_request_waits_until_all_tasks_run(bench):
    request = bench.ask()
    assert bench.pass_ms() == []
    bench.run()
    assert bench.pass_ms() == [1]
    bench.acknowledge(1)
    assert request.result(0) == 1


def test_a_checkpoint_that_was_triggered_before_the_request_does_not_answer_it(bench):
    bench.run()
    first = bench.ask()
    assert bench.pass_ms() == [1]
    second, third = bench.ask(), bench.ask()
    assert bench.pass_ms() == []
    assert bench.acknowledge(1) == [2]
    assert (first.result(0), second.done()) == (1, False)
    bench.acknowledge(2)
    assert (second.result(0), third.result(0)) == (2, 2)


def test_the_schedule_continues_beside_the_requests(tmp_path):
    bench = RequestBench(tmp_path, checkpointing_interval_ms=100)
    bench.run()
    request = bench.ask()
    assert bench.pass_ms(50) == [1]
    bench.acknowledge(1)
    assert bench.pass_ms(50) == [2]
    assert request.result(0) == 1


def test_a_request_whose_checkpoint_fails_or_cannot_start_gets_the_reason(tmp_path):
    bench = RequestBench(tmp_path, tolerable_checkpoint_failure_number=1)
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
    bench.requests.add(SavepointRequest(stop=True))
    request = bench.ask()
    assert bench.pass_ms() == [1]
    with pytest.raises(CheckpointFailedError, match="being stopped"):
        request.result(0)
