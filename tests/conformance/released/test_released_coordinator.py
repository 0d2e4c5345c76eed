"""Comparing released coordinators and stores, with our implementation in place of a release. No JVM."""

import sys
from random import Random

import pytest

from conformance.adapters.flink.releases import release
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Unsupported
from conformance.components.coordinator.walks import walk_coordinator
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.parts.released import targets_of
from conformance.released import comparison as driver
from conformance.released.comparison import conform
from conformance.released.coordinator import (
    CoordinatorSearch,
    floods,
    is_left_out,
    is_stored,
    small_configs,
    target,
)
from conformance.released.known_divergences import read, shown_by
from conformance.released.matrix import Cell
from conformance.report import released as report
from conformance.rules import index as rule_index
from conformance.verdict import Verdict


@pytest.fixture
def impl(monkeypatch):
    monkeypatch.setattr(driver, "known_divergences", list)
    with ProcessAdapter([sys.executable, "-m", "conformance.cli", "serve", "impl"], 60) as adapter:
        yield adapter


@pytest.mark.parametrize("component", ["coordinator", "store"])
def test_an_implementation_that_does_as_the_model_conforms(impl, component):
    done = conform(impl, target("9.9.9", "1.15", component), 30, tour_nodes=25, kind=CoordinatorSearch)
    assert done.verdict is Verdict.CONFORMS
    assert done.sequences > 30
    assert done.transitions > 60
    assert report.line(done).startswith(f"  CONFORMS     Flink 9.9.9   {component}: ")
    assert report.matrix([Cell.of(done, "here")]).splitlines()[0].split() == ["release", component]


class Older(ProcessAdapter):
    """Behaves like Flink 1.11, whatever profile is configured."""

    def new(self, component, config):
        return super().new(component, {**config, "profile": "1.11"})


def test_a_store_of_another_generation_diverges(monkeypatch):
    monkeypatch.setattr(driver, "known_divergences", list)
    with Older([sys.executable, "-m", "conformance.cli", "serve", "impl"], 60) as older:
        search = CoordinatorSearch(
            older, one := target("9.9.9", "1.13", "store"), done := driver.Conformed(one)
        )
        assert search.begin()
        events = [
            {"kind": "add", "checkpoint": n, "type": t} for n, t in ((1, "checkpoint"), (2, "savepoint"))
        ]
        replayed = replay(Oracle("store", done.target.configs()[0]), older, events)
    assert replayed.divergence is not None
    assert replayed.divergence.rule in rule_index.rules()


def test_events_that_no_release_receives_are_left_out():
    assert is_left_out({"kind": "trigger", "type": "checkpoint", "drain": True}, ())
    assert not is_left_out({"kind": "trigger", "type": "stop", "drain": True}, ())
    assert not is_left_out({"kind": "restore"}, ())
    add = {"kind": "add", "checkpoint": 2, "type": "savepoint"}
    assert is_stored({"profile": "1.13"}, {"completed": [1]}, add)
    assert not is_stored({"profile": "1.15"}, {"completed": [1]}, add)
    assert not is_stored({"profile": "1.13"}, {"completed": [3]}, add)


ENTRY = """
[[divergence]]
component = "coordinator"
name = "a lost trigger is not noticed"
releases = ["9.9.9"]
rule = "COORD-24"
seen = "The checkpoint waits for its time-out."
config = { profile = "2.3", tasks = [{ id = "src-0", source = true }] }
events = [
    { kind = "job_status", status = "RUNNING" },
    { kind = "task_status", task = "src-0", status = "RUNNING" },
    { kind = "trigger", type = "checkpoint" },
    { kind = "trigger_fails", task = "src-0", checkpoint = 1 },
]
"""


def test_an_entry_of_a_coordinator_holds_for_it_alone_and_is_gone_if_nothing_diverges(impl):
    (known,) = read(ENTRY, "coordinator.toml")
    assert known.holds_for("9.9.9", "coordinator", "")
    assert not known.holds_for("9.9.9", "exactly-once", "handler")
    assert shown_by(known, "", impl) is None
    with Older([sys.executable, "-m", "conformance.cli", "serve", "impl"], 60) as older:
        assert shown_by(known, "", older) is not None


@pytest.mark.parametrize(("version", "known"), [("1.9.3", False), ("1.10.3", True), ("2.3.0", True)])
def test_a_history_has_no_decline_with_a_reason_that_the_release_does_not_have(impl, version, known):
    (one,) = targets_of(release(version), (), (), ("coordinator",))
    allows = CoordinatorSearch(impl, one, driver.Conformed(one)).allows(one.configs()[0])
    decline = {"kind": "decline", "task": "src-0", "checkpoint": 1, "reason": "ASYNC_EXCEPTION"}
    assert allows({}, decline) is known
    assert allows({}, {**decline, "reason": "CHECKPOINT_DECLINED"})


class Declining(ProcessAdapter):
    """A store that supports no savepoints. Its answers have no word `latest`."""

    def receive(self):
        return super().receive().replace(b"latest", b"odd")

    def submit(self, events):
        self.declines = any(event.get("type") == "savepoint" for event in events)
        super().submit(events)

    def collect(self):
        came = super().collect()
        return Unsupported("savepoints") if self.declines else came


def test_an_event_that_a_release_cannot_receive_ends_the_search_and_is_reported(monkeypatch):
    monkeypatch.setattr(driver, "known_divergences", list)
    with Declining([sys.executable, "-m", "conformance.cli", "serve", "impl"], 60) as declining:
        done = conform(declining, target("9.9.9", "1.13", "store"), 5, tour_nodes=5, kind=CoordinatorSearch)
    assert done.verdict is Verdict.UNDETERMINED
    assert "stopped: error: it does not offer savepoints" in report.details(done)


def test_random_histories_send_every_kind_of_event_in_every_configuration():
    """The search leaves out no kind of event and no configuration silently."""
    for profile in ("1.9", "1.13", "1.15", "2.3"):
        one = target("9.9.9", profile, "coordinator")
        fields = set().union(*one.configs())
        kinds = set()
        for number, config in enumerate(one.configs() * 4):
            rng = Random(f"{profile} {number}")
            choose, oracle = walk_coordinator(config, rng, False), Oracle("coordinator", config)
            node = oracle.start
            for _ in range(50):
                event = choose(node.observed)
                edge = oracle.step(node, event)
                if edge.refused is None:
                    kinds.add(event["kind"])
                    node = edge.after
        masters = set() if profile == "1.9" else {"coordinator_done", "coordinator_fails", "hook_done"}
        assert {
            "restore",
            "shutdown",
            "coordinator_restart",
            "store_fails",
            "trigger_fails",
        } | masters <= kinds
        assert {"interval_ms", "min_pause_ms", "tolerable_failures", "externalized"} <= fields
        assert profile == "1.9" or {"operator_coordinators", "hooks", "unaligned"} <= fields


@pytest.mark.rule("COORD-03")
@pytest.mark.parametrize(("profile", "told"), [("1.9", [0, 0]), ("1.11", [4, 1]), ("2.3", [4, 2])])
def test_floods_send_more_requests_than_may_wait(profile, told):
    """The number of rejected requests in each flood. Before 1.11 no request waits.

    In 1.11 the first request of a user starts before a periodic one can.
    """
    refused = []
    for more, flood in floods():
        oracle = Oracle("coordinator", {**small_configs(target("9.9.9", profile, "coordinator"))[0], **more})
        effects = [effect for edge in oracle.transcript(flood) for effect in edge.effects]
        refused.append(sum(effect.get("reason") == "TOO_MANY_CHECKPOINT_REQUESTS" for effect in effects))
    assert refused == told


def test_only_rules_of_compared_steps_count(impl):
    """Of two random candidates the search sends one. The rules that fire only in the other do not count."""
    one = target("9.9.9", "1.9", "coordinator")
    search = CoordinatorSearch(impl, one, done := driver.Conformed(one))
    cases = list(search.random(5, 0))
    search.finish()
    assert done.rules == {
        rule for case in cases for edge in case.oracle.transcript(case.events) for rule in edge.rules
    }
