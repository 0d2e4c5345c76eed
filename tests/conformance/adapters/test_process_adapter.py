"""Each kind of failure of a process has its own outcome, and the next case starts a new process."""

import sys

import pytest

from conformance.adapters.process import STDERR_HEAD, STDERR_TAIL, ProcessAdapter
from conformance.adapters.protocol import (
    Applied,
    Crashed,
    Errored,
    Hello,
    Hung,
    Made,
    Malformed,
    Unsupported,
)

LATEST = [{"kind": "latest"}]
STORE = {"retain": 1, "profile": "2.3"}


def test_a_crash_is_reported_with_its_exit_code_and_stderr(start):
    adapter = start("misbehaving", "crash")
    assert adapter.new("store", STORE) == Made()
    assert adapter.apply(LATEST) == Crashed("exit code 3", "the engine has run hot\n")


def test_after_a_crash_the_next_case_gets_a_fresh_process(start):
    adapter = start("misbehaving", "crash")
    for _ in range(2):
        assert adapter.new("store", STORE) == Made()
        assert isinstance(adapter.apply(LATEST), Crashed)
    assert adapter.starts == 2
    assert adapter.apply(LATEST) == Errored("there is no instance; send `new` first")


def test_the_head_and_the_tail_of_a_long_stderr_are_kept(start):
    adapter = start("misbehaving", "noisy")
    adapter.new("store", STORE)
    crashed = adapter.apply(LATEST)
    assert isinstance(crashed, Crashed)
    head, tail = crashed.stderr.split("\n... 793,870 bytes left out ...\n")
    assert head.startswith("chatter\n")
    assert tail.endswith("the last word\n")
    assert (len(head), len(tail)) == (STDERR_HEAD, STDERR_TAIL)


def test_a_hang_is_ended_at_the_time_limit(start):
    adapter = start("misbehaving", "hang")
    assert adapter.new("store", STORE) == Made()
    adapter.seconds = 2.0
    assert adapter.apply(LATEST) == Hung(2.0, "waiting for a lock\n")
    adapter.seconds = 30.0
    assert isinstance(adapter.hello(), Hello)


def test_a_process_that_never_answers_is_hung_at_hello_after_two_time_limits(start):
    assert start("misbehaving", "deaf", seconds=0.2).hello() == Hung(0.4, "")


def test_a_slow_answer_in_time_is_a_good_answer(start):
    adapter = start("misbehaving", "slow")
    adapter.new("store", STORE)
    answer = adapter.apply(LATEST)
    assert answer == Applied([[{"kind": "latest", "checkpoint": None}]], {"completed": []})


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ("wrong-seq", "seq: expected 1, got 0"),
        ("swapped", "seq: expected 1, got 2"),
        ("malformed", "expected one JSON object a line"),
        ("chatty", "expected one JSON object a line, got 'INFO starting up'"),
        ("short", "effects: expected a list of 1 lists, one for each event, got 0"),
    ],
)
def test_an_invalid_answer_is_malformed(start, how, complaint):
    adapter = start("misbehaving", how)
    adapter.new("store", STORE)
    answer = adapter.apply(LATEST)
    assert isinstance(answer, Malformed)
    assert answer.what.startswith(complaint)
    assert adapter.new("store", STORE) == Made()


def test_an_oversized_answer_is_cut_off(start):
    adapter = start("misbehaving", "oversized", frame_limit=10_000)
    adapter.new("store", STORE)
    assert adapter.apply(LATEST) == Malformed("an answer of more than 10000 bytes", "")


def test_an_unsupported_request_is_a_skip(start):
    assert start("misbehaving", "unsupported").new("store", STORE) == Unsupported("no instance of anything")


def test_a_command_that_does_not_exist_is_reported():
    answer = ProcessAdapter("./no-such-engine --gate").hello()
    assert isinstance(answer, Crashed)
    assert answer.how.startswith("cannot start ./no-such-engine --gate: ")


def test_an_event_larger_than_the_pipe_buffer_arrives():
    with ProcessAdapter([sys.executable, "-m", "conformance.cli", "serve", "model"], 60.0) as adapter:
        assert adapter.new("sink", {}) == Made()
        value = "x" * 1_000_000
        written = adapter.apply([{"kind": "write", "value": value}])
        assert isinstance(written, Applied)
        assert written.effects == [[{"kind": "write", "transaction": 1, "value": value}]]


def test_bye_ends_the_process_and_may_come_twice(start):
    adapter = start("misbehaving", "slow")
    adapter.hello()
    adapter.bye()
    adapter.bye()
    assert isinstance(adapter.hello(), Hello)
    assert adapter.starts == 2
