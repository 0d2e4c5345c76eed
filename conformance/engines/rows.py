"""The rows of the table of engines, as `table.toml` lists them."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple

from conformance.engines.schedule import FAULTS, RECORDS, Kind
from conformance.errors import InputError
from conformance.observe.guarantees.anomalies import Anomaly, Guarantee

FLINK = "flink"
"""The engine whose release a row can name: `flink@1.20.5`."""


class UnknownRowError(InputError):
    """The table of engines has no row with this name."""


class TableRow(NamedTuple):
    """One row: an engine with a sink, and the guarantee that its documentation claims."""

    name: str
    engine: str
    sink: str
    claim: Guarantee
    says: str
    """The place in the engine's documentation that states the claim, and its words."""
    draws: Mapping[str, Sequence[Any]]
    """The settings that are drawn for each round."""
    planted: frozenset[Anomaly] = frozenset()
    """The anomalies of a planted defect. A round of the row must show one of them."""
    announced: frozenset[Anomaly] = frozenset()
    """Anomalies that the documentation itself announces. They do not refute its claim."""
    faults: int | None = None
    """The number of faults, if the row lists it."""
    a_round: int = FAULTS
    """The number of faults of a round."""
    records: int = RECORDS
    """The number of records of a round."""
    kinds: tuple[Kind, ...] = ()
    """The kinds of faults, if the row lists them."""
    release: str | None = None
    """The release of Flink that the name of the row states."""

    def settings(self, seed: int, number: int) -> dict[str, Any]:
        """Draw the settings of a round."""
        draw = Random(f"{seed}/{number}/{self.name}")
        return {name: draw.choice(values) for name, values in self.draws.items()}


@cache
def table_rows() -> Mapping[str, TableRow]:
    """All rows by name."""
    listed = tomllib.loads(files("conformance.engines").joinpath("table.toml").read_text(encoding="utf-8"))
    return {
        name: TableRow(
            name,
            row["engine"],
            row["sink"],
            Guarantee(row["claim"]),
            row["says"],
            row["draws"],
            frozenset(Anomaly(one) for one in row.get("planted", ())),
            frozenset(Anomaly(one) for one in row.get("announced", ())),
            row.get("faults"),
            row.get("a_round", FAULTS),
            row.get("records", RECORDS),
            tuple(map(Kind, row.get("kinds", ()))),
        )
        for name, row in listed.items()
    }


def table_row(name: str) -> TableRow:
    """The row of this name; `flink@1.20.5` is the row `flink` of that release. Raises UnknownRowError."""
    plain, _, version = name.partition("@")
    found = table_rows().get(plain)
    if found is None or (version and found.engine != FLINK):
        raise UnknownRowError(f"expected one of {', '.join(table_rows())}, or flink@RELEASE, got {name!r}")
    return found._replace(release=version, name=name) if version else found
