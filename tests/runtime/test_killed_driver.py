"""The driver is killed: its workers end by themselves, and another one goes on, exact to the row."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

import impl
from conformance.observe.validate import validate
from conformance.verdict import Verdict
from impl.config import CheckpointConfig, ConfigError
from impl.connectors import read_committed
from impl.driver import supervise
from impl.faults import COMPLETION_DUE, COMPLETION_STORED, KILL_DRIVER, FaultPlan
from impl.numbers import KEYS, numbers_job
from impl.state import FileSystemStorage

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
    """Files that no checkpoint and no manifest has."""
    return [path.name for path in folder.rglob("*") if path.name.endswith((".tmp", ".staging"))]


@pytest.mark.rule("ONCE-03")
@pytest.mark.rule("COORD-02")
def test_a_supervised_job_outlives_its_driver(tmp_path):
    faults = [FaultPlan(COMPLETION_STORED, occurrence=3, action=KILL_DRIVER)]  # and nobody was told
    result = supervise(numbers(tmp_path), "local[6]", tmp_path, faults=faults, event_log=True)
    trace = validate(tmp_path / "events")

    counts = every_update(tmp_path)
    assert counts == EXACT
    assert result.deaths == ("SIGKILL",)
    assert result.attempts[-1].attempt == 2
    assert trace.verdict is Verdict.CONFORMS, trace.describe()
    assert left_over(tmp_path) == []
    storage = FileSystemStorage(tmp_path / "checkpoints")
    assert storage.next_checkpoint_id() == max(storage.completed_ids()) + 1


def test_a_job_that_no_driver_can_run_is_not_tried_again(tmp_path):
    with pytest.raises(ConfigError, match="a fault is planned for 'nobody'"):
        supervise(numbers(tmp_path), "local[6]", tmp_path, faults=[FaultPlan(COMPLETION_DUE, "nobody")])


@pytest.mark.rule("ONCE-06")
def test_the_processes_of_a_killed_driver_end_and_a_new_one_resumes(tmp_path, spark):
    """Killed from outside, at no point of anybody's choice, while workers run."""
    script = (
        "from pathlib import Path; from tests.runtime.test_killed_driver import numbers; import sys;"
        "folder = Path(sys.argv[1]); numbers(folder, 1000.0).execute('local[6]', folder, event_log=True,"
        "on_progress=lambda progress: progress.completed and print('complete', flush=True))"
    )
    root = Path(impl.__file__).parents[1]
    driver = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=root, stdout=subprocess.PIPE)
    storage = FileSystemStorage(tmp_path / "checkpoints")
    assert driver.stdout is not None
    assert driver.stdout.readline() == b"complete\n"
    below = psutil.Process(driver.pid).children(recursive=True)
    driver.kill()
    driver.communicate()
    _, alive = psutil.wait_procs(below, timeout=60)

    assert len(below) > 6
    assert alive == []
    before = storage.completed_ids()
    result = numbers(tmp_path).execute("local[6]", tmp_path, event_log=True, resume=True, spark=spark)
    trace = validate(tmp_path / "events")
    assert [number for _, number, _ in every_update(tmp_path)] == [number for _, number, _ in EXACT]
    assert result.attempts[0].restored in before
    assert trace.verdict is not Verdict.DIVERGES, trace.describe()
    assert left_over(tmp_path) == []
