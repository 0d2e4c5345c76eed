"""Freezing a driver stops all its descendants, and thawing continues all of them, also on a busy machine."""

import contextlib
import os
import signal
import subprocess
import sys

import psutil
import pytest

from conformance.torture.frozen_drivers.frozen_round import ProcessFamily
from impl.spark.faults import driver
from tests.waiting import until

PARENT = """
import os, signal
child = os.fork()
if not child:
    signal.pause()
print(child, flush=True)
signal.pause()
"""
FORKING = """
import os, signal, sys
print("ready", flush=True)
for _ in sys.stdin:
    if not os.fork():
        signal.pause()
    print("forked", flush=True)
signal.pause()
"""
STOPPED = psutil.STATUS_STOPPED


@pytest.fixture
def start():
    """Starts programs, each in its own session. At the end it kills all their processes."""
    processes = []

    def started(program):
        process = psutil.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        return process, process.stdout.readline().strip()

    yield started
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def status_after_stop(process):
    """Waits until a process that got the signal has stopped. Returns its status."""
    until(lambda: process.status() == STOPPED)
    return process.status()


def test_a_family_is_frozen_only_when_each_of_its_members_is_stopped(start):
    root, child = start(PARENT)
    family = ProcessFamily(root)
    root.suspend()
    status_after_stop(root)
    assert not family.all_stopped()
    psutil.Process(int(child)).suspend()
    status_after_stop(psutil.Process(int(child)))
    assert family.all_stopped()


@pytest.mark.parametrize("root_first", [True, False])
def test_a_member_that_was_stopped_after_the_look_is_thawed_too(start, root_first):
    root, child = start(PARENT)
    family = ProcessFamily(root)
    root.suspend()
    status_after_stop(root)
    assert [one.pid for one in family.stopped()] == [root.pid]
    below = psutil.Process(int(child))
    below.suspend()
    status_after_stop(below)
    family.thaw(root_first=root_first)
    assert STOPPED not in (root.status(), below.status())


def test_an_orphan_of_a_killed_root_is_thawed(start):
    root, child = start(PARENT)
    family = ProcessFamily(root)
    below = psutil.Process(int(child))
    below.suspend()
    status_after_stop(below)
    assert [one.pid for one in family.stopped()] == [below.pid]
    root.kill()
    family.thaw(root_first=True)
    assert below.status() != STOPPED


def test_freeze_stops_descendants_that_are_started_while_it_looks(start, monkeypatch):
    """The root starts a process directly after the first look, before it gets a signal."""
    root, _ = start(FORKING)
    look, born = driver._below, []

    def and_one_more(process):
        seen = look(process)
        if not born:
            root.stdin.write("\n")
            root.stdin.flush()
            born.append(root.stdout.readline())
        return seen

    monkeypatch.setattr(driver, "_below", and_one_more)
    driver.freeze(root.pid)
    status_after_stop(root)
    assert born == ["forked\n"]
    assert ProcessFamily(root).all_stopped()
