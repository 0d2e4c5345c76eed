"""Every end of a supervisor ends its driver with all processes that it started. No file has a secret."""

import os
import signal
import stat
import subprocess
import sys

import psutil
import pytest

from impl.eventlog import EventLog
from impl.process_tree import end, members, new_token
from tests.waiting import until

PASSWORD = "correct-horse-battery"
SUPERVISOR = """
import os, signal, subprocess, sys, time
from pathlib import Path
from impl.driver import supervise
from impl.job import Job, JobResult

class Waits(Job):
    # a job that starts a process behind a shell, of a group of its own, and then runs for ever
    def drive(self, master, output, *settings, **more):
        if master == "vanishes":  # a driver that is superseded, and ends without a result
            (output / "pids").write_text(str(os.getpid()))
            while not (output / "the other has ended").exists():
                time.sleep(0.01)
            os._exit(3)
        if master == "ends":
            return JobResult("the newer run", (), (), (), (), 0, 0.0, None)
        behind = subprocess.Popen(["sh", "-c", "sleep 1000 & echo $!; wait"], stdout=subprocess.PIPE,
                                  text=True, start_new_session=True)
        pids = os.getpid(), behind.pid, behind.stdout.readline().strip()
        (output / "pids.tmp").write_text(" ".join(map(str, pids)))
        (output / "pids.tmp").rename(output / "pids")
        if master == "fails":
            raise ValueError("it fails")
        signal.pause()

from pyspark import cloudpickle
cloudpickle.register_pickle_by_value(sys.modules[__name__])
os.umask(0o022)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # these may be ignored where the tests run in the background
signal.signal(signal.SIGINT, signal.default_int_handler)
job = Waits(name=os.environ["JOB_NAME"])
print(supervise(job, sys.argv[2], Path(sys.argv[1]), resume=sys.argv[3] == "resume").name)
"""


def lives(pid):
    """Whether the process runs. A zombie does not run: it has ended, and its exit code was not read."""
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


class Supervised:
    """A supervisor process, with the pids of its driver and of the processes that the driver has started."""

    def __init__(self, output, master="waits", start="anew"):
        environ = {**os.environ, "JOB_NAME": PASSWORD}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SUPERVISOR, str(output), master, start],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.output = output

    def started(self):
        """The processes of the driver, when all of them run."""
        pids = self.output / "pids"
        until(pids.exists, possible=self._runs)
        return [psutil.Process(int(pid)) for pid in pids.read_text().split()]

    def _runs(self):
        assert self.process.poll() is None, self.process.stderr.read()
        return True


@pytest.fixture
def supervised(tmp_path):
    made = []

    def make(*arguments):
        made.append(Supervised(tmp_path, *arguments))
        return made[-1]

    make.output = tmp_path
    yield make
    for one in made:
        one.process.kill()
        one.process.wait()
        one.process.stderr.close()
        one.process.stdout.close()


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGINT, -signal.SIGINT), (signal.SIGKILL, -9), (signal.SIGHUP, -1)],
)
def test_a_signal_to_the_supervisor_ends_the_whole_tree(supervised, number, code):
    one = supervised()
    tree = one.started()
    assert len(tree) == 3
    one.process.send_signal(number)
    assert one.process.wait(30) == code
    _, left = psutil.wait_procs(tree, timeout=30)
    assert left == []


def test_a_driver_that_fails_leaves_no_process(supervised):
    one = supervised("fails")
    assert one.process.wait(30) == 1
    assert "it fails" in one.process.stderr.read()
    pids = [int(pid) for pid in (one.output / "pids").read_text().split()]
    assert [pid for pid in pids if lives(pid)] == []


def test_the_objects_of_a_job_are_in_no_file_and_the_folder_of_the_driver_is_private(supervised):
    one = supervised()
    one.started()
    files = [path for path in one.output.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == []
    assert stat.S_IMODE((one.output / "driver").stat().st_mode) == 0o700


def test_the_result_of_a_driver_is_for_its_owner_only(supervised):
    one = supervised("fails")
    one.process.wait(30)
    (result,) = (one.output / "driver").glob("*-1-result")
    assert stat.S_IMODE(result.stat().st_mode) == 0o600


def test_the_result_of_a_newer_run_is_not_taken_for_that_of_a_superseded_driver(supervised):
    older = supervised("vanishes")
    older.started()
    newer = supervised("ends", "resume")
    assert newer.process.wait(60) == 0, newer.process.stderr.read()
    assert newer.process.stdout.read() == "the newer run\n"
    (older.output / "the other has ended").touch()
    assert older.process.wait(60) == 1
    assert "the driver ended without a result" in older.process.stderr.read()


def test_a_run_from_the_beginning_leaves_no_file_of_earlier_drivers(supervised):
    for _ in range(2):
        assert supervised("ends").process.wait(60) == 0
    (result,) = (supervised.output / "driver").iterdir()
    assert result.name.endswith("-1-result")


def test_only_processes_with_the_token_are_members(monkeypatch):
    token = new_token()
    assert members(token) == []
    end(token)
    assert psutil.Process().is_running()


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600)])
def test_an_event_log_is_an_ordinary_file(tmp_path, mask, expected):
    before = os.umask(mask)
    try:
        EventLog(tmp_path, "coordinator", "coordinator", 0).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "coordinator.jsonl").stat().st_mode) == expected
