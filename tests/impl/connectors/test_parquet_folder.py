"""A folder of Parquet files: every partition reads each of its rows once, also after a restore."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from impl.connectors import ParquetFolder, SourceChangedError, SourceError
from impl.job import ParquetInput

ROWS_A_FILE = (5, 0, 3, 4)


@pytest.fixture
def folder(tmp_path):
    first = 0
    for number, rows in enumerate(ROWS_A_FILE):
        words = [f"w{one % 3}" for one in range(first, first + rows)]
        table = pa.table({"number": pa.array(range(first, first + rows), pa.int64()), "word": words})
        pq.write_table(table, tmp_path / f"{number}.parquet")
        first += rows
    return tmp_path


def numbers(source, rows=2):
    return [
        one for batch in iter(lambda: source.read(rows), None) for one in batch.column("number").to_pylist()
    ]


def test_each_file_belongs_to_one_partition(folder):
    assert numbers(ParquetFolder(folder)) == list(range(12))
    halves = [numbers(ParquetFolder(folder, partition=index, partitions=2)) for index in (0, 1)]
    assert halves == [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11]]
    assert numbers(ParquetFolder(folder, partition=4, partitions=5)) == []


@pytest.mark.rule("ONCE-01")
@pytest.mark.parametrize("before", range(7))
def test_a_restored_folder_continues_at_its_snapshot(folder, before):
    source = ParquetFolder(folder)
    read = [one for _ in range(before) for one in source.read(2).column("number").to_pylist()]
    again = ParquetFolder(folder)
    again.restore(source.snapshot())
    assert again.offset == source.offset == len(read)
    assert read + numbers(again) == list(range(12))


def test_another_folder_is_refused(folder):
    source = ParquetFolder(folder)
    source.read(2)
    snapshot = source.snapshot()
    with pytest.raises(SourceChangedError, match="partition 0 of 1, this is 1 of 2"):
        ParquetFolder(folder, partition=1, partitions=2).restore(snapshot)
    (folder / "0.parquet").write_bytes((folder / "2.parquet").read_bytes())
    with pytest.raises(SourceChangedError, match="expected the content"):
        ParquetFolder(folder).restore(snapshot)
    (folder / "3.parquet").unlink()
    with pytest.raises(SourceChangedError, match="expected the 4 files of the checkpoint, got 3"):
        ParquetFolder(folder).restore(snapshot)
    for file in folder.glob("*.parquet"):
        file.unlink()
    with pytest.raises(SourceError, match="got 0 files"):
        ParquetFolder(folder)


def test_batches_that_stay_batches_keep_their_dictionaries(folder):
    as_rows = ParquetInput(folder, lambda batch, partition, offset: [])
    assert as_rows.open(0, 1).read(5).schema.field("word").type == pa.string()
    assert pa.types.is_dictionary(ParquetInput(folder).open(0, 1).read(5).schema.field("word").type)
