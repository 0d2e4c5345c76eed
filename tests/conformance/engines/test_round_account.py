"""The classifier names the anomaly of each planted output of a round."""

import pytest

from conformance.engines.feed import LANES, Feed, key_of, record, weight_of
from conformance.engines.round_account import account, rows
from conformance.observe.guarantees.anomalies import Anomaly, Guarantee
from conformance.observe.guarantees.guarantee import classify

RECORDS = 1_000


def outputs(order):
    """The output rows of a job that processes the records `(lane, position)` in this order."""
    state = {}
    for lane, position in order:
        place, total = state.get(key_of(lane, position), (0, 0))
        state[key_of(lane, position)] = place, total = place + 1, total + weight_of(lane, position)
        yield f"{key_of(lane, position)},{lane},{position},{place},{total}"


def order(records=RECORDS):
    return [(number % LANES, number // LANES) for number in range(records)]


def anomalies(lines, samples=()):
    found = classify(account(RECORDS, lines, samples))
    return found.guarantee, {one.anomaly for one in found.findings}


def test_the_exact_output_has_no_anomaly():
    lines = list(outputs(order()))

    assert anomalies(lines, [lines[:100], lines[:600]]) == (Guarantee.EXACTLY_ONCE, set())


def test_a_sink_that_commits_early_doubles_the_records_behind_the_restored_checkpoint():
    checkpoint, failed_at = 300, 420
    right = list(outputs(order()))
    lines = right[:failed_at] + right[checkpoint:]  # restored, but the rows stay visible

    assert anomalies(lines) == (
        Guarantee.AT_LEAST_ONCE,
        {Anomaly.DUPLICATED_RECORD, Anomaly.WRONG_RESULT},
    )


def test_a_source_that_does_not_restore_its_offset_loses_the_records_behind_the_checkpoint():
    checkpoint, end_of_the_lanes = 300, 420
    lines = list(outputs(order()[:checkpoint] + order()[end_of_the_lanes:]))

    assert anomalies(lines) == (Guarantee.AT_MOST_ONCE, {Anomaly.LOST_RECORD})


def test_a_row_that_was_read_and_is_gone_is_taken_back():
    lines = list(outputs(order()))
    before = [*lines[:300], "1,0,75,9999,9999"]

    assert anomalies(lines, [before]) == (Guarantee.AT_LEAST_ONCE, {Anomaly.OUTPUT_TAKEN_BACK})


def test_a_torn_line_at_the_end_is_a_row_that_was_never_sent():
    lines = [*outputs(order()), "3,1,7"]

    assert anomalies(lines) == (Guarantee.BROKEN, {Anomaly.PHANTOM_RECORD})


def test_a_torn_line_of_a_running_sink_is_being_written():
    lines = list(outputs(order()))

    assert anomalies(lines, [[*lines[:10], "3,1,7"]]) == (Guarantee.EXACTLY_ONCE, set())
    assert rows(["3,1,7"], torn=False) == []


@pytest.mark.parametrize("steps", [(1_000,), (1, 3, 499, 500, 750, 1_000), tuple(range(7, 1_007, 7))])
def test_the_feed_writes_each_record_once_however_it_grows(tmp_path, steps):
    feed = Feed(tmp_path, RECORDS)
    for until in steps:
        feed.feed(until)
    lanes = [file.read_text().splitlines(keepends=True) for file in sorted(feed.lanes.iterdir())]
    chunks = [line for file in sorted(feed.chunks.iterdir()) for line in file.read_text().splitlines(True)]

    assert feed.complete
    assert lanes == [[record(lane, at) for at in range(RECORDS // LANES)] for lane in range(LANES)]
    assert sorted(chunks) == sorted(line for lane in lanes for line in lane)


def test_lines_have_the_width_that_the_jobs_expect():
    assert {len(record(lane, position)) for lane in (0, 3) for position in (0, 999, 2_499)} == {22}
