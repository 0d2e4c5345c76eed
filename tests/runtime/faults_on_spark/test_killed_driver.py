"""After a kill of the driver its workers end, and another driver continues the job exactly."""

import secrets
import threading

import pytest

from conformance.observe.validate import validate
from conformance.torture.leftovers import lasting
from conformance.torture.separate_driver_round import TOKEN, alive
from conformance.verdict import Verdict
from impl.config import CheckpointConfig, ConfigError
from impl.connectors import read_committed
from impl.driver import supervise
from impl.faults import Action, FaultPlan, Point
from impl.jobs.numbers import KEYS, numbers_job
from impl.state import CheckpointStorage

ROWS = 4_000
OFTEN = CheckpointConfig(checkpointing_interval_ms=100)


def numbers(folder, rate=4_000.0):
    return numbers_job(ROWS, folder / "committed", rate).with_checkpoints(OFTEN)


def every_update(folder):
    committed = read_committed(folder / "committed")
    found = zip(*(committed.column(name).to_pylist() for name in ("key", "number", "count")), strict=True)
    return sorted((key, number, count) for key, number, count in found)


EXACT = sorted((number % KEYS, number, number // KEYS + 1) for number in range(ROWS))


def left_over(folder):
    """Files that belong to no checkpoint and no manifest."""
    return [path.name for path in folder.rglob("*") if path.name.endswith((".tmp", ".staging"))]


class Watched:
    """Counts our processes until the context ends: the maximum, and those that are left then."""

    def __init__(self, monkeypatch):
        self.most = 0
        self._token = secrets.token_hex(8)
        monkeypatch.setenv(TOKEN, self._token)
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._look)

    def _look(self):
        while not self._over.wait(0.5):
            self.most = max(self.most, len(list(alive(self._token))))

    def left(self):
        return lasting(lambda: list(alive(self._token)))

    def __enter__(self):
        self._watch.start()
        return self

    def __exit__(self, *failure):
        self._over.set()
        self._watch.join()


@pytest.mark.usefixtures("spark_classes")
@pytest.mark.rule("ONCE-03")
@pytest.mark.rule("COORD-02")
@pytest.mark.rule("ONCE-06")
def test_a_supervised_job_outlives_its_driver_whose_processes_end(tmp_path, monkeypatch):
    faults = [
        FaultPlan(Point.COMPLETION_STORED, occurrence=3, action=Action.KILL_DRIVER)
    ]  # and no process was notified
    with Watched(monkeypatch) as processes:
        result = supervise(numbers(tmp_path), "local[6]", tmp_path, faults=faults, event_log=True)
    trace = validate(tmp_path / "events")

    assert processes.most > 6
    assert processes.left() == []
    counts = every_update(tmp_path)
    assert counts == EXACT
    assert result.deaths == ("SIGKILL",)
    assert result.attempts[-1].attempt == 2
    assert trace.verdict is Verdict.CONFORMS, trace.describe()
    assert left_over(tmp_path) == []
    storage = CheckpointStorage(tmp_path / "checkpoints")
    assert storage.next_checkpoint_id() == max(storage.completed_ids()) + 1


def test_a_job_that_no_driver_can_run_is_not_tried_again(tmp_path):
    with pytest.raises(ConfigError, match="a fault is planned for 'nobody'"):
        supervise(numbers(tmp_path), "local[6]", tmp_path, faults=[FaultPlan(Point.COMPLETION_DUE, "nobody")])
