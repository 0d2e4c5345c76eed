"""After SIGTERM to a command, no process that it started still runs."""

import os
import select
import signal
import subprocess
import sys

import psutil
import pytest

from conformance.own_process import own_process

SILENT_ADAPTER = """
import os, signal, sys
with open(sys.argv[1], "w") as pipe:
    pipe.write(str(os.getpid()))
signal.pause()
"""


def first_words(pipe):
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)) as end:
        assert select.select([end], [], [], 120)[0], "the adapter was not started"
        return end.read()


@pytest.fixture
def command(tmp_path):
    """A process of the command that waits for an adapter's answer, and the process of the adapter."""
    os.mkfifo(tmp_path / "pid")
    (tmp_path / "adapter.py").write_text(SILENT_ADAPTER)
    adapter = f"{sys.executable} {tmp_path / 'adapter.py'} {tmp_path / 'pid'}"
    words = ("conform", "--adapter", adapter, "--component", "offsets", "--limit", "500")
    with subprocess.Popen(own_process("conformance.cli", *words), cwd=tmp_path) as started:
        yield started, psutil.Process(int(first_words(tmp_path / "pid")))
        started.kill()


def test_sigterm_ends_a_command_and_the_processes_that_it_started(command):
    started, adapter = command
    started.send_signal(signal.SIGTERM)
    code = started.wait(60)
    assert psutil.wait_procs([adapter], timeout=10)[1] == []
    assert code == 128 + signal.SIGTERM
