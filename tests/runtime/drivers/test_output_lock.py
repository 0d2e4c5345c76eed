"""Only one job at a time writes into an output folder. The lock ends with the processes that hold it."""

import os
import subprocess
import sys
import threading

import pytest

from conformance import cli
from conformance.commands.jobs.run import MARK
from conformance.verdict import Exit
from impl.jobs.numbers import numbers_job
from impl.output_lock import LOCK, WAITER, inherit, locked, reserved
from impl.spark.errors import OutputInUseError

HOLDS = """
import sys
from pathlib import Path
from impl.output_lock import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of the folder, as a job does."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "locked\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_a_folder_of_a_live_run_is_refused_and_nothing_in_it_is_changed(tmp_path, holder, capsys):
    (tmp_path / MARK).touch()
    (tmp_path / "committed").mkdir()
    (tmp_path / "committed" / "rows").write_text("of the live run")
    assert cli.run(["run", "--out", str(tmp_path)]) == Exit.USAGE
    assert f"process {holder.pid} runs a job there" in capsys.readouterr().err
    assert (tmp_path / "committed" / "rows").read_text() == "of the live run"


@pytest.mark.parametrize("supervised", [False, True])
def test_a_job_is_refused_before_spark_is_started(tmp_path, holder, supervised):
    from impl.driver import supervise

    job = numbers_job(10, tmp_path / "committed", 100.0)
    with pytest.raises(OutputInUseError, match="end that process, or name another"):
        supervise(job, "local[6]", tmp_path) if supervised else job.execute("local[6]", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [LOCK]


def test_a_resume_continues_beside_a_driver_that_does_not_end(tmp_path, holder):
    with locked(tmp_path, supersedes=True):
        assert (tmp_path / LOCK).read_text() == f"{holder.pid}\n"


def test_a_resume_holds_the_lock_as_soon_as_the_driver_that_it_supersedes_has_ended(tmp_path, holder):
    with locked(tmp_path, supersedes=True):
        holder.kill()
        holder.wait()
        for thread in threading.enumerate():
            if thread.name == WAITER:
                thread.join()
        with (
            pytest.raises(OutputInUseError, match=f"process {os.getpid()} runs a job there"),
            locked(tmp_path),
        ):
            pass
    with locked(tmp_path):
        pass


def test_a_resume_that_has_ended_first_leaves_the_lock_free(tmp_path, holder):
    with locked(tmp_path, supersedes=True):
        waits = [thread for thread in threading.enumerate() if thread.name == WAITER]
    holder.kill()
    holder.wait()
    for thread in waits:
        thread.join()
    with locked(tmp_path):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path, holder):
    with pytest.raises(OutputInUseError), locked(tmp_path):
        pass
    holder.kill()
    holder.wait()
    with locked(tmp_path):
        assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"


def test_a_reservation_is_taken_over_once(tmp_path):
    with reserved(tmp_path):
        with locked(tmp_path), pytest.raises(OutputInUseError), locked(tmp_path):
            pass
        with locked(tmp_path):
            pass
    with locked(tmp_path):
        pass


def test_an_inherited_lock_is_held_until_its_last_holder_ends(tmp_path):
    with locked(tmp_path) as lock:
        inherit(tmp_path, os.dup(lock))
        with locked(tmp_path):
            pass
        with pytest.raises(OutputInUseError), locked(tmp_path):
            pass
    with locked(tmp_path):
        pass
