"""Comparing the part `failures`, which counts failed checkpoints, by itself. No JVM."""

import re
from pathlib import Path

from conformance.adapters.flink.releases import releases
from conformance.adapters.in_process import InProcess
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.parts.released import targets_of
from conformance.released import comparison as driver
from conformance.released.failure_counts import FailuresSearch, reasons, target
from model.components import PARTS
from model.coordinator.failures import Failures

PAGE = Path(__file__).parents[3] / "docs" / "verify" / "released-flinks.md"


class Instance:
    """The model of the part `failures` as an implementation. `mended` changes its state after each event."""

    def __init__(self, config, mended=lambda state: state):
        self._state, self._mended = PARTS["failures"].new(config), mended

    def apply(self, event):
        state, effects, _ = PARTS["failures"].apply(self._state, event)
        self._state = self._mended(state)
        return effects

    def observe(self):
        return PARTS["failures"].observe(self._state)


def search_of(one, factory):
    adapter = InProcess("counting", {"failures": factory}, ())
    return FailuresSearch(adapter, one, driver.Conformed(one)), adapter


def played(search, adapter):
    """The divergences of the tours and walks of `search`, played one by one."""
    found = []
    for case in (*search.tours(20), *search.random(30, 1)):
        divergence = replay(case.oracle, adapter, case.events).divergence
        found += [divergence] if divergence is not None else []
    return found


def test_every_reason_and_type_is_tested():
    one = target("1.15.4", "1.15")
    search, adapter = search_of(one, Instance)
    cases = [*search.tours(20)]
    requested = {(event.get("reason"), event.get("type")) for case in cases for event in case.events}
    assert {reason for reason, _ in requested if reason} == set(reasons((1, 15)))
    assert {type_ for _, type_ in requested if type_} == {"checkpoint", "savepoint", "stop"}
    assert played(search, adapter) == []


def test_up_to_1_14_only_failures_of_checkpoints_are_tested():
    one = target("1.13.6", "1.13")
    assert {event["type"] for event in one.failures(1)} == {"checkpoint"}
    assert Oracle("failures", one.configs()[0]).step  # the model knows the profile


def test_a_count_that_forgets_the_highest_success_is_detected():
    def forgets(state):
        return state._replace(failures=Failures(state.failures.counted, -1))

    one = target("2.3.0", "2.3")
    search, adapter = search_of(one, lambda config: Instance(config, forgets))
    assert played(search, adapter)


def test_the_page_states_how_many_reasons_there_are():
    rows = re.findall(r"^\| ([\d., ]+) \| (\d+) \|", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    shown = {version: int(count) for versions, count in rows for version in versions.split(", ")}
    counting = [one for one in releases().values() if "failures" not in one.undescribed]
    driven = {one.version: len(reasons(one.minor)) for one in counting}
    assert shown == driven


def test_every_release_that_has_a_coordinator_has_a_target():
    every = [next(targets_of(one, (), (), ("failures",))) for one in releases().values()]
    assert [one.profile for one in every] == [one.coordinator for one in releases().values()]


def test_failures_without_an_id_count_each_time_from_1_14_3_on():
    unnamed = {
        "kind": "failure",
        "checkpoint": -1,
        "type": "checkpoint",
        "reason": "CHECKPOINT_DECLINED",
        "by_task": False,
    }
    success = {"kind": "success", "checkpoint": 5}
    seen = {}
    for profile in ("1.11", "1.12", "1.14.0", "1.14", "2.3"):
        instance = Instance({"profile": profile, "tolerable_failures": 2})
        seen[profile] = []
        for event in (unnamed, unnamed, success, unnamed, unnamed):
            instance.apply(event)
            seen[profile].append(instance.observe()["counted"])
    assert seen == {
        "1.11": [1, 1, 0, 1, 1],
        "1.12": [1, 1, 0, 0, 0],
        "1.14.0": [1, 1, 0, 0, 0],
        "1.14": [1, 2, 0, 1, 2],
        "2.3": [1, 2, 0, 1, 2],
    }
