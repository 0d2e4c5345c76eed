"""Finds the guarantee that a run has kept: compares its output and state with those that its input requires.

The run is given as plain values (`Account`), so it may be of any engine. The classification looks for each
anomaly of `anomalies`. The verdict is the strongest guarantee that no found anomaly refutes. It is about this
run only: a guarantee that is not refuted is not proved.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from conformance.observe.guarantees.anomalies import Anomaly, Evidence, Finding, Guarantee, Subject

SHOWN = 5
Key = Hashable
RecordId = Hashable


class Sent(NamedTuple):
    """A record of the input. A run must process records of one key and `lane` in the order of `position`."""

    key: Key
    lane: Hashable
    position: int
    weight: int = 1
    """The contribution of the record to the total of its key."""


class Row(NamedTuple):
    """A committed result: its record, its place among the key's results, from 1, and the total so far."""

    key: Key
    record: RecordId
    place: int
    total: int


class Totals(NamedTuple):
    """The state of a key: the number of its records, and the total of their weights."""

    records: int
    total: int

    def __str__(self) -> str:
        return f"{self.records} record{'s' * (self.records != 1)} with total {self.total}"


class Seen(NamedTuple):
    """A row that was read while the job ran. `complete`: whether its checkpoint was complete at that time."""

    row: Row
    checkpoint: int
    complete: bool


class Cut(NamedTuple):
    """A checkpoint: the offset of each lane, and the state with the checkpoint's records in flight added."""

    checkpoint: int
    offsets: Mapping[Hashable, int]
    state: Mapping[Key, Totals]


@dataclass(frozen=True)
class Account:
    """The input, output and state of one run. `state` is the final one; None: unknown."""

    sent: Mapping[RecordId, Sent]
    committed: Sequence[Row]
    state: Mapping[Key, Totals] | None = None
    cuts: Sequence[Cut] = ()
    seen: Sequence[Seen] = field(default=())


@dataclass(frozen=True, slots=True)
class Classification:
    """The verdict on one run: the strongest guarantee that is not refuted, and the anomalies."""

    findings: tuple[Finding, ...]
    records: int
    rows: int

    def of(self, subject: Subject) -> Guarantee:
        """The strongest guarantee about `subject` that no anomaly refutes."""
        refuted = {
            one for finding in self.findings if finding.anomaly.subject is subject
            for one in finding.anomaly.refutes
        }  # fmt: skip
        return next((one for one in Guarantee if one not in refuted), Guarantee.BROKEN)

    @property
    def guarantee(self) -> Guarantee:
        """The strongest guarantee that no anomaly of state or output refutes."""
        refuted = {one for finding in self.findings for one in finding.anomaly.refutes}
        return next((one for one in Guarantee if one not in refuted), Guarantee.BROKEN)

    def refutes(self, guarantee: Guarantee) -> bool:
        """Whether an anomaly of state or output refutes it."""
        return any(guarantee in finding.anomaly.refutes for finding in self.findings)

    def describe(self) -> str:
        """The verdict, then each anomaly with its evidence and the guarantees that it refutes."""
        each = f"state {self.of(Subject.STATE).value}, output {self.of(Subject.OUTPUT).value}"
        verdict = f"{self.guarantee.value} is not refuted"
        if self.guarantee is Guarantee.BROKEN:
            verdict = "no guarantee holds"
        lines = [f"{verdict} ({each}): {self.rows} rows committed for {self.records} records"]
        for finding in self.findings:
            lines += [f"  {finding.describe()}", f"    {finding.anomaly.explain()}"]
        return "\n".join(lines)


def classify(account: Account) -> Classification:
    """Search the account for every anomaly. Keeps the first SHOWN occurrences of each."""
    found: dict[Anomaly, list[Evidence]] = defaultdict(list)
    for search in (_records, _results, _seen, _final_state, _cuts):
        for anomaly, evidence in search(account):
            found[anomaly].append(evidence)
    findings = tuple(
        Finding(anomaly, len(found[anomaly]), tuple(found[anomaly][:SHOWN]))
        for anomaly in Anomaly
        if anomaly in found
    )
    return Classification(findings, len(account.sent), len(account.committed))


Found = Iterator[tuple[Anomaly, Evidence]]


def totals(sent: Mapping[RecordId, Sent], offsets: Mapping[Hashable, int] | None = None) -> dict[Key, Totals]:
    """By key: the expected state after all records, or after those below the offsets of their lanes."""
    made: dict[Key, Totals] = {}
    for one in sent.values():
        if offsets is None or one.position < offsets.get(one.lane, 0):
            count, total = made.get(one.key, (0, 0))
            made[one.key] = Totals(count + 1, total + one.weight)
    return made


def _records(account: Account) -> Found:
    """Yield lost, duplicated, phantom and misplaced records."""
    places: dict[RecordId, list[int]] = defaultdict(list)
    for row in account.committed:
        places[row.record].append(row.place)
    for record, sent in account.sent.items():
        times = len(places.get(record, ()))
        if not times:
            where = f"position {sent.position} of {sent.lane}"
            yield Anomaly.LOST_RECORD, Evidence(sent.key, record, f"{where}, never committed")
        elif times > 1:
            which = f"places {' and '.join(map(str, places[record]))} of its key"
            if len(set(places[record])) == 1:
                which = f"place {places[record][0]} of its key each time"
            what = f"committed {times} times, at {which}"
            yield Anomaly.DUPLICATED_RECORD, Evidence(sent.key, record, what)
    for row in account.committed:
        known = account.sent.get(row.record)
        if known is None:
            yield Anomaly.PHANTOM_RECORD, Evidence(row.key, row.record, "no such record was sent")
        elif known.key != row.key:
            yield Anomaly.MISPLACED_RECORD, Evidence(row.key, row.record, f"its key is {known.key}")


def _results(account: Account) -> Found:
    """Yield wrong results: a key has rows 1 to n, each with the total so far, in the order of its lanes."""
    by_key: dict[Key, list[Row]] = defaultdict(list)
    for row in account.committed:
        if row.record in account.sent:
            by_key[row.key].append(row)
    for key, rows in by_key.items():
        rows.sort(key=lambda row: row.place)
        yield from _order(account, key, rows)
        total = 0
        for place, row in enumerate(rows, start=1):
            total += account.sent[row.record].weight
            if row.place != place or row.total != total:
                what = f"expected row {place} with total {total}, got row {row.place} with total {row.total}"
                yield Anomaly.WRONG_RESULT, Evidence(key, row.record, what)
                break  # later differences are consequences


def _order(account: Account, key: Key, rows: Sequence[Row]) -> Found:
    """Yield reordered records. Only the first row of a record counts, because later ones are duplicates."""
    last: dict[Hashable, tuple[int, RecordId]] = {}
    known: set[RecordId] = set()
    for row in rows:
        if row.record in known:
            continue
        known.add(row.record)
        sent = account.sent[row.record]
        position, before = last.get(sent.lane, (-1, None))
        if sent.position < position:
            what = f"processed after record {before}, which comes later in {sent.lane}"
            yield Anomaly.REORDERED_RECORDS, Evidence(key, row.record, what)
        else:
            last[sent.lane] = sent.position, row.record


def _seen(account: Account) -> Found:
    """Yield anomalies of the rows that were read while the job ran."""
    committed = set(account.committed)
    for row, checkpoint, complete in dict.fromkeys(account.seen):
        if not complete:
            what = f"read as output of checkpoint {checkpoint}, which was not complete"
            yield Anomaly.DIRTY_OUTPUT, Evidence(row.key, row.record, what)
        if row not in committed:
            what = f"read as output of checkpoint {checkpoint}, and missing at the end"
            yield Anomaly.OUTPUT_TAKEN_BACK, Evidence(row.key, row.record, what)


def _final_state(account: Account) -> Found:
    """Yield keys whose final state is not that of all records."""
    if account.state is None:
        return
    for key, have, expected in _unequal(account.state, totals(account.sent)):
        what = f"the state has {have}, expected {expected}"
        if have.records == expected.records:
            yield Anomaly.STATE_DIFFERS, Evidence(key, None, what)
        else:
            large = have.records > expected.records
            yield Anomaly.STATE_TOO_LARGE if large else Anomaly.STATE_TOO_SMALL, Evidence(key, None, what)


def _cuts(account: Account) -> Found:
    """Yield keys whose state in a checkpoint is not that of the records before its offsets (ONCE-01)."""
    for cut in account.cuts:
        for key, have, expected in _unequal(cut.state, totals(account.sent, cut.offsets)):
            what = f"checkpoint {cut.checkpoint} holds {have}; before its offsets the input has {expected}"
            behind = have.records < expected.records
            yield (
                Anomaly.STATE_BEHIND_OFFSETS if behind else Anomaly.STATE_AHEAD_OF_OFFSETS,
                Evidence(key, None, what),
            )


def _unequal(
    have: Mapping[Key, Totals], expected: Mapping[Key, Totals]
) -> Iterator[tuple[Key, Totals, Totals]]:
    for key in dict.fromkeys((*expected, *have)):
        there, right = have.get(key, Totals(0, 0)), expected.get(key, Totals(0, 0))
        if there != right:
            yield key, there, right
