"""The loop of a subtask fires timers between two frames, and none after the last row."""

import threading

import pytest

from impl.config import ConfigError
from impl.job import Job, ParquetOutput, RateInput
from impl.spark.channels.frames import Kind
from impl.spark.channels.inbox import InboxClosedError
from impl.spark.channels.outputs import Outputs
from impl.spark.savepoints.savepoint_options import SavepointOptions
from impl.spark.worker.processing import ProcessOperator
from impl.state import HeapKeyedStateBackend
from impl.state.timers import TIMERS
from tests.runtime.one_subtask import OneSubtask


class Clock:
    now = 0

    def __call__(self):
        return self.now


class Delaying:
    """Emits the key of each row (key, time) at its time, and counts the emitted keys."""

    def open(self, state):
        self.emitted = state.value_state("emitted", immutable=True)

    def open_timers(self, timers):
        self.timers = timers

    def process_element(self, key, row):
        self.timers.register_processing_time_timer(key, row[1])
        return ()

    def on_timer(self, key, timestamp):
        self.emitted.put(key, timestamp)
        return [(key, timestamp)]


class Delayed(OneSubtask):
    """A subtask with the function `Delaying`."""

    def __init__(self, clock=None, **options):
        self.clock = clock or Clock()
        operator = ProcessOperator(
            Delaying(), {0: lambda row: row[0]}, HeapKeyedStateBackend(), clock=self.clock
        )
        super().__init__(operator, **options)
        self.timers = operator.timers

    def fire(self, now):
        self.clock.now = now
        self.subtask.fire_timers(self.timers)

    def stored(self):
        """The emitted keys and the timers in the snapshot that was begun."""
        restored = HeapKeyedStateBackend()
        restored.restore([self.snapshot()])
        times = {key: [*there] for key, there in restored.map_state(TIMERS).items()}
        return dict(restored.value_state("emitted").items()), times


@pytest.mark.rule("ONCE-01")
def test_a_timer_during_an_alignment_is_in_the_snapshot_with_all_of_its_effects():
    task = Delayed(channels=2)
    task.rows(("a", 10), ("b", 20), ("c", 30))
    task.fire(11)
    task.barrier(1, channel=0)
    task.fire(21)
    task.barrier(1, channel=1)
    task.fire(31)
    assert task.stored() == ({"a": 10, "b": 20}, {"c": [30]})
    task.outputs.flush()
    assert task.sent == [("a", 10), ("b", 20), (Kind.BARRIER, 1), ("c", 30)]


def test_behind_the_end_of_data_no_timer_fires_and_the_snapshot_keeps_it():
    task = Delayed()
    task.rows(("a", 10))
    task.end()
    task.fire(11)
    task.barrier(1)
    assert task.stored() == ({}, {"a": [10]})
    assert task.sent == [Kind.END_OF_DATA, (Kind.BARRIER, 1)]
    assert task.subtask._idle_seconds() is None


def test_behind_the_savepoint_that_stops_the_job_no_timer_fires(tmp_path):
    task = Delayed()
    task.rows(("a", 10))
    task.barrier(1)
    task.snapshot()
    task.barrier(2, options=SavepointOptions(str(tmp_path), stops=True).pack())
    task.fire(11)
    task.outputs.flush()
    assert [kind for kind, _ in task.sent] == [Kind.BARRIER, Kind.BARRIER]
    assert task.subtask._idle_seconds() is None


def test_while_the_outputs_are_full_no_timer_fires():
    class Full(Outputs):
        is_available = False

    task = Delayed(outputs=Full)
    task.rows(("a", 10))
    task.fire(11)
    task.outputs.flush()
    assert task.sent == []
    assert task.timers.wait() == 0


def test_a_timer_wakes_a_subtask_that_gets_nothing():
    class Later(Clock):
        """A clock that passes the timer at its third call, so the subtask first waits."""

        calls = 0

        def __call__(self):
            self.calls += 1
            return 0 if self.calls < 3 else 11

    task = Delayed(clock=Later())
    arrived = threading.Event()
    send = task.sent.send
    task.sent.send = lambda *frame: (send(*frame), arrived.set())
    task.sent.cut = task.sent.close = lambda: None
    task.rows(("a", 10))

    def run():
        with pytest.raises(InboxClosedError):
            task.subtask.run()

    running = threading.Thread(target=run, daemon=True)
    running.start()
    fired = arrived.wait(60)
    task.inbox.close()
    running.join(60)
    assert fired
    assert task.sent == [("a", 10)]


# ---------------------------------------------------------------- declarations


def declared(function, *, keyed):
    stream = Job("job").source("numbers", RateInput(10))
    stream = stream.key_by("value") if keyed else stream
    return stream.process("timers", function).sink("out", ParquetOutput("out", None)).plan()


def test_timers_take_a_key():
    with pytest.raises(ConfigError, match="'timers' has timers, which belong to keys; put key_by before it"):
        declared(Delaying(), keyed=False)
    declared(Delaying(), keyed=True)


def test_timers_take_a_method_that_they_call():
    class WithoutOnTimer:
        def open_timers(self, timers):
            pass

    with pytest.raises(ConfigError, match=r"it needs on_timer\(key, timestamp\), too"):
        declared(WithoutOnTimer(), keyed=True)


def test_a_method_that_takes_other_arguments_is_refused():
    class Odd(Delaying):
        def on_timer(self, timestamp):
            return ()

    with pytest.raises(
        ConfigError, match=r"Odd.on_timer: expected a method with the arguments \(key, timestamp\)"
    ):
        declared(Odd(), keyed=True)
