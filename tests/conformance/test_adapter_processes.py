"""When an adapter ends, for any reason, every process that it has started ends too."""

import shlex
import signal
import subprocess
import sys

import psutil
import pytest

from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Crashed, Hung, Made
from tests.waiting import until

STORE = {"retain": 1, "profile": "2.3"}
LATEST = [{"kind": "latest"}]
STARTS = """
import signal
import sys
import psutil
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Made
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
with ProcessAdapter(sys.argv[1:]) as adapter:
    assert adapter.new("store", {"retain": 1, "profile": "2.3"}) == Made()
    print(*(one.pid for one in psutil.Process().children(recursive=True)), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def behind_a_shell(little_adapter):
    """A function: the command of a shell that starts an adapter, and a process that ignores closed input."""

    def command(*arguments):
        return ["sh", "-c", f"sleep 1000 >&- 2>&- & {little_adapter('misbehaving', *arguments)}; true"]

    return command


def family(adapter):
    """The shell, the adapter and the other process."""
    shell = psutil.Process(adapter._process.pid)
    found = [shell, *shell.children(recursive=True)]
    assert len(found) == 3
    return found


def left_of(processes):
    _, left = psutil.wait_procs(processes, timeout=60)
    return [one for one in left if one.status() != psutil.STATUS_ZOMBIE]


def test_after_a_hang_nothing_is_left_behind_a_shell(behind_a_shell):
    adapter = ProcessAdapter(behind_a_shell("hang"))
    assert adapter.new("store", STORE) == Made()
    processes = family(adapter)
    adapter.seconds = 0.2
    assert isinstance(adapter.apply(LATEST), Hung)
    assert left_of(processes) == []


def test_after_a_crash_and_after_bye_nothing_is_left(behind_a_shell):
    for how, outcome in (("crash", Crashed), ("slow", None)):
        adapter = ProcessAdapter(behind_a_shell(how))
        adapter.new("store", STORE)
        processes = family(adapter)
        if outcome is not None:
            assert isinstance(adapter.apply(LATEST), outcome)
        adapter.bye()
        assert left_of(processes) == []


def test_an_interrupt_ends_the_process_without_waiting_for_an_answer(behind_a_shell):
    adapter = ProcessAdapter(behind_a_shell("hang"), seconds=1_000)

    def interrupted():
        with adapter:
            adapter.new("store", STORE)
            processes.extend(family(adapter))
            raise KeyboardInterrupt

    processes = []
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert left_of(processes) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_when_the_suite_is_killed_its_adapters_end(behind_a_shell, number):
    suite = subprocess.Popen(
        [sys.executable, "-c", STARTS, *behind_a_shell("slow")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    processes = [psutil.Process(int(pid)) for pid in suite.stdout.readline().split()]
    assert len(processes) == 4  # three of the adapter, and the guard
    suite.send_signal(number)
    suite.wait()
    assert left_of(processes) == []
    suite.stdin.close()
    suite.stdout.close()


def test_a_command_that_ends_before_its_child_leaves_no_child():
    child = "import signal; print('x', flush=True); signal.pause()"
    command = f"{shlex.join([sys.executable, '-c', child])} & exec 1>&-; wait"
    adapter = ProcessAdapter(["sh", "-c", command])
    adapter._start()
    shell = psutil.Process(adapter._process.pid)
    until(shell.children)
    children = shell.children()
    adapter._end()
    assert left_of([shell, *children]) == []
