"""The coordinator on the driver: storage in memory, no Spark, and a clock that the test moves."""

from dataclasses import replace

import pytest
from coordination_bench import PLAN, TASKS, coordination_of

from impl.config import CheckpointConfig
from impl.savepoints import SavepointRequest
from impl.spark.channels.messages import (
    CheckpointAborted,
    CheckpointCompleted,
    FinishTask,
    StartCheckpoint,
)
from impl.spark.coordination.context import JobContext
from impl.spark.errors import AttemptFailedError, SavepointFailedError
from impl.spark.faults.driver import damaged
from impl.state import CheckpointStorage, SavepointFolder, StorageError, begin_from, encode
from tests.memory_storage import MemoryStorage


class Bench:
    """A coordination under test. It records the commands sent, and the test moves its clock."""

    def __init__(self, storage=None, **config):
        self.now = 0.0
        self.sent = []
        self.storage = storage or MemoryStorage()
        settings = CheckpointConfig(**{"checkpointing_interval_ms": 100, **config})
        self.it = coordination_of(JobContext(PLAN, settings, self.storage, None, lambda: self.now, lambda: 5))
        self.attempt = 0

    def start(self):
        self.attempt = self.storage.new_attempt()
        restored = self.it.begin_attempt(self.attempt, lambda *sent: self.sent.append(sent))
        for task in TASKS:
            self.it.running(task)
        return restored

    def pass_ms(self, ms):
        self.now += ms / 1_000
        self.it.tick()
        return self.commands()

    def acknowledge(self, task, checkpoint):
        handle = self.storage.write(checkpoint, task, self.attempt, encode(f"{task} at {checkpoint}"))
        self.it.acknowledge(task, handle)
        return self.commands()

    def commands(self):
        sent, self.sent = self.sent, []
        return [(task, untimed(one)) for task, one in sent]


def untimed(command):
    return replace(command, timestamp=0) if isinstance(command, StartCheckpoint) else command


def trigger(checkpoint):
    return ("in-0", StartCheckpoint(checkpoint, 0))


def test_the_time_of_a_trigger_counts_from_the_attempt_and_reads_no_wall_clock():
    bench = Bench()
    bench.start()
    bench.now += 0.125
    bench.it.tick()
    bench.now += 7.0
    bench.it.fail_attempt("a worker has died")
    bench.start()
    bench.now += 0.25
    bench.it.tick()
    starts = [one for _, one in bench.sent if isinstance(one, StartCheckpoint)]
    assert [one.timestamp for one in starts] == [125, 250]


def complete(checkpoint):
    message = CheckpointCompleted(checkpoint)
    return [("in-0", message), ("out-0", message)]


def abort(checkpoint, completed):
    message = CheckpointAborted(checkpoint, completed)
    return [("in-0", message), ("out-0", message)]


def test_a_checkpoint_is_published_before_its_tasks_are_notified():
    bench = Bench()
    bench.start()
    assert bench.pass_ms(99) == []
    assert bench.pass_ms(1) == [trigger(1)]
    assert bench.acknowledge("in-0", 1) == []
    assert bench.storage.completed_ids() == ()
    assert bench.acknowledge("out-0", 1) == complete(1)
    assert bench.storage.completed_ids() == (1,)


def test_the_first_checkpoint_may_come_sooner_than_an_interval():
    bench = Bench(checkpointing_start_delay_ms=0)
    bench.start()
    assert bench.pass_ms(0) == [trigger(1)]


def test_no_checkpoint_is_triggered_before_all_tasks_run():
    bench = Bench()
    bench.it.begin_attempt(bench.storage.new_attempt(), lambda *sent: bench.sent.append(sent))
    bench.it.running("in-0")
    assert bench.pass_ms(1_000) == []


class FullDisk(MemoryStorage):
    """A storage on which every publication fails."""

    def publish(self, checkpoint, attempt, handles, max_parallelism=None):
        raise StorageError("no space left")


def test_of_a_checkpoint_that_cannot_be_published_no_task_is_notified():
    bench = Bench(FullDisk(), tolerable_checkpoint_failure_number=1)
    bench.start()
    bench.pass_ms(100)
    bench.acknowledge("in-0", 1)
    assert bench.acknowledge("out-0", 1) == abort(1, -1)
    assert bench.it.aborted == [(1, "FINALIZE_CHECKPOINT_FAILURE")]


@pytest.mark.rule("COORD-10")
def test_a_checkpoint_that_takes_too_long_is_aborted_everywhere():
    bench = Bench(checkpoint_timeout_ms=300, tolerable_checkpoint_failure_number=1)
    bench.start()
    bench.pass_ms(100)
    bench.acknowledge("in-0", 1)
    assert bench.pass_ms(200) == []
    assert bench.pass_ms(100) == [*abort(1, -1), trigger(2)]


def test_more_failed_checkpoints_than_tolerated_fail_the_attempt():
    bench = Bench(checkpoint_timeout_ms=300)
    bench.start()
    bench.pass_ms(100)
    with pytest.raises(AttemptFailedError, match="CHECKPOINT_EXPIRED"):
        bench.pass_ms(300)


def test_the_attempt_fails_for_the_reason_that_the_task_has_given():
    bench = Bench()
    bench.start()
    bench.pass_ms(100)
    with pytest.raises(AttemptFailedError, match=r"ASYNC_EXCEPTION \(out-0: StateError: a key of another\)"):
        bench.it.decline("out-0", 1, "ASYNC_EXCEPTION", "StateError: a key of another")


def test_the_last_checkpoint_covers_all_data_and_its_completion_ends_the_sources():
    bench = Bench()
    bench.start()
    bench.it.end_of_data("in-0")
    assert bench.pass_ms(0) == []
    bench.it.end_of_data("out-0")
    assert bench.pass_ms(0) == [trigger(1)]
    bench.acknowledge("in-0", 1)
    assert bench.acknowledge("out-0", 1) == [complete(1)[0], ("in-0", FinishTask()), complete(1)[1]]
    assert bench.pass_ms(10_000) == []


def test_a_checkpoint_from_before_the_end_does_not_end_the_sources():
    bench = Bench()
    bench.start()
    bench.pass_ms(100)
    bench.it.end_of_data("in-0")
    bench.it.end_of_data("out-0")
    bench.acknowledge("in-0", 1)
    bench.pass_ms(0)
    assert bench.acknowledge("out-0", 1) == [*complete(1), trigger(2)]


def test_a_last_checkpoint_that_is_aborted_is_taken_again():
    bench = Bench(tolerable_checkpoint_failure_number=1)
    bench.start()
    bench.it.end_of_data("in-0")
    bench.it.end_of_data("out-0")
    assert bench.pass_ms(0) == [trigger(1)]
    bench.it.decline("out-0", 1, "ASYNC_EXCEPTION")
    assert bench.commands() == abort(1, -1)
    assert bench.pass_ms(0) == [trigger(2)]


@pytest.mark.rule("ONCE-04")
def test_the_next_attempt_restores_the_last_completed_checkpoint_and_draws_new_ids():
    bench = Bench()
    assert bench.start() == (None, {})
    bench.pass_ms(100)
    bench.acknowledge("in-0", 1)
    bench.acknowledge("out-0", 1)
    bench.pass_ms(100)
    bench.acknowledge("in-0", 2)
    bench.it.fail_attempt("a test says so")
    restored, states = bench.start()
    assert (restored, sorted(states)) == (1, ["in-0", "out-0"])
    assert bench.storage.read(states["out-0"]) == "out-0 at 1"
    assert bench.pass_ms(100) == [trigger(3)]


@pytest.mark.rule("COORD-02")
def test_a_new_driver_continues_from_the_published_checkpoint():
    old = Bench()
    old.start()
    old.pass_ms(100)
    old.acknowledge("in-0", 1)
    old.acknowledge("out-0", 1)
    new = Bench(old.storage)
    assert new.start()[0] == 1
    assert new.pass_ms(100) == [trigger(3)]  # the old driver may have begun checkpoint 2


@pytest.mark.rule("COORD-12")
def test_an_attempt_that_failed_by_its_checkpoints_is_followed_by_another():
    bench = Bench()
    bench.start()
    bench.pass_ms(100)
    with pytest.raises(AttemptFailedError, match="more failures in a row"):
        bench.it.decline("out-0", 1, "ASYNC_EXCEPTION")
    bench.it.fail_attempt("too many")
    bench.commands()
    assert bench.start()[0] is None
    assert bench.pass_ms(100) == [trigger(2)]


@pytest.mark.rule("ONCE-04")
def test_a_refused_checkpoint_stays_refused_in_later_attempts(tmp_path):
    bench = Bench(CheckpointStorage(tmp_path), num_retained_checkpoints=3)

    def another():
        started = bench.start()
        bench.pass_ms(100)
        checkpoint = bench.it.pending
        bench.acknowledge("in-0", checkpoint)
        bench.acknowledge("out-0", checkpoint)
        bench.it.fail_attempt("a fault")
        return started[0]

    assert [another(), another()] == [None, 1]
    file = next((tmp_path / "chk-2").glob("out-0.*.state"))
    file.write_bytes(damaged(file.read_bytes(), "bit-flip"))
    assert [another() for _ in range(4)] == [1, 3, 4, 5]
    assert bench.storage.completed_ids() == (2, 4, 5, 6)


@pytest.mark.rule("SUB-07")
def test_of_more_checkpoints_than_are_retained_a_new_driver_deletes_the_oldest(tmp_path):
    old = Bench(CheckpointStorage(tmp_path), num_retained_checkpoints=3)
    old.start()
    for checkpoint in (1, 2, 3):
        old.pass_ms(100)
        old.acknowledge("in-0", checkpoint)
        old.acknowledge("out-0", checkpoint)
    new = Bench(old.storage, num_retained_checkpoints=1)
    assert new.start()[0] == 3
    assert new.storage.completed_ids() == (3,)


@pytest.mark.rule("SUB-07")
def test_a_new_driver_that_retains_fewer_checkpoints_deletes_a_claimed_original_too(tmp_path):
    original = SavepointFolder(tmp_path / "kept")
    original.begin()
    handles = [original.write(1, task, 3, encode(task)) for task in TASKS]
    original.publish(1, 3, handles, 128, {"lineage": "11ea9e00"})
    storage = CheckpointStorage(tmp_path / "checkpoints")
    begin_from(storage, original, claim=True)
    old = Bench(storage, num_retained_checkpoints=2)
    assert old.start()[0] == 1
    old.pass_ms(100)
    old.acknowledge("in-0", 2)
    old.acknowledge("out-0", 2)
    assert storage.completed_ids() == (1, 2)
    assert original.is_complete
    new = Bench(storage, num_retained_checkpoints=1)
    assert new.start()[0] == 2
    assert storage.completed_ids() == (2,)
    assert not original.is_complete


def test_files_of_an_aborted_checkpoint_are_deleted_when_a_newer_one_is_complete(tmp_path):
    bench = Bench(CheckpointStorage(tmp_path), tolerable_checkpoint_failure_number=-1)
    bench.start()
    bench.pass_ms(100)
    bench.acknowledge("in-0", 1)
    bench.it.decline("out-0", 1, "ASYNC_EXCEPTION")
    bench.storage.write(1, "out-0", 1, encode("late"))
    bench.pass_ms(100)
    bench.acknowledge("in-0", 2)
    bench.acknowledge("out-0", 2)
    assert not (tmp_path / "chk-1").exists()
    assert bench.storage.completed_ids() == (2,)


def test_a_checkpoint_that_is_pending_when_the_job_finishes_leaves_nothing(tmp_path):
    bench = Bench(CheckpointStorage(tmp_path))
    bench.start()
    bench.pass_ms(100)
    bench.acknowledge("in-0", 1)
    bench.acknowledge("out-0", 1)
    bench.pass_ms(100)
    bench.acknowledge("in-0", 2)
    bench.it.finish()
    assert sorted(path.name for path in tmp_path.glob("chk-*")) == ["chk-1"]
    assert bench.commands() == []


class FullAtTheEnd(MemoryStorage):
    """A storage whose disk is full after the end of the job."""

    def sweep(self, attempt):
        raise StorageError("no space left")


def test_a_full_disk_after_the_last_checkpoint_does_not_fail_the_job():
    bench = Bench(FullAtTheEnd())
    bench.start()
    stopped = bench.it._savepoints._requests.add(SavepointRequest())
    assert bench.it.finish() == ((), "no space left")
    assert isinstance(stopped.exception(0), SavepointFailedError)
