"""The anomalies of a run's output and state, and the guarantees that each refutes.

A guarantee is about every run, so one run can only refute it. A lost record refutes "at least once", a
duplicated record refutes "at most once", and both refute "exactly once". State and output have separate
guarantees: each record may count exactly once in the state and be written twice. `anomalies.toml` describes
each anomaly.
"""

import tomllib
from collections.abc import Hashable, Mapping
from enum import Enum
from importlib.resources import files
from typing import Any, NamedTuple


class Guarantee(Enum):
    """A guarantee about every record. The strongest one comes first."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    AT_MOST_ONCE = "at-most-once"
    BROKEN = "broken"
    """No guarantee holds: records are lost and duplicated, or the output has records that were never sent."""


class Subject(Enum):
    """The subject of a guarantee."""

    STATE = "state"
    OUTPUT = "output"


_FILE: Mapping[str, Any] = tomllib.loads(
    files("conformance.observe.guarantees").joinpath("anomalies.toml").read_text(encoding="utf-8")
)


class Anomaly(Enum):
    """The anomalies. Each has a title, a subject, the guarantees that it refutes, and its meaning."""

    LOST_RECORD = "LOST_RECORD"
    DUPLICATED_RECORD = "DUPLICATED_RECORD"
    PHANTOM_RECORD = "PHANTOM_RECORD"
    MISPLACED_RECORD = "MISPLACED_RECORD"
    REORDERED_RECORDS = "REORDERED_RECORDS"
    WRONG_RESULT = "WRONG_RESULT"
    DIRTY_OUTPUT = "DIRTY_OUTPUT"
    OUTPUT_TAKEN_BACK = "OUTPUT_TAKEN_BACK"
    STATE_TOO_LARGE = "STATE_TOO_LARGE"
    STATE_TOO_SMALL = "STATE_TOO_SMALL"
    STATE_DIFFERS = "STATE_DIFFERS"
    STATE_AHEAD_OF_OFFSETS = "STATE_AHEAD_OF_OFFSETS"
    STATE_BEHIND_OFFSETS = "STATE_BEHIND_OFFSETS"

    def __init__(self, name: str) -> None:
        listed = _FILE[name]
        self.title: str = listed["title"]
        self.subject = Subject(listed["subject"])
        self.refutes = tuple(map(Guarantee, listed["refutes"]))
        self.sentence: str = listed["sentence"]

    def explain(self) -> str:
        """The meaning, and the refuted guarantees."""
        ruled_out = ", ".join(one.value for one in self.refutes)
        return f"{self.sentence}; this rules out {ruled_out} {self.subject.value}"


class Evidence(NamedTuple):
    """One occurrence of an anomaly: its key, its record (None: it is in a state), and its description."""

    key: Hashable
    record: Hashable
    what: str

    def describe(self) -> str:
        """Key, record and values in one line."""
        record = "" if self.record is None else f", record {self.record}"
        return f"key {self.key}{record}: {self.what}"


class Finding(NamedTuple):
    """An anomaly that was found, with the number of its occurrences and the first of them."""

    anomaly: Anomaly
    times: int
    first: tuple[Evidence, ...]

    def describe(self) -> str:
        """The number, the name and the first occurrence in one line."""
        return f"{self.times} {self.anomaly.title}, the first: {self.first[0].describe()}"
