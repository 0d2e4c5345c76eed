"""Drivers that share one storage and stop between any two operations: FENCE-01 to FENCE-05 hold.

Each driver is a thread that uses `CheckpointStorage` in the same way as the runtime. It draws an attempt,
looks for its checkpoint, records its start, publishes checkpoints, and discards older and failed ones. It
waits before each operation on the location. The operation may fail before or after its effect. A seed
determines which driver continues, which operation fails and which driver crashes, so a seed repeats a run.
"""

import threading
from random import Random

import pytest

from impl.state import CheckpointStorage, StorageError, SupersededError, UncertainPublicationError, encode
from impl.state.locations import Location, location_of
from model.fencing.fencing import CLOSED, OPEN, new_fencing
from model.fencing.properties import fence_03, fence_05

DRIVERS = 3
OPERATIONS = 90
"""At most so many in one run."""


class Crash(BaseException):
    """Ends the thread of a driver."""


class Stepped:
    """A location that delays each operation until the schedule allows it."""

    def __init__(self, location, driver):
        self._location, self._driver = location, driver

    def __getattr__(self, name):
        found = getattr(self._location, name)
        if name in {"where", "below"} or not callable(found):
            return found

        def operation(*arguments, **more):
            fails = self._driver.wait()
            if fails == "before":
                raise StorageError("refused")
            result = found(*arguments, **more)
            if fails == "after":
                raise StorageError("no answer")
            return result

        return operation

    def __str__(self):
        return str(self._location)


Location.register(Stepped)


class History:
    """The operations of the drivers, in the order in which their results became known."""

    def __init__(self):
        self.drawn, self.starts, self.completed = [], {}, []
        self.publishers = {}
        """By checkpoint: the attempt in its metadata, since it was first there."""

    def check(self, location):
        """Checks the rules, on the records of the storage and on the values that the drivers used."""
        assert len(set(self.drawn)) == len(self.drawn), "FENCE-01"
        storage = CheckpointStorage(location)
        newest = storage.newest_attempt()
        starts = storage.starts
        assert self.starts.items() <= starts.items(), "FENCE-02: a start was changed"
        names = location.sizes("attempts")
        record = [
            (starts[one] or 0) if one in starts else CLOSED if f"{one}.restored" in names else OPEN
            for one in range(1, newest + 1)
        ]
        assert len({one for one, _ in self.completed}) == len(self.completed), "FENCE-04"
        for checkpoint in storage.completed_ids():
            publisher = storage.manifest(checkpoint).attempt
            assert self.publishers.setdefault(checkpoint, publisher) == publisher, "FENCE-04"
        assert all(self.publishers[one] == attempt for one, attempt in self.completed), "FENCE-04"
        size = max(self.publishers, default=0)
        state = new_fencing(DRIVERS)._replace(
            starts=tuple(record),
            published=tuple(self.publishers.get(one, 0) for one in range(1, size + 1)),
            completed=tuple(sorted(one for one, _ in self.completed)),
        )
        assert fence_03(state), f"FENCE-03: {state}"
        assert fence_05(state), f"FENCE-05: {state}"


class Driver:
    """One driver, in its own thread."""

    def __init__(self, location, history, seed):
        self._go, self._paused = threading.Semaphore(0), threading.Semaphore(0)
        self._crashes, self._fails, self.error, self.ended = False, None, None, False
        self._random, self._history = Random(seed), history
        self._storage_of = lambda: CheckpointStorage(Stepped(location, self))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._paused.acquire()

    def wait(self):
        self._paused.release()
        self._go.acquire()
        if self._crashes:
            raise Crash
        return self._fails

    def step(self, *, crashes=False, fails=None):
        """Does one more operation. It fails `before` or `after` its effect, or the driver crashes instead."""
        if self.ended:
            return
        self._crashes, self._fails = crashes, fails
        self._go.release()
        self._paused.acquire()

    def end(self):
        while not self.ended:
            self.step(crashes=True)
        self._thread.join()

    def _run(self):
        try:
            while True:
                try:
                    self._life()
                except (Crash, SupersededError, StorageError):
                    if self._crashes:
                        return
        except BaseException as error:  # noqa: BLE001 - raised where the schedule runs
            self.error = error
        finally:
            self.ended = True
            self._paused.release()

    def _life(self):
        """Runs a driver from its start until it ends, crashes or is superseded."""
        storage, earlier, history = self._storage_of(), None, self._history
        while True:
            try:
                attempt = storage.new_attempt(earlier)
            except StorageError:
                continue
            assert earlier in {None, attempt - 1}, "FENCE-01: a superseded driver has drawn an attempt"
            earlier = attempt
            history.drawn.append(attempt)
            try:
                self._attempt(storage, attempt)
            except StorageError:
                continue  # the attempt fails, by chance

    def _attempt(self, storage, attempt):
        latest = storage.latest_completed().completed
        found = None if latest is None else latest.checkpoint
        storage.record_restored(attempt, found)
        self._history.starts[attempt] = found
        while self._random.random() < 0.8:
            checkpoint = storage.next_checkpoint_id()
            while not storage.reserve(checkpoint):
                checkpoint += 1
            handle = storage.write(checkpoint, "task", attempt, encode(checkpoint))
            try:
                storage.publish(checkpoint, attempt, [handle])
            except UncertainPublicationError:
                raise
            except StorageError:
                storage.discard_state(handle)
                continue
            self._history.completed.append((checkpoint, attempt))
            if self._random.random() < 0.7:
                for older in storage.completed_ids():
                    if older < checkpoint:
                        storage.discard(older)


def run(location, seed, failing=0.0):
    """One run with the rules checked after each operation. `failing`: the share of operations that fail."""
    random, history = Random(f"fenced {seed}"), History()
    drivers = [Driver(location, history, f"{seed} {one}") for one in range(DRIVERS)]
    try:
        for _ in range(OPERATIONS):
            driver = random.choice(drivers)
            for _ in range(
                random.choice([1, 1, 2, 5, 20])
            ):  # a driver that is paused for a longer or a shorter time
                fails = random.choice(["before", "after"]) if random.random() < failing else None
                driver.step(crashes=random.random() < 0.01, fails=fails)
                history.check(location)
                if driver.ended:
                    break
            if driver.error is not None:
                raise driver.error
            if driver.ended:  # another driver replaces it
                drivers[drivers.index(driver)] = Driver(location, history, f"{seed} {random.random()}")
    finally:
        for driver in drivers:
            driver.end()
    return history


@pytest.mark.parametrize("first", range(0, 20, 5))
def test_a_run_in_memory_keeps_the_rules(first):
    seen = [run(location_of(f"memory://fenced-{seed}"), seed) for seed in range(first, first + 5)]
    assert sum(len(one.completed) for one in seen) > 5
    assert sum(len(one.drawn) - len(one.starts) for one in seen) > 10, "attempts that never started"


@pytest.mark.parametrize("first", range(0, 20, 5))
def test_a_run_on_a_storage_that_fails_keeps_the_rules(first):
    seen = [run(location_of(f"memory://failing-{seed}"), seed, 0.03) for seed in range(first, first + 5)]
    assert sum(len(one.completed) for one in seen) > 5
    assert sum(len(one.publishers) - len(one.completed) for one in seen) > 0, "published and never confirmed"


def test_a_run_on_local_files_keeps_the_rules(tmp_path):
    seen = [run(location_of(tmp_path / f"{seed}"), seed) for seed in range(5)]
    assert all(one.completed for one in seen)
