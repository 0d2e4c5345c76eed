"""Drivers that share one storage, stopped between any two of its operations: FENCE-01 to FENCE-05 hold.

Each driver is a thread that does what the runtime does with `CheckpointStorage`: it draws an attempt, looks
for its checkpoint, records its start, publishes checkpoints and discards older ones. It waits before each
operation on the location. A seed decides who goes on, fails or crashes, so a run is repeated by its seed.
"""

import threading
from random import Random

import pytest

from impl.state import CheckpointStorage, SupersededError
from impl.state.locations import Location, location_of
from model.fencing.fencing import CLOSED, OPEN, new_fencing
from model.fencing.properties import fence_03, fence_05

DRIVERS = 3
OPERATIONS = 90
"""At most so many in one run."""


class Crash(BaseException):
    """The driver ends here."""


class Stepped:
    """A location of which each operation waits until the schedule allows it."""

    def __init__(self, location, driver):
        self._location, self._driver = location, driver

    def __getattr__(self, name):
        found = getattr(self._location, name)
        if name in {"where", "below"} or not callable(found):
            return found

        def operation(*arguments, **more):
            self._driver.wait()
            return found(*arguments, **more)

        return operation

    def __str__(self):
        return str(self._location)


Location.register(Stepped)


class History:
    """What the drivers did, in the order in which they learned it."""

    def __init__(self):
        self.drawn, self.starts, self.completed = [], {}, []
        self.publishers = {}

    def check(self, location):
        """The rules, on the records of the storage and on what the drivers acted on."""
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
        published = dict(self.publishers)
        size = max([0, *published, *(one for one, _ in self.completed)])
        state = new_fencing(DRIVERS)._replace(
            starts=tuple(record),
            published=tuple(published.get(one, 0) for one in range(1, size + 1)),
            completed=tuple(sorted(one for one, _ in self.completed)),
        )
        assert fence_03(state), f"FENCE-03: {state}"
        assert fence_05(state), f"FENCE-05: {state}"


class Driver:
    """One driver in a thread of its own."""

    def __init__(self, location, history, seed):
        self._go, self._paused = threading.Semaphore(0), threading.Semaphore(0)
        self._crashes, self.error, self.ended = False, None, False
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

    def step(self, *, crashes=False):
        """Do one operation more, or crash in its place."""
        if self.ended:
            return
        self._crashes = crashes
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
                except (Crash, SupersededError):
                    if self._crashes:
                        return
        except BaseException as error:  # noqa: BLE001 - raised where the schedule runs
            self.error = error
        finally:
            self.ended = True
            self._paused.release()

    def _life(self):
        """A driver from its start to its end, or to the operation at which it crashes or is superseded."""
        storage, attempt, history = self._storage_of(), None, self._history
        while True:
            earlier, attempt = attempt, storage.new_attempt(attempt)
            assert earlier in {None, attempt - 1}, "FENCE-01: a superseded driver has drawn an attempt"
            history.drawn.append(attempt)
            latest = storage.latest_completed().completed
            found = None if latest is None else latest.checkpoint
            storage.record_restored(attempt, found)
            history.starts[attempt] = found
            while self._random.random() < 0.8:  # else the attempt fails
                checkpoint = storage.next_checkpoint_id()
                while not storage.reserve(checkpoint):
                    checkpoint += 1
                history.publishers.setdefault(checkpoint, attempt)
                storage.publish(checkpoint, attempt, [])
                history.completed.append((checkpoint, attempt))
                if self._random.random() < 0.7:
                    for older in storage.completed_ids():
                        if older < checkpoint:
                            storage.discard(older)


def run(location, seed):
    """One run; the rules are checked after each operation that may have changed something."""
    random, history = Random(f"fenced {seed}"), History()
    drivers = [Driver(location, history, f"{seed} {one}") for one in range(DRIVERS)]
    try:
        for _ in range(OPERATIONS):
            driver = random.choice(drivers)
            for _ in range(random.choice([1, 1, 2, 5, 20])):  # a driver that is paused longer, or less
                driver.step(crashes=random.random() < 0.01)
                if driver.ended:
                    break
            if driver.error is not None:
                raise driver.error
            history.check(location)
            if driver.ended:  # another one follows in its place
                drivers[drivers.index(driver)] = Driver(location, history, f"{seed} {random.random()}")
    finally:
        for driver in drivers:
            driver.end()
    return history


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_a_run_in_memory_keeps_the_rules(first):
    seen = [run(location_of(f"memory://fenced-{seed}"), seed) for seed in range(first, first + 10)]
    assert sum(len(one.completed) for one in seen) > 30
    assert sum(len(one.drawn) - len(one.starts) for one in seen) > 10, "attempts that never started"


def test_a_run_on_local_files_keeps_the_rules(tmp_path):
    seen = [run(location_of(tmp_path / f"{seed}"), seed) for seed in range(5)]
    assert all(one.completed for one in seen)
