"""The CSV source: partitions, offsets, and a file that has changed."""

import zipfile

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.connectors import CsvSource, SourceChangedError, SourceError


def write_csv(path, rows):
    path.write_text(
        "id,carrier\n" + "".join(f"{number},{'UA' if number % 3 else 'AA'}\n" for number in range(rows))
    )
    return path


@pytest.fixture
def flights(tmp_path):
    return write_csv(tmp_path / "flights.csv", 25)


def ids(source, max_rows=4):
    read = []
    while (batch := source.read(max_rows)) is not None:
        assert 1 <= batch.num_rows <= max_rows
        read += batch.column("id").to_pylist()
    return read


def test_row_i_belongs_to_partition_i_modulo_n(flights):
    partitions = [CsvSource(flights, partition=number, partitions=3) for number in range(3)]
    assert [ids(one) for one in partitions] == [list(range(number, 25, 3)) for number in range(3)]
    assert [one.offset for one in partitions] == [9, 8, 8]


def test_the_partition_continues_across_the_blocks_of_the_file(tmp_path):
    rows = 500_000  # more than one block of 4 MiB
    source = CsvSource(write_csv(tmp_path / "long.csv", rows), partition=1, partitions=3)
    assert ids(source, rows) == list(range(1, rows, 3))


def test_a_zip_reads_like_its_file(flights, tmp_path):
    packed = tmp_path / "flights.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(flights, "flights.csv")
    assert ids(CsvSource(packed, partition=1, partitions=2)) == ids(
        CsvSource(flights, partition=1, partitions=2)
    )


def test_columns_and_types_can_be_selected(flights):
    source = CsvSource(flights, columns=["carrier", "id"], types={"id": pa.string()})
    assert source.schema == pa.schema({"carrier": pa.string(), "id": pa.string()})
    assert source.read(2).to_pylist() == [{"carrier": "AA", "id": "0"}, {"carrier": "UA", "id": "1"}]


@pytest.mark.rule("ONCE-01")
@given(st.integers(0, 40), st.integers(1, 4), st.data())
def test_a_restored_source_reads_exactly_the_remaining_rows(tmp_path_factory, rows, partitions, data):
    path = write_csv(tmp_path_factory.mktemp("csv") / "f.csv", rows)
    partition = data.draw(st.integers(0, partitions - 1))
    batch = data.draw(st.integers(1, 7))
    source = CsvSource(path, partition=partition, partitions=partitions)
    before = []
    for _ in range(data.draw(st.integers(0, 5))):
        read = source.read(batch)
        before += read.column("id").to_pylist() if read else []
    snapshot = source.snapshot()
    assert snapshot.offset == len(before)
    ids(source)
    source.restore(snapshot)
    assert source.offset == len(before)
    assert before + ids(source, batch) == list(range(partition, rows, partitions))


@pytest.mark.rule("ONCE-01")
def test_a_file_that_changed_under_a_checkpoint_is_refused(flights):
    source = CsvSource(flights)
    source.read(10)
    snapshot = source.snapshot()
    content = flights.read_bytes()
    flights.write_bytes(content.replace(b"3,AA", b"3,ZZ"))  # as long as before
    with pytest.raises(SourceChangedError, match="put the old file back"):
        CsvSource(flights).restore(snapshot)
    flights.write_bytes(content)
    again = CsvSource(flights)
    again.restore(snapshot)
    assert again.offset == 10


def test_another_partition_is_refused(flights):
    snapshot = CsvSource(flights, partition=0, partitions=2).snapshot()
    with pytest.raises(SourceChangedError, match="this is 1 of 2; restore with the parallelism"):
        CsvSource(flights, partition=1, partitions=2).restore(snapshot)


def test_rows_that_are_not_as_declared_are_reported(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("id\n" + "1\n" * 10 + "x\n")
    with pytest.raises(SourceError, match="conversion error"):
        ids(CsvSource(path, types={"id": pa.int64()}))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"partition": 2, "partitions": 2}, "partitions are counted from 0"),
        ({"columns": ["colour"]}, "expected a CSV file with a header and the columns"),
    ],
)
def test_bad_options_are_reported(flights, options, says):
    with pytest.raises(SourceError, match=says):
        CsvSource(flights, **options)


def test_a_missing_file_and_a_zip_of_many_are_reported(tmp_path):
    with pytest.raises(SourceError, match="cannot be read: No such file"):
        CsvSource(tmp_path / "none.csv")
    packed = tmp_path / "two.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.csv", "id\n1\n")
        archive.writestr("b.csv", "id\n2\n")
    with pytest.raises(SourceError, match="name one of them as `member`"):
        CsvSource(packed)
    assert ids(CsvSource(packed, member="b.csv")) == [2]


@pytest.mark.parametrize(
    "text", ["9223372036854775809", "12345678901234567\n1.5", "1\n-9223372036854775809", "1e400"]
)
def test_a_number_that_a_guessed_type_would_round_is_refused(tmp_path, text):
    path = tmp_path / "f.csv"
    path.write_text(f"id\n{text}\n")
    with pytest.raises(
        SourceError, match=r"column 'id' has .*, which may have lost digits.*; declare it in `types`"
    ):
        ids(CsvSource(path))
    assert len(ids(CsvSource(path, types={"id": pa.float64()}))) == text.count("\n") + 1
    assert ids(CsvSource(path, types={"id": pa.string()})) == text.split("\n")


@pytest.mark.parametrize(
    ("text", "kind", "came"),
    [
        ("9223372036854775809", pa.uint64(), 9223372036854775809),
        ("-9223372036854775809", pa.decimal128(38, 0), -9223372036854775809),
        ("9223372036854775809", pa.int64(), None),
        ("1.005", pa.decimal128(5, 2), None),
        ("2020-01-01T00:00:00.1234567", pa.timestamp("us"), None),
        ("2020-01-01T00:00:00+02:00", pa.timestamp("us"), None),
        ("2020-01-01T00:00:00", pa.timestamp("us", "UTC"), None),
    ],
)
def test_a_value_of_csv_is_read_exactly_or_refused(tmp_path, text, kind, came):
    path = tmp_path / "f.csv"
    path.write_text(f"id\n{text}\n")
    if came is not None:
        assert ids(CsvSource(path, types={"id": kind})) == [came]
    else:
        with pytest.raises(SourceError, match=r"conversion error|would cause data loss|as declared"):
            ids(CsvSource(path, types={"id": kind}))
