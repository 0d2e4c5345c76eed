"""Lines that are of the protocol and cannot be read: cut lines, garbled ids, words that no release has.

A record of a logger of the protocol is read, or it is one of the other messages that the releases 1.13 to
2.3 log there, or it is unreadable. `Task`, `StreamTask` and `ExecutionGraph` log much else, with names of
users in it: there a record is unreadable if it has the words of a wording and does not fit it. A line that is
no record is unreadable if it begins like one of these, or names one of these loggers.
"""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from conformance.observe.flink.lines import BEGINS, LEVELS, Record

SHOWN = 160
"""Letters of an unreadable line that a message shows."""


class Unreadable(NamedTuple):
    """A line of the protocol that cannot be read."""

    number: int
    """Of the line, from 1."""
    why: str
    text: str
    """The line, or its beginning."""

    def describe(self) -> str:
        """Line, reason and text in one line."""
        return f"line {self.number} cannot be read: {self.why}, came {self.text!r}"


_OTHERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "CheckpointCoordinator": (
            "An error occurred while", "Can not start", "Checkpoint coordinator is shut",
            r"Checkpoint \d+ size:", "Checkpoint state:", "CheckpointCoordinator is shut",
            "Could not complete the", "Could not finalize", "Could not properly", "Could not send",
            "Error encountered", "Exception while", "Execution rejected",
            "Failed to create", "Failed to start", "No completed checkpoint", "No master state",
            "Received another decline", "Received decline message for unknown", "Received wrong", "Resetting",
            "Skip scheduling", "Starting job", "Status of", "Stopping", r"Triggering Checkpoint -?\d+ for",
            "allowing", "Created checkpoint storage", "Restoring master", "Master state",
        ),
        "CheckpointFailureManager": ("The latest checkpoint failed", "Exceeded checkpoint"),
        "CheckpointsCleaner": (
            "Clean checkpoint", "CheckpointsCleaner has", "Could not properly", "Fail to discard",
        ),
        "SingleCheckpointBarrierHandler": (
            r".*: Aborting checkpoint -?\d+ after exception", r".*: Obsolete announcement of",
            "Alignment time is",
        ),
        "SubtaskCheckpointCoordinatorImpl": (
            "Async runnable for", "Could not properly", "Ignoring notification of", "Time from receiving",
            "Cannot register", "SubtaskCheckpointCoordinator was closed",
        ),
        "AsyncCheckpointRunnable": (
            "Caught followup", "Cleanup AsyncCheckpointRunnable", "Could not", "Failure in asynchronous",
            "Found cached state", "Ignore decline of", ".* - asynchronous checkpointing operation for",
            ".* - report failed checkpoint stats", ".* - reported the following states",
        ),
    }
)  # fmt: skip
"""By logger of the protocol alone: how its messages begin that say nothing that is replayed."""

_EXECUTION = r"\([0-9a-f_]*\)?"
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "Task": (
            rf".*#\S+ \(\S*\) (?:swi\w*\b|\S+ from [A-Z]+ to\b)"
            rf"|.*\(\d+/\d+\)#\d+ {_EXECUTION}(?: s\w*)?$"
        ),
        "StreamTask": (
            r"Start\w* checkp|\w+ checkpoint \S+ complete on task|Starting \S+ \(?-?\d+\)? .* on task"
            r"|Notify checkp(?!oint (?:complete|abort)\b)|(?:Start|Noti|Starting c\w*|Notify c\w*)$"
        ),
        "ExecutionGraph": (
            rf".*\) (?:swi\w*\b|\S+ from(?: state)? [A-Z]+ to\b)|.*\(\d+/\d+\) {_EXECUTION}(?: s\w*)?$"
            r"|Deploy\w* .*\(attempt\b|Deploying .*\(\d+/\d+\)(?! \()|Deploying .* with attempt id"
            r"|Deploying?$"
        ),
    }
)
"""By logger that says much else: the words by which a message is recognised as one of the protocol."""
_LOGGERS = (*_OTHERS, *_WORDS)
_NEARLY = 0.85
"""How like a logger of the protocol the name of another one is, before it counts as garbled."""
_CUT = re.compile(
    r"(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d?(?::(?:\d\d?(?:[.,]\d*)?)?)?"
    rf"|{BEGINS}(?:\[[^\]]*|(?:\[.*?\] )?[A-Z]{{0,5}} *(?:o\w{{0,2}}(?:\.[\w.$]*)?)?)"
)
"""What is left of a line that breaks off, from the minutes of its time on."""
_LOGGER = rf"(?:\.(?:{'|'.join(_WORDS)})|\b(?:{'|'.join(_OTHERS)}))(?: +[\[-]|$)"
_LOGS = re.compile(rf"{BEGINS}(?:\[.*?\] )?{LEVELS} +(\S+)")
_NOT_OF_A_NAME = re.compile(r"[^\w.$]")
_NAMED = re.compile(rf"(?:{BEGINS}|.*\b{LEVELS}\b).*{_LOGGER}")


def _never(message: str) -> bool:
    return False


def _is_unread(name: str) -> Callable[[str], bool] | None:
    """What recognises a message of the logger `name` that was not read; None: no logger of the protocol."""
    if name in _OTHERS:
        others = re.compile("|".join(_OTHERS[name]))
        return lambda message: others.match(message) is None
    if name in _WORDS:
        words = re.compile(_WORDS[name])
        return lambda message: words.match(message) is not None
    return None


@cache
def _judge(logger: str) -> tuple[str, Callable[[str], bool]]:
    """Why a message of a logger is unreadable, and when."""
    name = logger.rpartition(".")[2]
    of_logger = _is_unread(name)
    if of_logger is not None:
        return f"expected a message that {name} of Flink 1.13 to 2.3 logs", of_logger
    near = _garbled(name)
    return (f"expected the logger {near}, came {name}", lambda message: True) if near else ("", _never)


def _garbled(name: str) -> str:
    """The logger of the protocol that the last word of a logger's name was, or nothing."""
    merged = next((one for one in _LOGGERS if name.endswith(one) and name[0].islower()), "")
    if merged or name in _OTHER_LOGGERS or len(name) <= len("Task") + 1:
        return merged
    return "".join(get_close_matches(name, _LOGGERS, 1, _NEARLY))


_OTHER_LOGGERS = frozenset({"CheckpointBarrierTracker", "CheckpointBarrierHandler"})
"""Loggers of Flink with names like those of the protocol."""


def unreadable(record: Record) -> Unreadable | None:
    """Whether a record that says nothing known is one of the protocol."""
    why, is_unread = _judge(record.logger)
    if not is_unread(record.message):
        return None
    return Unreadable(record.number, why, f"{record.logger.rpartition('.')[2]}: {record.message}"[:SHOWN])


def broken(number: int, line: str) -> Unreadable | None:
    """Whether a line that is no record was one of the protocol."""
    if _CUT.fullmatch(line) is not None:
        return Unreadable(
            number, "expected a whole record, the line breaks off before its message", line[:SHOWN]
        )
    if _NAMED.match(line) is not None:
        why = "expected a record in the layout of the lines before it, and a logger of the protocol is named"
        return Unreadable(number, why, line[:SHOWN])
    logs = _LOGS.match(line)
    near = logs and _garbled(_NOT_OF_A_NAME.sub("", logs[1]).rpartition(".")[2])
    if near:
        return Unreadable(number, f"expected the logger {near}, came another text", line[:SHOWN])
    return None
