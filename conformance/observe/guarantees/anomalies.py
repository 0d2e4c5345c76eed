"""What can be wrong with a run's output and state: each anomaly by its name, and what it rules out.

A guarantee is a promise about every run, so one run can only refute it. What an anomaly refutes is a matter
of logic, said here once: a record that is missing refutes "at least once", one that counts twice "at most
once", and "exactly once" is both. State and output are promises of their own: a job may keep its state
exactly once while what it shows is there twice.
"""

from collections.abc import Hashable
from enum import Enum
from typing import NamedTuple


class Guarantee(Enum):
    """What is promised of every record, strongest first."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    AT_MOST_ONCE = "at-most-once"
    BROKEN = "broken"
    """Nothing: records are lost and doubled, or made up."""


class Subject(Enum):
    """What the promise is about."""

    STATE = "state"
    OUTPUT = "output"


_ONCE, _LEAST, _MOST = Guarantee.EXACTLY_ONCE, Guarantee.AT_LEAST_ONCE, Guarantee.AT_MOST_ONCE
_ALL = (_ONCE, _LEAST, _MOST)


class Anomaly(Enum):
    """One kind of wrong: its name, in whom it is found, what it refutes, and a sentence for a reader."""

    def __init__(self, title: str, subject: Subject, refutes: tuple[Guarantee, ...], sentence: str) -> None:
        self.title = title
        self.subject = subject
        self.refutes = refutes
        self.sentence = sentence

    LOST_RECORD = (
        "lost record",
        Subject.OUTPUT,
        (_ONCE, _LEAST),
        "a record was sent and nothing that it led to was ever committed",
    )
    DUPLICATED_RECORD = (
        "duplicated record",
        Subject.OUTPUT,
        (_ONCE, _MOST),
        "what one record led to was committed more than once",
    )
    PHANTOM_RECORD = (
        "phantom record",
        Subject.OUTPUT,
        _ALL,
        "a row was committed that no record of the source leads to",
    )
    MISPLACED_RECORD = (
        "record under another key",
        Subject.OUTPUT,
        _ALL,
        "what a record led to was committed under a key that is not its own",
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
        "the results that a key has shown are not those of processing each of its records once",
    )
    DIRTY_OUTPUT = (
        "uncommitted output visible",
        Subject.OUTPUT,
        (_ONCE,),
        "a row could be read before the checkpoint that it belongs to was complete",
    )
    OUTPUT_TAKEN_BACK = (
        "committed output taken back",
        Subject.OUTPUT,
        (_ONCE,),
        "a row that could be read as committed was not there any more afterwards",
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
        "a checkpoint's state holds records that its source offsets say are still to be read: whoever "
        "restores it counts them again",
    )
    STATE_BEHIND_OFFSETS = (
        "state and offsets of different cuts: state behind",
        Subject.STATE,
        (_ONCE, _LEAST),
        "a checkpoint's source offsets are past records that its state does not hold: whoever restores it "
        "never counts them",
    )

    def explain(self) -> str:
        """The sentence and what the anomaly rules out."""
        ruled_out = ", ".join(one.value for one in self.refutes)
        return f"{self.sentence}; this rules out {ruled_out} {self.subject.value}"


class Evidence(NamedTuple):
    """Where an anomaly shows: the key, the record if it is one record's, and the values in words."""

    key: Hashable
    record: Hashable
    what: str

    def describe(self) -> str:
        """In one line."""
        record = "" if self.record is None else f", record {self.record}"
        return f"key {self.key}{record}: {self.what}"


class Finding(NamedTuple):
    """An anomaly that was found: how often, and the first of them."""

    anomaly: Anomaly
    times: int
    first: tuple[Evidence, ...]

    def describe(self) -> str:
        """Name, count and the first place in one line."""
        return f"{self.times} {self.anomaly.title}, the first: {self.first[0].describe()}"
