"""The sources of Parquet, of JSON lines and of generated rows: partitions, offsets, and refused input."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from impl.connectors import (
    JsonLinesSource,
    ParquetSource,
    RateSource,
    SourceChangedError,
    SourceError,
)

SCHEMA = pa.schema({"id": pa.int64(), "carrier": pa.string()})
ROWS = 25


def write_parquet(folder):
    path = folder / "flights.parquet"
    table = pa.table({"carrier": ["UA"] * ROWS, "id": range(ROWS)})
    pq.write_table(table, path, row_group_size=7)
    return path


def write_json(folder):
    path = folder / "flights.jsonl"
    path.write_text("\n".join(json.dumps({"id": number, "carrier": "UA"}) for number in range(ROWS)))
    return path


def parquet(folder, **options):
    return ParquetSource(write_parquet(folder), columns=["id", "carrier"], **options)


def json_lines(folder, **options):
    return JsonLinesSource(write_json(folder), SCHEMA, **options)


def rate(folder, **options):
    return RateSource(ROWS, **options)


def numbers(source, max_rows=4):
    read = []
    while (batch := source.read(max_rows)) is not None:
        assert 1 <= batch.num_rows <= max_rows
        read += batch.column(0).to_pylist()
    return read


EVERY = pytest.mark.parametrize("source", [parquet, json_lines, rate])


@EVERY
def test_row_i_belongs_to_partition_i_modulo_n(source, tmp_path):
    partitions = [source(tmp_path, partition=number, partitions=3) for number in range(3)]
    assert [numbers(one) for one in partitions] == [list(range(number, ROWS, 3)) for number in range(3)]
    assert [one.offset for one in partitions] == [9, 8, 8]


@pytest.mark.rule("ONCE-01")
@EVERY
def test_a_restored_source_continues_at_its_snapshot(source, tmp_path):
    first = source(tmp_path, partition=1, partitions=2)
    first.read(5)
    taken = first.snapshot()
    again = source(tmp_path, partition=1, partitions=2)
    again.restore(taken)

    assert again.offset == 5
    assert numbers(again) == numbers(first)


@EVERY
def test_a_snapshot_of_another_partition_is_refused(source, tmp_path):
    taken = source(tmp_path, partition=0, partitions=2).snapshot()
    with pytest.raises(SourceChangedError, match="partition 0 of 2"):
        source(tmp_path, partition=1, partitions=2).restore(taken)


@EVERY
def test_an_invalid_partition_is_refused(source, tmp_path):
    with pytest.raises(SourceError, match="correct them"):
        source(tmp_path, partition=2, partitions=2)


def test_the_error_names_the_columns_that_a_parquet_file_lacks(tmp_path):
    with pytest.raises(SourceError, match="delay"):
        ParquetSource(write_parquet(tmp_path), columns=["id", "delay"])
    with pytest.raises(SourceError, match="expected a Parquet file"):
        ParquetSource(write_json(tmp_path))


def test_an_invalid_json_line_is_named(tmp_path):
    path = write_json(tmp_path)
    path.write_text(path.read_text() + "\n{oops}\n")
    with pytest.raises(SourceError, match="row 25 is no JSON"):
        numbers(JsonLinesSource(path, SCHEMA), 100)
    path.write_text("[1]\n")
    with pytest.raises(SourceError, match="row 0 is expected to be an object"):
        numbers(JsonLinesSource(path, SCHEMA))
    path.write_text('{"id": "many"}\n')
    with pytest.raises(SourceError, match="not as declared"):
        numbers(JsonLinesSource(path, SCHEMA))


def test_a_field_that_is_missing_is_null_and_empty_lines_are_no_rows(tmp_path):
    path = tmp_path / "few.jsonl"
    path.write_text('{"id": 1}\n\n{"id": 2, "carrier": "AA", "more": true}\n')
    assert JsonLinesSource(path, SCHEMA).read(5).to_pylist() == [
        {"id": 1, "carrier": None},
        {"id": 2, "carrier": "AA"},
    ]


@pytest.mark.parametrize(
    ("line", "kind", "why"),
    [
        ('{"x": 1.5}', pa.int64(), "does not hold 1.5: it would become 1"),
        ('{"x": 9007199254740993.0}', pa.int64(), "does not hold 900719925474099"),
        ('{"x": 9223372036854775808}', pa.int64(), "does not hold 9223372036854775808"),
        ('{"x": 9007199254740993}', pa.float64(), "does not hold 9007199254740993"),
        ('{"x": 1e400}', pa.float64(), "the number 1e400 is larger than a float can be"),
        ('{"x": 0.1}', pa.decimal128(9, 2), "does not hold 0.1"),
        ('{"x": 1.7}', pa.timestamp("us"), "does not hold 1.7"),
        ('{"x": "2020-01-01T00:00:00+02:00"}', pa.timestamp("us"), "does not hold '2020"),
        ('{"x": "\\ud800"}', pa.string(), "does not hold"),
        ('{"x": [1.5]}', pa.list_(pa.int64()), "does not hold"),
        ('{"x": {"a": 1, "b": 2}}', pa.struct({"a": pa.int64()}), "does not hold"),
    ],
)
def test_a_value_of_json_that_its_field_does_not_hold_is_refused(tmp_path, line, kind, why):
    path = tmp_path / "one.jsonl"
    path.write_text(line)
    with pytest.raises(SourceError, match=why):
        JsonLinesSource(path, pa.schema({"x": kind})).read(5)


def test_values_of_json_are_read_exactly(tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text('{"i": 9223372036854775807, "u": 18446744073709551615, "f": 0.1, "w": 2.0, "d": 12}')
    kinds = {"i": pa.int64(), "u": pa.uint64(), "f": pa.float64(), "w": pa.int64(), "d": pa.decimal128(9, 2)}
    (row,) = JsonLinesSource(path, pa.schema(kinds)).read(5).to_pylist()
    assert row == {"i": 2**63 - 1, "u": 2**64 - 1, "f": 0.1, "w": 2, "d": 12}
