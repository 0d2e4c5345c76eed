"""The anomalies of a run's output and state, and the guarantees that each refutes.

A guarantee holds for every run, so one run can only refute it. A missing record refutes "at least once", a
doubled one "at most once", and "exactly once" is both. State and output have separate guarantees: a job may
keep its state exactly once and write its output twice.
"""

from collections.abc import Hashable
from enum import Enum
from typing import NamedTuple


class Guarantee(Enum):
    """A guarantee about every record, strongest first."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    AT_MOST_ONCE = "at-most-once"
    BROKEN = "broken"
    """No guarantee: records are lost and doubled, or invented."""


class Subject(Enum):
    """The subject of a guarantee."""

    STATE = "state"
    OUTPUT = "output"


_ONCE, _LEAST, _MOST = Guarantee.EXACTLY_ONCE, Guarantee.AT_LEAST_ONCE, Guarantee.AT_MOST_ONCE
_ALL = (_ONCE, _LEAST, _MOST)


class Anomaly(Enum):
    """One anomaly: its name, its subject, the guarantees that it refutes, and its meaning."""

    def __init__(self, title: str, subject: Subject, refutes: tuple[Guarantee, ...], sentence: str) -> None:
        self.title = title
        self.subject = subject
        self.refutes = refutes
        self.sentence = sentence

    LOST_RECORD = (
        "lost record",
        Subject.OUTPUT,
        (_ONCE, _LEAST),
        "a record was sent and none of its results was ever committed",
    )
    DUPLICATED_RECORD = (
        "duplicated record",
        Subject.OUTPUT,
        (_ONCE, _MOST),
        "the result of one record was committed more than once",
    )
    PHANTOM_RECORD = (
        "phantom record",
        Subject.OUTPUT,
        _ALL,
        "a row was committed that is the result of no record",
    )
    MISPLACED_RECORD = (
        "record under another key",
        Subject.OUTPUT,
        _ALL,
        "the result of a record was committed under another key",
    )
    REORDERED_RECORDS = (
        "records reordered within a key",
        Subject.OUTPUT,
        (_ONCE,),
        "two records of one key that came from one partition were processed in the other order",
    )
    WRONG_RESULT = (
        "wrong result",
        Subject.OUTPUT,
        (_ONCE,),
        "the results of a key are not those of processing each of its records once",
    )
    DIRTY_OUTPUT = (
        "uncommitted output visible",
        Subject.OUTPUT,
        (_ONCE,),
        "a row was readable before its checkpoint was complete",
    )
    OUTPUT_TAKEN_BACK = (
        "committed output taken back",
        Subject.OUTPUT,
        (_ONCE,),
        "a row that was readable as committed is missing afterwards",
    )
    STATE_TOO_LARGE = (
        "state counts a record twice",
        Subject.STATE,
        (_ONCE, _MOST),
        "the state of a key holds more than its records give",
    )
    STATE_TOO_SMALL = (
        "state misses a record",
        Subject.STATE,
        (_ONCE, _LEAST),
        "the state of a key holds less than its records give",
    )
    STATE_DIFFERS = (
        "state differs",
        Subject.STATE,
        _ALL,
        "the state of a key has as many records as it should, but not those",
    )
    STATE_AHEAD_OF_OFFSETS = (
        "state and offsets of different cuts: state ahead",
        Subject.STATE,
        (_ONCE, _MOST),
        "a checkpoint's state has records that its source offsets are still before: a restore counts "
        "them again",
    )
    STATE_BEHIND_OFFSETS = (
        "state and offsets of different cuts: state behind",
        Subject.STATE,
        (_ONCE, _LEAST),
        "a checkpoint's source offsets are after records that its state lacks: a restore never counts them",
    )

    def explain(self) -> str:
        """The meaning, and the refuted guarantees."""
        ruled_out = ", ".join(one.value for one in self.refutes)
        return f"{self.sentence}; this rules out {ruled_out} {self.subject.value}"


class Evidence(NamedTuple):
    """One occurrence of an anomaly: the key, the record if it is of one record, and the values."""

    key: Hashable
    record: Hashable
    what: str

    def describe(self) -> str:
        """In one line."""
        record = "" if self.record is None else f", record {self.record}"
        return f"key {self.key}{record}: {self.what}"


class Finding(NamedTuple):
    """An anomaly that was found: its number, and the first occurrences."""

    anomaly: Anomaly
    times: int
    first: tuple[Evidence, ...]

    def describe(self) -> str:
        """Name, number and the first occurrence in one line."""
        return f"{self.times} {self.anomaly.title}, the first: {self.first[0].describe()}"
