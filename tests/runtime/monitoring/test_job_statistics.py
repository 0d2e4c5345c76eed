"""Statistics of a running job: its checkpoints, and how its subtasks spend their time."""

import threading

from monitored_job import MonitoredJob

from impl.config import ExecutionConfig
from impl.core import CheckpointType
from impl.graph.plan import Partitioning, Route
from impl.metrics import SnapshotMeasures, Stopwatch, TaskLoad, TaskMeasures, WaitingTime
from impl.monitoring.checkpoint_statistics import REMEMBERED, CheckpointStatistics, CheckpointStatus
from impl.monitoring.job_monitor import Rates, rates_between
from impl.savepoints import SavepointRequest
from impl.spark.channels.outputs import Outputs
from impl.state import encode
from impl.state.shared import SharedFile
from tests.runtime.coordination.coordination_bench import TASKS, Bench


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


# ---------------------------------------------------------------- checkpoints of a coordination


def test_completed_failed_and_pending_checkpoints_of_a_coordination(tmp_path):
    bench = Bench(tmp_path, checkpoint_timeout_ms=500, tolerable_checkpoint_failure_number=3)
    bench.start()
    bench.pass_ms(1_000)
    bench.now += 0.03
    bench.acknowledge(1)
    bench.pass_ms(970)
    bench.acknowledge(2, "in-0")
    bench.pass_ms(500)
    bench.pass_ms(600)
    view = bench.it.tracker.view()

    assert [(one.checkpoint, one.status.value, one.duration_ms, one.failure) for one in view.history] == [
        (3, "IN_PROGRESS", 0, ""),
        (2, "FAILED", 500, "CHECKPOINT_EXPIRED"),
        (1, "COMPLETED", 30, ""),
    ]
    assert (view.completed, view.failed, view.in_progress) == (1, 1, 1)
    assert [*view.history[1].acknowledged] == ["in-0"]
    assert view.latest.completed == view.history[2]
    assert view.latest.failed == view.history[1]


def test_the_error_behind_a_declined_checkpoint_is_its_reason(tmp_path):
    bench = Bench(tmp_path, tolerable_checkpoint_failure_number=3)
    bench.start()
    bench.pass_ms(1_000)
    bench.it.decline("out-0", 1, "IO_EXCEPTION", "the disk is full")

    assert bench.it.tracker.one(1).failure == "IO_EXCEPTION (out-0: the disk is full)"


def test_a_savepoint_has_its_folder_and_does_not_become_the_latest_checkpoint(tmp_path):
    bench = Bench(tmp_path)
    bench.start()
    bench.requests.add(SavepointRequest())
    bench.pass_ms()
    bench.acknowledge(1)
    latest = bench.it.tracker.view().latest

    assert latest.completed is None
    assert latest.savepoint.type is CheckpointType.SAVEPOINT
    assert latest.savepoint.folder == str(tmp_path / "savepoints" / "savepoint-1-11ea9e")


def test_a_subsumed_checkpoint_is_discarded_and_a_restored_one_named(tmp_path):
    bench = Bench(tmp_path, num_retained_checkpoints=1)
    bench.start()
    for checkpoint in (1, 2):
        bench.pass_ms(1_000)
        bench.acknowledge(checkpoint)
    bench.it.fail_attempt("a test ends it")
    bench.begin()
    view = bench.it.tracker.view()

    assert [(one.checkpoint, one.discarded) for one in view.history] == [(2, False), (1, True)]
    assert view.latest.restored.checkpoint == 2
    assert view.restored == 1


def test_files_of_an_older_checkpoint_count_as_size_and_not_as_written(tmp_path):
    bench = Bench(tmp_path, max_concurrent_checkpoints=2)
    bench.start()
    old, new = SharedFile("shared/old", 1_000, "00"), SharedFile("shared/new", 10, "00")
    for checkpoint, shared in ((1, (old,)), (2, (old, new))):
        bench.pass_ms(1_000)
        for task in TASKS:
            handle = bench.storage.write(checkpoint, task, bench.attempt, encode(0), shared=shared)
            bench.it._history.acknowledged(task, handle, None)
    size = handle.size
    first, second = (bench.it.tracker.one(checkpoint).acknowledged["out-0"] for checkpoint in (1, 2))

    assert (first.written_bytes, first.whole_bytes) == (size + 1_000, size + 1_000)
    assert (second.written_bytes, second.whole_bytes) == (size + 10, size + 1_010)


def test_the_history_is_bounded_and_keeps_what_is_pending():
    job = MonitoredJob()
    job.trigger(1)
    for checkpoint in range(2, 3 * REMEMBERED):
        job.complete(checkpoint)
    history = job.tracker.view().history

    assert len(history) == REMEMBERED
    assert history[-1].checkpoint == 1
    assert history[-1].status is CheckpointStatus.IN_PROGRESS


def test_what_comes_late_changes_nothing():
    job = MonitoredJob()
    job.complete(1)
    before = job.tracker.one(1)
    job.acknowledge(1, "in-0")
    job.tracker.failed(1, 1.0, "late")
    job.tracker.completed(2, 1.0, "")

    assert job.tracker.one(1) == before
    assert (job.tracker.view().completed, job.tracker.view().failed) == (1, 0)


def test_a_view_does_not_change_while_it_is_read():
    job = MonitoredJob()
    job.trigger(1)
    view = job.tracker.view()
    job.acknowledge(1)

    assert view.history == (CheckpointStatistics(1, CheckpointType.CHECKPOINT, 1, 1_000_000, 4),)


# ---------------------------------------------------------------- the time of a subtask


def test_the_time_of_a_wait_is_counted_also_before_it_ends():
    clock = Clock()
    waiting = WaitingTime(clock)
    with waiting:
        clock.now = 0.5
        assert waiting.ms == 500
    clock.now = 2.0
    with waiting:
        clock.now = 2.25
    assert waiting.ms == 750


class FullChannel:
    """A channel whose receiver does not read."""

    def __init__(self):
        self.sending, self.has_room = threading.Event(), threading.Event()

    def send(self, kind, payload=b""):
        self.sending.set()
        self.has_room.wait(60)


def test_a_subtask_is_back_pressured_while_its_channel_does_not_take_what_is_sent():
    clock, channel = Clock(), FullChannel()
    outputs = Outputs({"out-0": channel}, [Route(("out-0",), Partitioning.REBALANCE)], 1)
    outputs.backpressured._clock = clock
    sender = threading.Thread(target=outputs.emit, args=([(1,)],))
    sender.start()
    assert channel.sending.wait(60)
    clock.now = 3.0
    assert outputs.backpressured.ms == 3_000
    channel.has_room.set()
    sender.join(60)
    clock.now = 9.0

    assert outputs.backpressured.ms == 3_000
    assert outputs.emitted == 1


def test_a_record_that_goes_to_every_subtask_is_emitted_once():
    free = FullChannel()
    free.has_room.set()
    channels = {"a-0": free, "a-1": free}
    outputs = Outputs(channels, [Route(tuple(channels), Partitioning.BROADCAST)], 10)
    outputs.emit([(1,), (2,)])

    assert outputs.emitted == 2


def test_a_snapshot_has_its_synchronous_part_and_whether_its_barrier_overtook():
    clock = Clock()
    watch = Stopwatch(clock)
    clock.now = 0.25
    watch.taken(3, 0.0)
    watch.overtakes(3)

    assert watch.measures(3) == SnapshotMeasures(synchronous_ms=250.0, unaligned=True)
    assert watch.measures(3) == SnapshotMeasures()


def test_rates_are_those_between_two_measurements_by_the_clock_of_the_worker():
    before = TaskMeasures(100, load=TaskLoad(50, 1_000, 400, 100))
    now = TaskMeasures(300, load=TaskLoad(150, 3_000, 900, 1_100))

    assert rates_between(before, now) == Rates(100.0, 50.0, busy=0.25, idle=0.25, backpressured=0.5)
    assert rates_between(now, now) == Rates()


def test_rates_are_of_the_last_seconds_and_begin_anew_with_an_attempt():
    job = MonitoredJob().run()
    for second in range(1, 21):
        job.now = float(second)
        job.heartbeat(1_000 * second, 10 * second if second <= 10 else 100 + 50 * (second - 10), 0, 0)
        job.monitor.sample()
        job.monitor.sample()  # too early for another sample
    assert job.monitor.view().tasks["out-0"].rates.records == 50.0

    job.fail("a test ends it")
    job.heartbeat(30_000, 3_000, 0, 0)  # the worker's clock is ahead of that of the previous attempt
    assert job.monitor.view().tasks["out-0"].rates.records == 100.0


def test_rates_of_rare_heartbeats_are_never_lost():
    job = MonitoredJob(
        execution=ExecutionConfig(heartbeat_interval_ms=5_000, heartbeat_timeout_ms=15_000)
    ).run()
    for second in range(1, 31):
        job.now = float(second)
        if second % 5 == 0:
            job.heartbeat(1_000 * second, 10 * second, 250 * second, 0)
        job.monitor.sample()
        if second >= 5:
            rates = job.monitor.view().tasks["out-0"].rates
            assert (second, round(rates.records), round(rates.busy, 2)) == (second, 10, 0.75)
