"""Writes the rows of Parquet files as binary files for Flink, and reads the output that Flink has committed.

A row has eight bytes: the number of its word, and its value. `words.txt` has one word on each line. Reading
these files costs Flink less than any of its formats, because its source makes one small object for each row.
"""

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from conformance.bench.runtime.word_counts import TOTALS, Totals, newest

WORDS: Final = "words.txt"
_NUMBER: Final = np.dtype("<i4")


def binary(source: Path) -> Path:
    """The folder with the rows of the Parquet files in `source`, made unless it exists."""
    made = source.with_name(f"{source.name}-binary")
    if (made / "_whole").exists():
        return made
    made.mkdir(exist_ok=True)
    files = sorted(source.glob("*.parquet"))
    words = sorted({word for one in files for word in pq.read_table(one)["word"].unique().to_pylist()})
    (made / WORDS).write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    numbers = pa.array(words)
    for one in files:
        table = pq.read_table(one)
        rows = np.empty((table.num_rows, 2), dtype=_NUMBER)
        rows[:, 0] = pa.compute.index_in(table["word"], numbers).to_numpy()
        rows[:, 1] = table["value"].to_numpy()
        (made / f"{one.stem}.bin").write_bytes(rows.tobytes())
    (made / "_whole").touch()
    return made


def committed_files(output: Path) -> list[Path]:
    """The committed files, which are those that are not hidden."""
    return sorted(one for one in output.glob("*.csv") if not one.name.startswith("."))


def updates(file: Path) -> pa.Table:
    """The updates in one committed file."""
    types = dict(zip(TOTALS.names, TOTALS.types, strict=True))
    return csv.read_csv(
        file,
        read_options=csv.ReadOptions(column_names=TOTALS.names),
        convert_options=csv.ConvertOptions(column_types=types),
    )


def answer(output: Path) -> Totals:
    """The newest update of each word. Raises ValueError if there is none, or one was committed twice."""
    files = committed_files(output)
    if not files:
        raise ValueError(f"{output}: expected committed files, got none")
    return newest(pa.concat_tables(map(updates, files)))
