"""A corrupted log is rejected at its line, with the rule that the corruption violates."""

import re
from functools import cache
from pathlib import Path
from random import Random

import pytest

from conformance.observe.flink import Settings, read_lines
from conformance.observe.flink.corruptions import (
    CORRUPTIONS,
    Corruption,
    Outcome,
    corrupt,
    corrupt_all,
)
from conformance.observe.flink.edits import AcceptedLog, accepted_log
from conformance.observe.flink.validate import validate_flink
from conformance.verdict import Verdict
from spec import rules

NEAR = 50
"""Lines after an altered one, within which it is reported: a checkpoint has about as many."""
LOGS = Path(__file__).parent / "logs"
ALL = ("flink-1.13.6-fail", "flink-1.20.5-fail", "flink-2.2.1-fail", "flink-2.2.1")

UNOBSERVABLE = {
    "flink-1.13.6-fail": {
        "a broadcast removed",
        "a notification removed",
        "an older checkpoint kept, a newer discarded",
        "another checkpoint cleaned, a second time",
        "another checkpoint cleaned, before it starts",
        "the wrong checkpoint reported as subsumed",
    },
    "flink-1.20.5-fail": set(),
    "flink-2.2.1-fail": set(),
    "flink-2.2.1": {
        "a failure removed",
        "a notification of an aborted checkpoint",
        "a restore from an older checkpoint",
        "a restore removed",
        "an acknowledgement of an earlier attempt",
    },
}


@cache
def log(name: str) -> AcceptedLog:
    return accepted_log(read_lines(str(LOGS / f"{name}.log.gz")))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda corruption: corruption.name)
def test_a_corruption_is_rejected_for_its_own_reason(name: str, corruption: Corruption) -> None:
    """Each log has corruptions drawn for it; `test_all_of_them_one_after_another` has one more."""
    outcome = corrupt(log(name), corruption, Settings(), ALL.index(name))
    if corruption.name in UNOBSERVABLE[name]:
        assert not outcome.observable
        assert corruption.unobservable
        return
    if not corruption.rules:
        assert outcome.unreadable is not None, f"not found unreadable: {outcome.what}"
        return
    rejection = outcome.rejection
    assert rejection is not None, f"accepted: {outcome.what}"
    assert outcome.detected, rejection.describe()
    assert rejection.guard
    assert rejection.text


def test_at_least_ten_corruptions_show_in_every_log() -> None:
    for name in ALL:
        assert len(CORRUPTIONS) - len(UNOBSERVABLE[name]) >= 25


def test_a_corruption_charges_rules_that_exist() -> None:
    known = {rule.id for rule in rules.load_rules()}
    assert {rule for corruption in CORRUPTIONS for rule in corruption.rules} <= known


def test_the_same_seed_corrupts_the_same_place() -> None:
    one, other = ([outcome.what for outcome in _some(name="flink-2.2.1", seed=3)] for _ in range(2))
    assert one == other
    assert one != [outcome.what for outcome in _some(name="flink-2.2.1", seed=4)]


def _some(name: str, seed: int) -> list[Outcome]:
    return [corrupt(log(name), corruption, Settings(), seed) for corruption in CORRUPTIONS[:4]]


def test_every_corrupted_log_differs_from_the_accepted_one() -> None:
    whole = log("flink-2.2.1-fail")
    for corruption in CORRUPTIONS:
        edit = corruption.draw(whole, Random(1))
        assert edit is not None
        assert edit.apply(whole.texts) != list(whole.texts), corruption.name


def test_all_of_them_one_after_another() -> None:
    outcomes = list(corrupt_all(log("flink-2.2.1").texts, seed=1))
    assert [outcome.corruption for outcome in outcomes] == list(CORRUPTIONS)
    assert {outcome.observable for outcome in outcomes} == {True, False}
    assert all(outcome.detected for outcome in outcomes if outcome.observable)


def test_the_verdict_asks_for_every_reason() -> None:
    from conformance.report.flink_log import verdict_of

    good = corrupt(log("flink-2.2.1"), CORRUPTIONS[0], Settings(), 1)
    elsewhere = good._replace(corruption=good.corruption._replace(rules=("SINK-01",)))
    missed = good._replace(rejection=None)
    assert verdict_of([good]) is Verdict.CONFORMS
    assert verdict_of([good, elsewhere]) is Verdict.DIVERGES
    assert verdict_of([good, missed]) is Verdict.DIVERGES
    assert verdict_of([]) is Verdict.UNDETERMINED


@pytest.mark.parametrize("name", ["flink-1.13.6-fail", "flink-2.2.1-fail"])
@pytest.mark.parametrize("kind", ["checkpoint started", "acknowledged"])
def test_an_altered_id_is_reported_near_its_line_although_the_job_restores_soon_after(name, kind):
    """The restore is rejected too, hundreds of lines later, but only as a consequence."""
    texts = log(name).texts[:900]
    lines = [line for line in log(name).of(kind) if line.number < 800][::7]
    for line in lines:
        text = log(name).text(line)
        altered = re.sub(rf"(heckpoint \(?){line.checkpoint}\b", rf"\g<1>{line.checkpoint + 1}", text)
        assert altered != text
        found = validate_flink([*texts[: line.number - 1], altered, *texts[line.number :]]).rejection

        assert found is not None
        assert 0 <= found.line - line.number < NEAR, found.describe()
