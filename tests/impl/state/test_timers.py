"""Timers of keys in both backends: when and how often they fire, and how a snapshot stores them."""

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from impl.graph.rescaling import RestoreRefusedError
from impl.spark.worker.processing import ProcessOperator
from impl.state import CheckpointStorage, HeapKeyedStateBackend, KeyedContext, StateError, pack, sections_of
from impl.state.backends.key_groups import groups_of, key_group, subtask_of
from impl.state.backends.rocksdb import RocksDbKeyedStateBackend
from impl.state.timers import TIMERS, ProcessingTimeTimers

FRESH = count()
GROUPS = 8
ALL = 1_000_000


class Clock:
    """The processing time of a test."""

    def __init__(self, now=0):
        self.now = now

    def __call__(self):
        return self.now


class Backends:
    """Makes the backends of several subtasks, all of one kind."""

    def __init__(self, kind, folder):
        self.kind, self.folder = kind, folder
        self.storage = CheckpointStorage(folder)

    def __call__(self, index=0, parallelism=1):
        context = KeyedContext.of(f"task-{index}", index, parallelism, GROUPS)
        if self.kind == "memory":
            return HeapKeyedStateBackend(context)
        return RocksDbKeyedStateBackend(
            context, self.folder / f"working-{next(FRESH)}", self.storage.shared, 1
        )


@pytest.fixture(params=["memory", "rocksdb"])
def backends(request, tmp_path):
    return Backends(request.param, tmp_path)


@pytest.fixture
def clock():
    return Clock()


def timers_of(backend, clock):
    """The timers of a backend, and the list of those that have fired."""
    fired = []
    timers = ProcessingTimeTimers(backend, lambda key, timestamp: fired.append((key, timestamp)) or (), clock)
    return timers, fired


def test_a_timer_fires_once_when_the_clock_is_beyond_it(backends, clock):
    timers, fired = timers_of(backends(), clock)
    timers.register_processing_time_timer("a", 10)
    clock.now = 10
    timers.fire(ALL)
    assert fired == []
    clock.now = 11
    timers.fire(ALL)
    timers.fire(ALL)
    assert fired == [("a", 10)]


def test_a_key_has_each_timer_once_however_it_is_written(backends, clock):
    timers, fired = timers_of(backends(), clock)
    for key in (1, 1.0, True):
        timers.register_processing_time_timer(key, 10)
    timers.register_processing_time_timer(2, 10)
    timers.register_processing_time_timer(1, 11)
    clock.now = 20
    timers.fire(ALL)
    assert sorted(fired) == [(1, 10), (1, 11), (2, 10)]


def test_a_deleted_timer_does_not_fire_and_one_that_is_registered_again_fires_once(backends, clock):
    timers, fired = timers_of(backends(), clock)
    for key in ("deleted", "again", "stays"):
        timers.register_processing_time_timer(key, 10)
    timers.delete_processing_time_timer("deleted", 10)
    timers.delete_processing_time_timer("again", 10)
    timers.delete_processing_time_timer("unknown", 10)
    timers.delete_processing_time_timer("stays", 11)
    timers.register_processing_time_timer("again", 10)
    clock.now = 20
    timers.fire(ALL)
    assert sorted(fired) == [("again", 10), ("stays", 10)]


def test_the_earliest_timers_fire_first_up_to_the_requested_number(backends, clock):
    timers, fired = timers_of(backends(), clock)
    for timestamp in (30, 10, 20, 40):
        timers.register_processing_time_timer("a", timestamp)
    clock.now = 35
    timers.fire(2)
    assert fired == [("a", 10), ("a", 20)]
    timers.fire(2)
    assert fired == [("a", 10), ("a", 20), ("a", 30)]


def test_a_timer_that_a_timer_registers_fires_only_when_its_time_has_passed(backends, clock):
    fired = []

    def again(key, timestamp):
        fired.append(timestamp)
        timers.register_processing_time_timer(key, clock.now)
        return [(key, timestamp)]

    timers = ProcessingTimeTimers(backends(), again, clock)
    timers.register_processing_time_timer("a", 3)
    clock.now = 5
    assert timers.fire(ALL) == [("a", 3)]
    clock.now = 6
    assert timers.fire(ALL) == [("a", 5)]
    assert timers.current_processing_time() == 6


def test_the_wait_lasts_until_the_earliest_timer(backends, clock):
    timers, _ = timers_of(backends(), clock)
    assert timers.wait() is None
    timers.register_processing_time_timer("a", 2**62)
    assert timers.wait() == 1.0
    timers.register_processing_time_timer("a", 99)
    assert timers.wait() == 0.1
    clock.now = 100
    assert timers.wait() == 0
    timers.delete_processing_time_timer("a", 99)
    assert timers.wait() == 1.0


def test_timers_that_are_deleted_again_and_again_take_no_memory(backends, clock):
    timers, fired = timers_of(backends(), clock)
    timers.register_processing_time_timer("other", 7)
    for timestamp in range(10, 10_000):
        timers.register_processing_time_timer("a", timestamp)
        timers.delete_processing_time_timer("a", timestamp)
    timers.register_processing_time_timer("a", 9)
    assert len(timers._times) < 1_100
    clock.now = 20_000
    timers.fire(ALL)
    assert fired == [("other", 7), ("a", 9)]


@pytest.mark.parametrize("wrong", [1.5, "1", None, True])
def test_a_time_that_is_no_int_is_refused(wrong, clock):
    timers, _ = timers_of(HeapKeyedStateBackend(), clock)
    with pytest.raises(StateError, match="must be ms since 1970 as an int"):
        timers.register_processing_time_timer("a", wrong)
    with pytest.raises(StateError, match="must be ms since 1970 as an int"):
        timers.delete_processing_time_timer("a", wrong)


def test_a_time_is_within_64_bits_as_in_flink(backends, clock):
    timers, fired = timers_of(backends(), clock)
    for wrong in (2**63, -(2**63) - 1, 2**2000):
        with pytest.raises(StateError, match="must have at most 64 bits"):
            timers.register_processing_time_timer("a", wrong)
    timers.register_processing_time_timer("a", 2**63 - 1)
    timers.register_processing_time_timer("a", -(2**63) + 1)
    timers.fire(ALL)
    assert fired == [("a", -(2**63) + 1)]
    assert timers.wait() == 1.0


def test_a_timer_for_an_invalid_key_is_refused(clock):
    timers, _ = timers_of(HeapKeyedStateBackend(), clock)
    with pytest.raises(StateError, match="is no key"):
        timers.register_processing_time_timer(["a"], 1)
    with pytest.raises(StateError, match="is no key"):
        timers.delete_processing_time_timer(["a"], 1)


def test_a_timer_for_a_key_of_another_subtask_is_refused(backends, clock):
    other = next(key for key in range(100) if key_group(key, GROUPS) not in groups_of(0, 2, GROUPS))
    backend = backends(0, 2)
    timers, _ = timers_of(backend, clock)

    def register():
        timers.register_processing_time_timer(other, 1)
        backend.snapshot(1)()

    with pytest.raises(StateError, match="subtask; use the key"):
        register()


class Plain:
    def process_element(self, key, row):
        return [row]


def test_a_function_without_timers_has_no_state_of_them(backends):
    backend = backends()
    assert ProcessOperator(Plain(), {0: lambda row: row}, backend).timers is None
    assert TIMERS not in backend._states


def test_timers_of_a_function_that_no_longer_has_on_timer_are_an_error(backends, clock):
    taken = []
    for fires in (False, True):
        before = backends()
        timers, _ = timers_of(before, clock)
        timers.register_processing_time_timer("a", 10)
        clock.now = 20 if fires else 0
        timers.fire(ALL)
        taken.append(sections_of(pack(before.snapshot(1)()), "task-0"))
        before.close()
    with_timers, without = backends(), backends()
    with_timers.restore(taken[:1])
    with pytest.raises(RestoreRefusedError, match="timers of 1 keys, and Plain, which has no on_timer"):
        ProcessOperator(Plain(), {0: lambda row: row}, with_timers)
    without.restore(taken[1:])
    assert ProcessOperator(Plain(), {0: lambda row: row}, without).timers is None


# ---------------------------------------------------------------- kill and restore


class Once:
    """Each row sets a timer. A timer emits its row and counts it in the state of its key."""

    def open(self, state):
        self.counts = state.value_state("count", immutable=True)

    def open_timers(self, timers):
        self.timers = timers

    def process_element(self, key, row):
        self.timers.register_processing_time_timer(key, row[1])
        return ()

    def on_timer(self, key, timestamp):
        self.counts.put(key, self.counts.get(key, 0) + 1)
        return [(key, timestamp, self.counts.get(key))]


class Stage:
    """A keyed stage that reads a replayable input, and commits its output with its snapshots."""

    def __init__(self, backends, rows, clock):
        self.backends, self.rows, self.clock = backends, rows, clock
        self.offset, self.snapshots, self.committed = 0, (), []
        self.checkpoint = 0
        self.start(1)

    def start(self, parallelism):
        """Begins an attempt from the last snapshot; everything after this snapshot is lost."""
        self.position, self.uncommitted, self.tasks = self.offset, [], []
        for index in range(parallelism):
            backend = self.backends(index, parallelism)
            if self.snapshots:
                before = range(len(self.snapshots))
                mine = groups_of(index, parallelism, GROUPS)
                owned = [groups_of(one, len(self.snapshots), GROUPS) for one in before]
                backend.restore(
                    [
                        self.snapshots[one]
                        for one in before
                        if owned[one].start < mine.stop and mine.start < owned[one].stop
                    ]
                )
            self.tasks.append(ProcessOperator(Once(), {0: lambda row: row[0]}, backend, clock=self.clock))

    def read(self):
        """Read one row."""
        if self.position < len(self.rows):
            row = self.rows[self.position]
            owner = subtask_of(key_group(row[0], GROUPS), len(self.tasks), GROUPS)
            self.uncommitted += self.tasks[owner].inputs[0]([row])
            self.position += 1

    def fire(self, most):
        for task in self.tasks:
            self.uncommitted += task.timers.fire(most)

    def complete(self):
        """Takes and completes a checkpoint. Events during the asynchronous part are not in it."""
        self.checkpoint += 1
        taken = [task.snapshot(self.checkpoint) for task in self.tasks]
        offset, before, self.uncommitted = self.position, self.uncommitted, []
        self.fire(1)
        self.read()
        self.snapshots = tuple(sections_of(pack(one()), "task") for one in taken)
        self.offset = offset
        self.committed += before

    def kill(self, parallelism):
        for task in self.tasks:
            task.close()
        self.start(parallelism)


STEPS = st.lists(
    st.just("read")
    | st.just("complete")
    | st.tuples(st.just("fire"), st.integers(1, 3))
    | st.tuples(st.just("pass"), st.integers(1, 40))
    | st.tuples(st.just("kill"), st.integers(1, 4)),
    max_size=40,
)


ROWS = [(number % 5, 10 + number * 7 % 12) for number in range(20)]
"""Of each key, the time of its timer: 20 timers of 5 keys; some are of one time."""


@pytest.mark.rule("ONCE-03")
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_each_timer_has_its_effects_once_however_often_the_stage_is_killed_and_rescaled(steps, tmp_path):
    require_effects_once(Backends("memory", tmp_path), steps)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_each_timer_in_rocksdb_has_its_effects_once(steps, tmp_path):
    require_effects_once(Backends("rocksdb", tmp_path), steps)


def require_effects_once(backends, steps):
    clock = Clock()
    stage = Stage(backends, ROWS, clock)
    for step in steps:
        match step:
            case "read":
                stage.read()
            case "complete":
                stage.complete()
            case ("fire", most):
                stage.fire(most)
            case ("pass", milliseconds):
                clock.now += milliseconds
            case ("kill", parallelism):
                stage.kill(parallelism)
    for _ in ROWS:
        stage.read()
    clock.now = 1_000
    stage.fire(ALL)
    stage.complete()
    for task in stage.tasks:
        task.close()

    assert sorted(row[:2] for row in stage.committed) == sorted(ROWS)
    for key in range(5):
        counts = [row[2] for row in stage.committed if row[0] == key]
        assert counts == list(range(1, len(counts) + 1))


def test_timers_that_are_overdue_at_a_restore_fire_once_each(backends, clock):
    before = backends()
    timers, _ = timers_of(before, clock)
    for key in range(6):
        timers.register_processing_time_timer(key, 10 + key)
    timers.register_processing_time_timer(0, 500)
    taken = [sections_of(pack(before.snapshot(1)()), "task-0")]
    before.close()
    clock.now = 100
    fired, left = [], []
    for index in range(3):
        backend = backends(index, 3)
        backend.restore(taken)
        timers, mine = timers_of(backend, clock)
        timers.fire(ALL)
        timers.fire(ALL)
        fired += mine
        left.append(timers.wait())
        backend.close()
    assert sorted(fired) == [(key, 10 + key) for key in range(6)]
    assert sorted(left, key=str) == [0.401, None, None]
