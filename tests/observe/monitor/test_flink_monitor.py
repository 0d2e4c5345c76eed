"""The monitor raises no alarm on a healthy log, and one on each corruption visible at INFO."""

from functools import cache
from pathlib import Path
from random import Random

import pytest
from monitored import OF_INFO, OfInfo, Watched, at_info, info_log, watched

from conformance.observe.flink import read_lines
from conformance.observe.flink.corruptions import CORRUPTIONS, Corruption
from conformance.observe.flink.edits import AcceptedLog, accepted_log
from conformance.observe.monitor.shown import LEVELS, verdict_of
from conformance.verdict import Verdict

LOGS = Path(__file__).parents[1] / "logs"
FAILED = ("flink-1.13.6-fail", "flink-1.20.5-fail", "flink-2.2.1-fail")
CONCURRENT = {"flink-2.3.0-expiries": 2}
ALL = {
    path.name.removesuffix(".log.gz"): path
    for path in sorted(LOGS.rglob("*.log.gz"))
    if path.parent.name not in {"info", "clusters"}
}


@cache
def whole(name: str) -> AcceptedLog:
    return accepted_log(read_lines(str(ALL[name])))


@cache
def healthy(name: str, level: str) -> Watched:
    log = whole(name)
    return watched(at_info(log) if level == "INFO" else log.texts, CONCURRENT.get(name, 1))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_a_healthy_log_raises_no_alarm(name: str, level: str) -> None:
    log = whole(name)
    found = healthy(name, level)
    assert [alarm.describe() for alarm in found.alarms] == []
    assert verdict_of(found.monitor) is Verdict.CONFORMS
    completed = sum(ended.state == "completed" for ended in found.ended)
    assert completed == len(log.survey.completed)
    replayed = sum(replay.replayed for replay in found.monitor.replays.values())
    assert (replayed > 0) == (level == "DEBUG")


@pytest.mark.parametrize("corruption", OF_INFO, ids=lambda one: one.name)
@pytest.mark.parametrize("name", FAILED)
def test_a_corruption_that_info_can_show_raises_an_alarm(name: str, corruption: OfInfo) -> None:
    log = info_log(whole(name).texts)
    edits = list(corruption.edits(log, Random(0)))
    if not edits:
        pytest.skip("this log has no place for it")
    for seed in range(3 if name == "flink-2.2.1-fail" else 1):
        edit = Random(seed).choice(edits)
        found = watched(edit.apply(log.texts))
        rules = [alarm.rule for alarm in found.alarms]
        assert rules, f"no alarm: {edit.what}"
        assert rules[0] in (corruption.rules or ("",)), [alarm.describe() for alarm in found.alarms]


def test_at_least_twenty_corruptions_are_seen_in_one_log() -> None:
    log = info_log(whole("flink-2.2.1-fail").texts)
    assert sum(bool(list(one.edits(log, Random(0)))) for one in OF_INFO) >= 30


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda one: one.name)
def test_a_corruption_at_debug_raises_an_alarm(corruption: Corruption) -> None:
    log = whole("flink-2.2.1-fail")
    edit = corruption.draw(log, Random(f"1 {corruption.name}"))
    assert edit is not None
    found = watched(edit.apply(log.texts))
    assert found.alarms, edit.what
    assert bool(found.alarms[0].rule) == bool(corruption.rules), found.alarms[0].describe()


def test_the_rules_of_info_are_those_that_the_page_and_the_account_name() -> None:
    seen: set[str] = set()
    for name in ALL:
        seen |= healthy(name, "INFO").monitor.rules()
    assert set(LEVELS["info"]) - seen == {"COORD-08"}  # sources of these jobs log no notification
