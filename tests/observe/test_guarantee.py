"""The classifier names each anomaly, and the strongest guarantee that the anomalies do not refute."""

import pytest

from conformance.observe.guarantees.anomalies import Anomaly, Guarantee, Subject
from conformance.observe.guarantees.guarantee import Account, Cut, Row, Seen, Sent, Totals, classify

# two lanes, keys "a" and "b"; the weight of a record is its number
SENT = {
    1: Sent("a", "in-0", 0, 1),
    2: Sent("a", "in-1", 0, 2),
    3: Sent("a", "in-0", 1, 3),
    4: Sent("b", "in-1", 1, 4),
}
RIGHT = (Row("a", 1, 1, 1), Row("a", 3, 2, 4), Row("a", 2, 3, 6), Row("b", 4, 1, 4))
STATE = {"a": Totals(3, 6), "b": Totals(1, 4)}


def classified(committed=RIGHT, **more):
    return classify(Account(SENT, committed, **more))


def names(classification):
    return [finding.anomaly for finding in classification.findings]


@pytest.mark.rule("ONCE-03")
def test_nothing_is_found_where_nothing_is_wrong():
    cut = Cut(7, {"in-0": 2, "in-1": 1}, {"a": Totals(3, 6)})
    found = classified(state=STATE, cuts=[cut], seen=[Seen(RIGHT[0], 1, complete=True)])
    assert found.findings == ()
    assert found.guarantee is Guarantee.EXACTLY_ONCE
    assert found.describe().startswith("exactly-once is not refuted")


CASES = {
    "a record is lost": (
        {"committed": (*RIGHT[:2], Row("b", 4, 1, 4))},
        [Anomaly.LOST_RECORD],
        Guarantee.AT_MOST_ONCE,
        "key a, record 2: position 0 of in-1, never committed",
    ),
    "a record counts twice": (
        {"committed": (*RIGHT, Row("b", 4, 2, 8))},
        [Anomaly.DUPLICATED_RECORD],
        Guarantee.AT_LEAST_ONCE,
        "key b, record 4: committed 2 times, at places 1 and 2 of its key",
    ),
    "a row is committed twice": (
        {"committed": (*RIGHT, RIGHT[3])},
        [Anomaly.DUPLICATED_RECORD, Anomaly.WRONG_RESULT],
        Guarantee.AT_LEAST_ONCE,
        "key b, record 4: committed 2 times, at place 1 of its key each time",
    ),
    "one is lost and another doubled": (
        {"committed": (*RIGHT[:2], RIGHT[3], Row("b", 4, 2, 8))},
        [Anomaly.LOST_RECORD, Anomaly.DUPLICATED_RECORD],
        Guarantee.BROKEN,
        "never committed",
    ),
    "a record is made up": (
        {"committed": (*RIGHT, Row("b", 99, 2, 4))},
        [Anomaly.PHANTOM_RECORD],
        Guarantee.BROKEN,
        "key b, record 99: no such record was sent",
    ),
    "a record is under another key": (
        {"committed": (*RIGHT[:3], Row("c", 4, 1, 4))},
        [Anomaly.MISPLACED_RECORD],
        Guarantee.BROKEN,
        "key c, record 4: its key is b",
    ),
    "two of a lane change places": (
        {"committed": (Row("a", 3, 1, 3), Row("a", 1, 2, 4), RIGHT[2], RIGHT[3])},
        [Anomaly.REORDERED_RECORDS],
        Guarantee.AT_LEAST_ONCE,
        "processed after record 3, which comes later in in-0",
    ),
    "a result leaves one out": (
        {"committed": (*RIGHT[:2], Row("a", 2, 4, 9), RIGHT[3])},
        [Anomaly.WRONG_RESULT],
        Guarantee.AT_LEAST_ONCE,
        "expected row 3 with total 6, got row 4 with total 9",
    ),
    "a row is seen too early": (
        {"seen": [Seen(RIGHT[0], 2, complete=False)]},
        [Anomaly.DIRTY_OUTPUT],
        Guarantee.AT_LEAST_ONCE,
        "checkpoint 2, which was not complete",
    ),
    "a row is taken back": (
        {"seen": [Seen(Row("a", 2, 1, 2), 2, complete=True)]},
        [Anomaly.OUTPUT_TAKEN_BACK],
        Guarantee.AT_LEAST_ONCE,
        "missing at the end",
    ),
    "the state is too large": (
        {"state": {**STATE, "b": Totals(2, 8)}},
        [Anomaly.STATE_TOO_LARGE],
        Guarantee.AT_LEAST_ONCE,
        "key b: the state has 2 records with total 8, expected 1 record with total 4",
    ),
    "the state has lost a key": (
        {"state": {"a": STATE["a"]}},
        [Anomaly.STATE_TOO_SMALL],
        Guarantee.AT_MOST_ONCE,
        "key b: the state has 0 records with total 0, expected 1 record with total 4",
    ),
    "the state is of other records": (
        {"state": {**STATE, "b": Totals(1, 5)}},
        [Anomaly.STATE_DIFFERS],
        Guarantee.BROKEN,
        "1 record with total 5",
    ),
    "a checkpoint's state is ahead of its offsets": (
        {"cuts": [Cut(3, {"in-0": 1}, {"a": Totals(2, 4)})]},
        [Anomaly.STATE_AHEAD_OF_OFFSETS],
        Guarantee.AT_LEAST_ONCE,
        "checkpoint 3 holds 2 records with total 4; before its offsets the input has 1 record with total 1",
    ),
    "a checkpoint's state is behind its offsets": (
        {"cuts": [Cut(3, {"in-0": 2}, {"a": Totals(1, 1)})]},
        [Anomaly.STATE_BEHIND_OFFSETS],
        Guarantee.AT_MOST_ONCE,
        "checkpoint 3 holds 1 record",
    ),
}


@pytest.mark.parametrize(("given", "anomalies", "left", "said"), CASES.values(), ids=CASES)
def test_each_anomaly_has_its_name_its_evidence_and_what_it_rules_out(given, anomalies, left, said):
    found = classified(**given)
    assert names(found) == anomalies
    assert found.guarantee is left
    assert said in found.describe()


def test_every_anomaly_is_found_by_some_case():
    assert {anomaly for _, anomalies, *_ in CASES.values() for anomaly in anomalies} == set(Anomaly)


def test_state_and_output_are_classified_separately():
    found = classified((*RIGHT, RIGHT[3]), state=STATE)
    assert found.of(Subject.STATE) is Guarantee.EXACTLY_ONCE
    assert found.of(Subject.OUTPUT) is Guarantee.AT_LEAST_ONCE


def test_the_first_few_anomalies_are_shown_and_all_are_counted():
    sent = {number: Sent("a", "in-0", number) for number in range(100)}
    [finding] = classify(Account(sent, ())).findings
    assert (finding.times, len(finding.first)) == (100, 5)
