"""The loop of one subtask, which gets single frames: its snapshot, and the order of its output."""

import queue
import socket
import threading
from dataclasses import replace

import pytest

from impl.aggregation.rows import Aggregating
from impl.faults import Point
from impl.graph.plan import Route, Subtask
from impl.jobs.flights import FlightTotals
from impl.spark.channels.credits import ChannelListener, CreditedChannel
from impl.spark.channels.data_channels import DataChannels
from impl.spark.channels.frames import Connection, Kind, pack_id, pack_rows, unpack_id, unpack_rows
from impl.spark.channels.inbox import Inbox, InboxClosedError
from impl.spark.channels.messages import (
    Acknowledged,
    CheckpointAborted,
    CheckpointCompleted,
    DataEnded,
    Declined,
    FinishTask,
    StartCheckpoint,
    TaskFailed,
)
from impl.spark.channels.outputs import Outputs
from impl.spark.channels.overtaking_channels import OvertakingInbox, OvertakingOutputs
from impl.spark.errors import ConnectionLostError, FrameError, InjectedFaultError, SparkRuntimeError
from impl.spark.faults.injector import FaultInjector
from impl.spark.faults.worker import FaultyStorage, FaultySubtask
from impl.spark.savepoints.savepoint_options import KnownSavepoints
from impl.spark.snapshots.writer import TaskSnapshotFiles
from impl.spark.worker.context import TaskContext
from impl.spark.worker.processing import ProcessOperator
from impl.spark.worker.sources import RateInput, SplitsOperator
from impl.spark.worker.subtask import RunningSubtask
from impl.state import HeapKeyedStateBackend
from tests.memory_storage import MemoryStorage


def flight(offset, delay):
    return ("UA", "2013-01-01", 0, offset, delay)


class NoFault(FaultInjector):
    """Records the reached fault points. No fault happens."""

    def __init__(self, points):
        super().__init__("count-0", (), points.append, {})
        self._points = points

    def reach(self, point):
        self._points.append(point)
        return False


def context_of(storage, **fields):
    """The context of a subtask in attempt 1. Its reports go to a queue."""
    savepoints = KnownSavepoints()
    files = TaskSnapshotFiles(fields["task"], 1, storage, savepoints)
    return TaskContext(attempt=1, storage=files, savepoints=savepoints, **fields)


class Bench:
    """A keyed subtask with two input channels and one output. It runs until the test ends."""

    def __init__(self, mode="exactly-once"):
        self.reports, self.reached, self.ended = queue.Queue(), [], queue.Queue()
        self.inbox, self.storage = Inbox(2, 10), MemoryStorage()
        here, there = socket.socketpair()
        self.below = Connection(there, 1)
        self.below.time_out(10)
        context = context_of(
            self.storage,
            task="count-0",
            upstream=("in-0", "in-1"),
            inbox=self.inbox,
            outputs=Outputs({"sink-0": Connection(here, 1)}, [Route(("sink-0",))], 100),
            report=self.reports.put,
            mode=mode,
        )
        operator = ProcessOperator(
            Aggregating(FlightTotals()), {0: lambda row: row[:2]}, HeapKeyedStateBackend()
        )
        injector = NoFault(self.reached)
        faulty = replace(context, storage=FaultyStorage(context.storage, injector))
        self.subtask = FaultySubtask(faulty, operator, (0, 0), injector)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        try:
            self.subtask.run()
            self.ended.put(None)
        except (InboxClosedError, SparkRuntimeError) as failed:
            self.ended.put(failed)

    def barrier(self, channel, checkpoint):
        self.inbox.put(channel, (Kind.BARRIER, pack_id(checkpoint)))

    def records(self, channel, *rows):
        self.inbox.put(channel, (Kind.RECORDS, pack_rows(rows)))

    def both(self, kind):
        self.inbox.put(0, (kind, b""))
        self.inbox.put(1, (kind, b""))

    def report(self):
        return self.reports.get(timeout=60)

    def snapshot(self, acknowledged):
        restored = HeapKeyedStateBackend()
        restored.restore([self.storage.open(acknowledged.state)])
        return dict(restored.value_state("accumulator").items())


@pytest.fixture
def bench():
    bench = Bench()
    yield bench
    bench.inbox.close()


@pytest.mark.rule("ONCE-01")
def test_the_snapshot_holds_what_came_before_the_barriers_and_nothing_after(bench):
    bench.barrier(0, 1)
    bench.records(0, flight(10, 7))
    bench.records(1, flight(0, 2))
    bench.barrier(1, 1)
    report = bench.report()
    frames = [bench.below.receive() for _ in range(3)]
    assert report.state.checkpoint == 1
    assert bench.snapshot(report) == {("UA", "2013-01-01"): (1, 2)}
    assert [kind for kind, _ in frames] == [Kind.RECORDS, Kind.BARRIER, Kind.RECORDS]
    assert unpack_rows(frames[2][1]) == [("UA", "2013-01-01", 0, 10, 2, 9)]


@pytest.mark.rule("TRACK-01")
def test_at_least_once_the_snapshot_holds_what_came_behind_a_barrier_too():
    bench = Bench(mode="at-least-once")
    bench.barrier(0, 1)
    bench.records(0, flight(10, 7))
    bench.records(1, flight(0, 2))
    bench.barrier(1, 1)
    report = bench.report()
    bench.inbox.close()

    assert bench.snapshot(report) == {("UA", "2013-01-01"): (2, 9)}


@pytest.mark.rule("ALIGN-03")
def test_an_overtaken_checkpoint_is_declined_and_cancelled_downstream(bench):
    bench.barrier(0, 1)
    bench.barrier(1, 2)
    assert bench.report() == Declined(1, "SUBSUMED")
    kind, payload = bench.below.receive()
    assert (kind, unpack_id(payload)) == (Kind.CANCEL, 1)


@pytest.mark.rule("TASK-03")
def test_a_checkpoint_aborted_before_its_barriers_sends_a_cancellation(bench):
    bench.inbox.post(CheckpointAborted(1, -1))
    bench.barrier(0, 1)
    bench.barrier(1, 1)
    kind, payload = bench.below.receive()
    assert (kind, unpack_id(payload)) == (Kind.CANCEL, 1)
    assert bench.reports.empty()


def test_a_subtask_ends_when_the_checkpoint_after_its_last_record_is_complete_and_not_before(bench):
    bench.records(0, flight(0, 1))
    bench.both(Kind.END_OF_DATA)
    assert bench.report() == DataEnded()
    bench.barrier(0, 4)
    bench.barrier(1, 4)
    assert bench.report().state.checkpoint == 4
    bench.both(Kind.END_OF_PARTITION)
    frames = [bench.below.receive()[0] for _ in range(4)]
    assert frames == [Kind.RECORDS, Kind.END_OF_DATA, Kind.BARRIER, Kind.END_OF_PARTITION]
    assert bench.ended.empty()
    bench.inbox.post(CheckpointCompleted(4))
    assert bench.ended.get(timeout=60) is None
    assert [one for one in bench.reached if one != Point.SNAPSHOT_DUE] == [
        *(
            Point.FIRST_BARRIER_CAME,
            Point.ALIGNMENT_IN_PROGRESS,
            Point.LAST_BARRIER_CAME,
            Point.BARRIER_DUE,
            Point.BARRIER_SENT,
            Point.ALIGNED,
        ),
        *(Point.SNAPSHOT_WRITTEN, Point.ACKNOWLEDGEMENT_DUE, Point.ACKNOWLEDGEMENT_SENT),
        *(Point.NOTIFICATION_RECEIVED, Point.NOTIFICATION_HANDLED),
    ]
    assert Point.SNAPSHOT_DUE in bench.reached  # in the thread that writes


def test_a_broken_channel_fails_it_and_names_the_peer(bench):
    channels = DataChannels(None, Subtask("count-0", 1, 0), ("in-0", "in-1"), bench.inbox)
    here, there = socket.socketpair()
    channels.accept(Connection(here, 1), {"from": "in-1", "to": "count-0"})
    channels.restored()
    there.close()
    failed = bench.ended.get(timeout=60)
    assert isinstance(failed, ConnectionLostError)
    assert "in-1" in str(failed)


def test_a_frame_that_is_no_data_fails_it_and_names_the_peer(bench):
    bench.inbox.put(1, (Kind.CREDIT, b""))
    failed = bench.ended.get(timeout=60)
    assert isinstance(failed, FrameError)
    assert "in-1" in str(failed)


def test_a_fault_of_the_driver_fails_it_before_the_notification_behind_it(bench):
    bench.inbox.post(TaskFailed(InjectedFaultError("at completion-stored")))
    bench.inbox.post(CheckpointCompleted(1))
    assert isinstance(bench.ended.get(timeout=60), InjectedFaultError)
    assert bench.reached == []


def test_the_end_of_the_attempt_wakes_the_subtask(bench):
    bench.inbox.close()
    assert isinstance(bench.ended.get(timeout=60), InboxClosedError)


def test_a_source_reports_once_that_its_data_has_ended_however_often_it_wakes():
    here, there = socket.socketpair()
    below, reports = Connection(there, 1), queue.Queue()
    below.time_out(10)
    inbox = OvertakingInbox(0, 4, lambda channel, count: None)
    channel = CreditedChannel(Connection(here, 1), 4, (), ChannelListener(inbox.wake, reports.put))
    source = RateInput(2, lambda batch, partition, offset: [(offset,)])
    context = context_of(
        MemoryStorage(),
        task="numbers-0",
        upstream=(),
        inbox=inbox,
        outputs=OvertakingOutputs({"count-0": channel}, [Route(("count-0",))], 100),
        report=reports.put,
        mode="unaligned",
    )
    subtask = RunningSubtask(context, SplitsOperator(source, 1, {0: None}, 100), ())
    running = threading.Thread(target=subtask.run, daemon=True)
    running.start()
    frames = [below.receive()[0] for _ in range(2)]
    inbox.post(StartCheckpoint(1, 0))
    frames.append(below.receive()[0])
    sent = [type(reports.get(timeout=60)) for _ in range(2)]
    inbox.post(CheckpointCompleted(1))
    inbox.post(FinishTask())
    frames.append(below.receive()[0])
    running.join(10)
    channel.close()

    assert frames == [Kind.RECORDS, Kind.END_OF_DATA, Kind.BARRIER, Kind.END_OF_PARTITION]
    assert sent == [DataEnded, Acknowledged]
    assert reports.empty()
