"""Comparing released sinks, with our implementation in place of a release. No JVM."""

import sys

import pytest

from conformance.adapters.flink.releases import releases
from conformance.adapters.process import ProcessAdapter
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.parts.released import targets_of
from conformance.released import comparison as driver
from conformance.released.comparison import conform, edges_of
from conformance.released.matrix import Cell
from conformance.released.sink import TRANSACTIONS, SinkSearch, alphabet, target
from conformance.report import released as shown
from conformance.verdict import Verdict
from model.sink.two_phase_commit import SINK_PROFILES

SERVE = [sys.executable, "-m", "conformance.cli", "serve", "impl"]


@pytest.mark.parametrize("profile", SINK_PROFILES)
def test_an_implementation_that_does_as_the_model_conforms(monkeypatch, profile):
    monkeypatch.setattr(driver, "known_divergences", list)
    with ProcessAdapter(SERVE, 60) as adapter:
        done = conform(adapter, target("9.9.9", profile), 60, tour_nodes=40, kind=SinkSearch)
    assert done.verdict is Verdict.CONFORMS
    assert done.sequences > 60
    assert {"SINK-06", "SINK-09", "SINK-10"} <= done.rules
    assert shown.matrix([Cell.of(done, "here")]).splitlines()[0].split() == ["release", "sink"]


class Older(ProcessAdapter):
    """Behaves like Flink 1.9, where `finish` closes the sink, whatever profile is configured."""

    def new(self, component, config):
        return super().new(component, {"profile": "1.9"})


def test_a_sink_of_another_generation_diverges(monkeypatch):
    monkeypatch.setattr(driver, "known_divergences", list)
    with Older(SERVE, 60) as older:
        search = SinkSearch(older, one := target("9.9.9", "1.14"), done := driver.Conformed(one))
        assert search.begin()
        played = replay(Oracle("sink", done.target.configs()[0]), older, [{"kind": "finish"}])
    assert played.divergence is not None
    assert played.divergence.rule == "SINK-07"


def test_the_toured_model_is_finite():
    config = {"profile": "1.14"}
    assert (
        list(alphabet(config, {"open": TRANSACTIONS, "committed": [], "pending": [], "running": True})) == []
    )
    nodes = {to for _, _, to, _ in edges_of(Oracle("sink", config), 5_000, alphabet)}
    assert 1_000 < len(nodes) < 4_999


def test_every_release_has_a_sink_of_a_known_generation():
    every = {one.version: next(targets_of(one, (), (), ("sink",))) for one in releases().values()}
    assert {one.profile for one in every.values()} == set(SINK_PROFILES)
    assert every["1.13.6"].profile == "1.9"
    assert every["1.15.4"].profile == "1.14"
