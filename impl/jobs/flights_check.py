"""The check of the main job: was every flight counted exactly once? Rules ONCE-02, ONCE-03.

It reads the committed output through its manifests, and compares it with totals that DuckDB computes from the
CSV.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv as pacsv

from impl.connectors.manifests import read_committed
from impl.jobs.flights import COLUMNS, SOURCES, TYPES, UPDATES

_SHOWN = 5

_CHECKS = {
    "committed more than once": """
        SELECT "partition", "offset", count(*) AS times FROM updates
        GROUP BY ALL HAVING times > 1 ORDER BY 1, 2""",
    "not committed": """
        SELECT "partition", "offset" FROM source ANTI JOIN updates USING ("partition", "offset")
        ORDER BY 1, 2""",
    "not in the source": """
        SELECT "partition", "offset" FROM updates ANTI JOIN source USING ("partition", "offset")
        ORDER BY 1, 2""",
    "committed under another key": """
        SELECT "partition", "offset", u.carrier, u.day, s.carrier, s.day
        FROM updates u JOIN source s USING ("partition", "offset")
        WHERE u.carrier != s.carrier OR u.day != s.day ORDER BY 1, 2""",
    "counts that are not 1 to n": """
        SELECT carrier, day, count(*) AS n, min(flights), max(flights), count(DISTINCT flights)
        FROM updates GROUP BY carrier, day
        HAVING min(flights) != 1 OR max(flights) != n OR count(DISTINCT flights) != n ORDER BY 1, 2""",
    "totals that differ from the batch computation": """
        WITH last AS (
            SELECT carrier, day, max(flights) AS flights, arg_max(delay, flights) AS delay
            FROM updates GROUP BY carrier, day),
        batch AS (
            SELECT carrier, day, count(*) AS flights, sum(coalesce(arr_delay, 0))::BIGINT AS delay
            FROM source GROUP BY carrier, day)
        SELECT carrier, day, last.flights, last.delay, batch.flights, batch.delay
        FROM last FULL JOIN batch USING (carrier, day)
        WHERE last.flights IS DISTINCT FROM batch.flights OR last.delay IS DISTINCT FROM batch.delay
        ORDER BY 1, 2""",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One kind of difference: its name, its number of rows, and the first of these rows."""

    what: str
    count: int
    first: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class FlightsReport:
    """The result: the numbers of committed rows, of keys and of rows in the source, and all differences."""

    rows: int
    keys: int
    expected: int
    differences: tuple[Difference, ...]

    @property
    def exact(self) -> bool:
        """Whether every flight was counted exactly once."""
        return not self.differences

    def describe(self) -> str:
        """The result as text: one line if the output is exact, else a line for each kind of difference."""
        if self.exact:
            return f"exact: {self.rows} updates of {self.keys} keys, one for each flight"
        lines = [f"{one.count} {one.what}, the first: {one.first[0]}" for one in self.differences]
        return "\n".join([f"{self.rows} updates for {self.expected} flights:", *lines])


def check_flights(committed: Path, csv: Path) -> FlightsReport:
    """Compare the output in `committed` with the flights in the file `csv`, which may be zipped."""
    updates = read_committed(committed)
    if not updates.num_columns:
        updates = UPDATES.empty_table()
    with duckdb.connect() as database:
        database.register("updates", updates)
        database.register("flights", _read(csv))
        database.execute(
            f"""CREATE TABLE source AS SELECT
                    (row % {SOURCES})::INTEGER AS "partition", row // {SOURCES} AS "offset",
                    carrier, format('{{}}-{{:02d}}-{{:02d}}', year, month, day) AS day, arr_delay
                FROM flights"""
        )
        differences = []
        for what, query in _CHECKS.items():
            found = database.execute(query).fetchall()
            if found:
                differences.append(Difference(what, len(found), tuple(found[:_SHOWN])))
        keys = _number(database, "SELECT count(DISTINCT (carrier, day)) FROM updates")
        expected = _number(database, "SELECT count(*) FROM source")
    return FlightsReport(updates.num_rows, keys, expected, tuple(differences))


def _read(csv: Path) -> pa.Table:
    convert = pacsv.ConvertOptions(include_columns=list(COLUMNS), column_types=TYPES)
    if not zipfile.is_zipfile(csv):
        table = pacsv.read_csv(csv, convert_options=convert)
    else:
        with zipfile.ZipFile(csv) as archive, archive.open(archive.namelist()[0]) as file:
            table = pacsv.read_csv(file, convert_options=convert)
    return table.append_column("row", pa.array(range(table.num_rows), pa.int64()))


def _number(database: duckdb.DuckDBPyConnection, query: str) -> int:
    answer = database.execute(query).fetchone()
    return int(answer[0]) if answer else 0
