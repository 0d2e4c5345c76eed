"""The faults that a campaign injects into processes and folders, tested on small processes."""

import subprocess
import sys

from conformance.engines.disk import limited, without_folder
from conformance.engines.flink.logs import merged
from conformance.engines.processes import Processes
from conformance.engines.python.engines import committed_by_spark

SLEEPS = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]


def test_no_process_outlives_its_block(tmp_path):
    processes = Processes(tmp_path / "logs")
    with processes:
        started = processes.start("sleeper", SLEEPS)
        assert started.alive

    assert not started.alive


def test_a_last_line_has_no_path_of_the_machine(tmp_path):
    with Processes(tmp_path / "logs") as processes:
        prints = processes.start(
            "prints", [sys.executable, "-S", "-c", "import os; print(f'in {os.getcwd()}')"]
        )
        prints.process.wait(60)

    assert prints.last_line() == f"in {tmp_path.name}/logs"


def test_the_folder_disappears_and_comes_back(tmp_path):
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    (folder / "chk-1").mkdir()
    without_folder(folder, 0.0)

    assert [one.name for one in folder.iterdir()] == ["chk-1"]
    assert [one.name for one in tmp_path.iterdir()] == ["checkpoints"]


def test_a_limited_process_cannot_write_and_continues_afterwards(tmp_path):
    writes = f"""
import time, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open({str(tmp_path / "out")!r}, "w", buffering=1) as out:
    for line in iter(input, "end"):
        try:
            out.write(line + "\\n"); out.flush(); print("written", flush=True)
        except OSError as failed:
            print(failed.errno, flush=True); break
"""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", writes], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def answer(line):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        assert answer("one") == "written"
        with limited([process.pid]):
            assert answer("two") == "27"  # EFBIG: the file is too large
        process.kill()


def test_records_of_many_logs_come_in_the_order_of_their_times(tmp_path):
    stamp = "2026-11-25 23:04:4{},000 INFO  a.B [main] {}\n"
    (tmp_path / "one").write_text(stamp.format(1, "first") + stamp.format(5, "last") + "Caused by: it\n")
    (tmp_path / "two").write_text("no record\n" + stamp.format(3, "middle") + stamp.format(6, "torn")[:-1])

    assert [line.split()[5] for line in merged([tmp_path / "one", tmp_path / "two"])] == [
        "first",
        "middle",
        "last",
    ]


def test_the_log_of_sparks_sink_names_its_files(tmp_path):
    log = tmp_path / "_spark_metadata"
    log.mkdir()
    (log / "0").write_text('v1\n{"path":"file:///out/a","action":"add"}\n')
    (log / ".1.tmp").write_text('v1\n{"path":"file:///out/c","action":"add"}\n')
    (log / "9.compact").write_text('v1\n{"path":"file:///out/a"}\n{"path":"file:///out/b"}\n')

    assert [str(file) for file in committed_by_spark(tmp_path)] == ["/out/a", "/out/b"]
    assert list(committed_by_spark(tmp_path / "none")) == []
