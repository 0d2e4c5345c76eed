"""The checker of the flights job names each anomaly of an inexact output."""

import pyarrow as pa
import pytest

from impl.connectors import ParquetFiles, TwoPhaseSink
from impl.connectors.sources.csv_source import CsvSource
from impl.jobs.flights import COLUMNS, SOURCES, TYPES, UPDATES, FlightTotals, first_flights, to_rows
from impl.jobs.flights_check import check_flights


@pytest.fixture
def csv(tmp_path):
    return first_flights(200, tmp_path / "flights.csv")


def exact_updates(csv):
    """The committed output of an undisturbed job, one partition after the other."""
    totals, accumulators, updates = FlightTotals(), {}, []
    for partition in range(SOURCES):
        source = CsvSource(csv, partition=partition, partitions=SOURCES, columns=COLUMNS, types=TYPES)
        for row in to_rows(source.read(1_000), partition, 0):
            before = accumulators.get(row[:2], totals.create_accumulator())
            accumulators[row[:2]] = totals.add(row, before)
            updates.append(totals.get_result(row, accumulators[row[:2]]))
    return updates


def commit(directory, updates):
    sink = TwoPhaseSink(ParquetFiles(directory, subtask="sink-0", attempt=1))
    columns = [
        pa.array(column, field.type)
        for column, field in zip(zip(*updates, strict=True), UPDATES, strict=True)
    ]
    sink.write(pa.RecordBatch.from_arrays(columns, schema=UPDATES))
    sink.snapshot(1)
    sink.notify_complete(1)


def named(report):
    return {difference.what: difference.count for difference in report.differences}


def test_an_exact_output_is_exact(csv, tmp_path):
    commit(tmp_path, exact_updates(csv))
    report = check_flights(tmp_path, csv)
    assert report.exact
    assert (report.rows, report.expected) == (200, 200)


def test_a_flight_committed_twice_is_a_duplicate(csv, tmp_path):
    updates = exact_updates(csv)
    commit(tmp_path, [*updates, updates[17]])
    report = check_flights(tmp_path, csv)
    assert named(report)["committed more than once"] == 1
    assert report.differences[0].first == ((updates[17][2], updates[17][3], 2),)


def test_a_flight_that_is_missing_is_not_committed(csv, tmp_path):
    updates = exact_updates(csv)
    commit(tmp_path, updates[1:])
    assert named(check_flights(tmp_path, csv))["not committed"] == 1


def test_a_flight_counted_twice_in_the_state_breaks_the_counts(csv, tmp_path):
    updates = exact_updates(csv)
    *origin, flights, delay = updates[-1]
    commit(tmp_path, [*updates[:-1], (*origin, flights + 1, delay)])
    assert named(check_flights(tmp_path, csv)) == {
        "counts that are not 1 to n": 1,
        "totals that differ from the batch computation": 1,
    }


def test_an_update_under_another_key_is_found(csv, tmp_path):
    updates = exact_updates(csv)
    commit(tmp_path, [("XX", *updates[0][1:]), *updates[1:]])
    assert named(check_flights(tmp_path, csv))["committed under another key"] == 1


def test_nothing_committed_is_everything_missing(csv, tmp_path):
    commit(tmp_path, exact_updates(csv))
    (tmp_path / "manifests" / "sink-0-1.json").unlink()
    report = check_flights(tmp_path, csv)
    assert named(report)["not committed"] == 200
    assert "0 updates for 200 flights" in report.describe()
