"""Stores the results of rounds, one JSON object for each round, and summarises them for the results page."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from conformance.engines.rows import TableRow, table_row, table_rows
from conformance.errors import InputError
from conformance.observe.guarantees.anomalies import Anomaly, Guarantee
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.engines.rounds import RoundResult

REPRODUCED = 3
"""The results page marks an anomaly that fewer than this number of rounds have shown."""
_RESTARTS_SHOWN = 3
Stored = Mapping[str, Any]


class ResultsError(InputError):
    """The file has no results, or malformed ones. The message states the expected content."""


def stored(result: "RoundResult", row: TableRow, version: str) -> dict[str, Any]:
    """Return a round as a JSON object."""
    found = result.classification
    return {
        "row": row.name,
        "version": version,
        "seed": result.seed,
        "round": result.number,
        "settings": result.settings,
        "faults": result.faults,
        "rows": found.rows if found else 0,
        "guarantee": found.guarantee.value if found else None,
        "findings": [
            {"anomaly": one.anomaly.value, "times": one.times, "first": one.first[0].describe()}
            for one in (found.findings if found else ())
        ],
        "undetermined": result.undetermined,
        "restarts": len(result.restarts),
        "last_restarts": result.restarts[-_RESTARTS_SHOWN:],
        "log": result.log,
        "rest": result.recorded,
        "state": result.state,
        "seconds": round(result.seconds, 1),
    }


def read(file: Path) -> list[Stored]:
    """Read the rounds in a file; none if it does not exist. Raises ResultsError if a round is malformed."""
    if not file.exists():
        return []
    try:
        rounds: list[Stored] = orjson.loads(file.read_bytes())["rounds"]
        for one in rounds:
            Guarantee(one["guarantee"]) if one["guarantee"] else None
            [Anomaly(found["anomaly"]) for found in one["findings"]]
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as wrong:
        raise ResultsError(f"{file}: expected the rounds of a table of engines, got {wrong!r}") from wrong
    return rounds


def written(rounds: Iterable[Stored]) -> bytes:
    """Return the content of a file with these rounds, one on each line."""
    lines = b",\n".join(orjson.dumps(one) for one in rounds)
    return b'{"rounds": [\n' + lines + b"\n]}\n"


def protocol_alarms(one: Stored) -> list[str]:
    """The alarms that the monitor raised about the log and the REST interface of a round."""
    return [alarm for found in (one["log"], *one["rest"]) for alarm in found.get("alarms", ())]


def effects(one: Stored) -> list[Mapping[str, Any]]:
    """The faults of a round whose effect was checked, each with the observed effect."""
    return [found for found in one["rest"] if "fault" in found]


def had_effect(effect: Mapping[str, Any]) -> bool:
    """Whether checkpoints failed during the fault, and a log shows that this fault was the reason."""
    return bool(effect["failed"] > 0 and effect["lines"])


@dataclass(frozen=True)
class Summary:
    """The results of all rounds of a row."""

    row: TableRow
    rounds: Sequence[Stored]

    @property
    def version(self) -> str:
        """The version of the last round."""
        return str(self.rounds[-1]["version"])

    @property
    def judged(self) -> Sequence[Stored]:
        """The rounds of this version with a verdict."""
        return [one for one in self.rounds if not one["undetermined"] and one["version"] == self.version]

    @property
    def faults(self) -> int:
        """The number of faults in the judged rounds."""
        return sum(len(one["faults"]) for one in self.judged)

    @property
    def kinds(self) -> Counter[str]:
        """The number of faults in the judged rounds, by kind."""
        return Counter(fault["kind"] for one in self.judged for fault in one["faults"])

    @property
    def anomalies(self) -> Mapping[Anomaly, Sequence[Stored]]:
        """Maps each anomaly to the judged rounds that showed it."""
        found: dict[Anomaly, list[Stored]] = defaultdict(list)
        for one in self.judged:
            for finding in one["findings"]:
                found[Anomaly(finding["anomaly"])].append(one)
        return dict(found)

    @property
    def effects(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Maps each kind of fault whose effect is checked to the observed effects."""
        found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for one in self.judged:
            for effect in effects(one):
                found[effect["fault"]].append(effect)
        return dict(found)

    @property
    def guarantee(self) -> Guarantee:
        """The strongest guarantee that no anomaly refutes. Announced anomalies do not count.

        One round is enough to refute a guarantee.
        """
        refuted = {one for anomaly in self.anomalies.keys() - self.row.announced for one in anomaly.refutes}
        return next((one for one in Guarantee if one not in refuted), Guarantee.BROKEN)

    @property
    def verdict(self) -> Verdict:
        """CONFORMS if no anomaly refutes the claim and no alarm was raised, DIVERGES otherwise.

        UNDETERMINED if no round was judged, or the faults of some kind never had their effect. A row with a
        planted defect is CONFORMS if a round showed one of its anomalies, UNDETERMINED otherwise.
        """
        if not self.judged:
            return Verdict.UNDETERMINED
        if self.row.planted:
            return Verdict.CONFORMS if self.row.planted & self.anomalies.keys() else Verdict.UNDETERMINED
        if any(self.row.claim in one.refutes for one in self.anomalies.keys() - self.row.announced):
            return Verdict.DIVERGES
        if any(map(protocol_alarms, self.judged)):
            return Verdict.DIVERGES
        if not all(any(map(had_effect, found)) for found in self.effects.values()):
            return Verdict.UNDETERMINED
        return Verdict.CONFORMS


def summaries(rounds: Iterable[Stored]) -> list[Summary]:
    """Summarise the rounds of each row, in the order of the table. A row `flink@RELEASE` follows `flink`."""
    by_row: dict[str, list[Stored]] = defaultdict(list)
    for one in rounds:
        by_row[one["row"]].append(one)
    order = list(table_rows())
    names = sorted(by_row, key=lambda name: (order.index(name.partition("@")[0]), name))
    return [Summary(table_row(name), by_row[name]) for name in names]
