"""Comparing released channels: with our implementation in place of a release, and the newest release."""

import sys

import pytest

from conformance.adapters.flink.adapter import flink_adapter
from conformance.adapters.flink.fetch import cached
from conformance.adapters.flink.releases import FlinkError, newest, release
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Errored, Made, Unsupported
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.parts.released import Order, conform_one, targets_of
from conformance.released import comparison as driver
from conformance.released.channel import SCRIPTS, ChannelSearch, Sent, script, target
from conformance.released.comparison import conform
from conformance.report import released as shown
from conformance.verdict import Verdict
from model.channel.channel import CHANNEL_PROFILES

SERVE = [sys.executable, "-m", "conformance.cli", "serve", "impl"]


@pytest.fixture
def impl(monkeypatch):
    monkeypatch.setattr(driver, "known_divergences", list)
    with ProcessAdapter(SERVE, 60) as adapter:
        yield adapter


@pytest.mark.parametrize("profile", list(CHANNEL_PROFILES))
def test_an_implementation_that_does_as_the_model_conforms(impl, profile):
    done = conform(impl, target("9.9.9", profile), 40, tour_nodes=30, kind=ChannelSearch)
    assert done.verdict is Verdict.CONFORMS
    assert done.sequences > 40 + len(SCRIPTS)
    assert done.transitions > 60
    assert {"output", "input", "blocked", "promised", "persisting", "recovering"} == set(done.fields)
    assert shown.line(done).startswith("  CONFORMS     Flink 9.9.9   channel: ")


class Older(ProcessAdapter):
    """Behaves like Flink 1.12, whatever profile is configured."""

    def new(self, component, config):
        return super().new(component, {**config, "profile": "flink-1.12"})


def test_a_channel_of_another_generation_diverges(monkeypatch):
    monkeypatch.setattr(driver, "known_divergences", list)
    with Older(SERVE, 60) as older:
        replayed = replay(Oracle("channel", {"profile": "flink-1.13"}), older, script("w1 x b1"))
    assert replayed.divergence is not None
    assert replayed.divergence.rule == "UNAL-34"


def test_every_directed_case_makes_sense_in_the_newest_profile():
    oracle = Oracle("channel", {})
    for events in SCRIPTS:
        assert [edge.refused for edge in oracle.transcript(events)] == [None] * len(events)


def test_a_task_sends_the_barrier_of_a_checkpoint_once():
    sent = Sent()
    first, again = script("u3 w3")
    assert sent.allows(first)
    assert not sent.allows(again)
    assert sent.allows({"kind": "restore", "input": [], "output": []})
    assert sent.allows(again)


@pytest.mark.parametrize(
    ("version", "begins"),
    [
        ("1.9.3", "  absent       Flink 1.9.3   channel: unsupported: no barrier overtakes a record"),
        ("1.10.3", "  absent       Flink 1.10.3  channel: unsupported: no barrier overtakes a record"),
        ("1.11.4", "  skipped      Flink 1.11.4  channel: unsupported: no profile describes this release"),
    ],
)
def test_a_release_without_such_channels_states_the_reason(version, begins):
    (one,) = targets_of(release(version), (), (), ("channel",))
    done = conform_one(one, Order(1, 0))
    assert shown.line(done).startswith(begins)


# ---------------------------------------------------------------- the newest release


@pytest.fixture(scope="module")
def flink():
    version = newest().version
    if cached(newest()) is None:
        pytest.skip(f"no jar of Flink {version} in the cache; `barrierspec flink fetch {version}` gets it")
    try:
        adapter = flink_adapter(newest())
    except FlinkError as cannot:
        pytest.skip(f"Flink {version} is not driven here: {cannot}")
    with adapter:
        yield adapter


@pytest.mark.rule("UNAL-32")
@pytest.mark.rule("UNAL-33")
@pytest.mark.rule("UNAL-34")
@pytest.mark.rule("UNAL-35")
@pytest.mark.rule("UNAL-36")
def test_the_newest_release_conforms(flink):
    one = target(newest().version, newest().channel)
    done = conform(flink, one, 100, tour_nodes=40, kind=ChannelSearch)
    assert done.stopped is None
    assert done.new == []
    assert done.verdict is Verdict.CONFORMS
    assert {"UNAL-32", "UNAL-33", "UNAL-34", "UNAL-35", "UNAL-36"} <= done.rules


@pytest.mark.parametrize(
    "events",
    [
        "e1 w1 x x p1",  # the announcement of checkpoint 1 is unread
        "e1 w1 x x t s1 p1",  # the snapshot of 1 has ended
        "e1 w1 x x t b2 p1",  # a newer checkpoint has begun
        "e1 w1 x x t u2 x p1",  # a newer barrier has arrived
        "r",  # the channel is not blocked
    ],
)
@pytest.mark.rule("UNAL-35")
def test_events_that_the_protocol_refuses_fail_in_the_release(flink, events):
    oracle = Oracle("channel", {"profile": newest().channel})
    *before, last = oracle.transcript(script(events))
    assert last.refused is not None
    assert all(edge.refused is None for edge in before)
    assert flink.new("channel", oracle.config) == Made()
    came = flink.apply(list(script(events)))
    assert not isinstance(came, Errored)
    assert came.effects[-1] == [{"kind": "fail", "error": "IllegalStateException"}]


def test_another_profile_is_not_offered(flink):
    assert isinstance(flink.new("channel", {"profile": "flink-1.12"}), Unsupported)
