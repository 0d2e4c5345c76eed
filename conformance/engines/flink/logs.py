"""The logs of a cluster's processes as one log, and what the validator of Flink's logs says of it."""

import heapq
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.observe.flink import FlinkLogError, Settings, UnjudgedError, lines_of, validate_flink

_BEGINS = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ")
_STAMP = 23
_SHOWN = 200


def merged(logs: Sequence[Path]) -> Iterator[str]:
    """The records of all logs in the order of their times; those of one log stay in their order."""
    for _, record in heapq.merge(*map(_records, logs), key=lambda one: one[0]):
        yield record


def verdict(logs: Sequence[Path], into: Path) -> str:
    """Write the merged log into a file, and validate it. Returns the verdict, and what the validator says."""
    into.write_text("".join(merged(logs)), encoding="utf-8")
    try:
        result = validate_flink(lines_of(str(into)), Settings(1, 1, 2_000_000))
    except UnjudgedError as unjudged:
        return f"UNDETERMINED  {unjudged}"[:_SHOWN]
    except (FlinkLogError, ValueError) as unreadable:
        return f"UNDETERMINED  {unreadable}"[:_SHOWN]
    return f"{result.verdict.value}  {result.describe()}"[:_SHOWN]


def _records(log: Path) -> Iterator[tuple[str, str]]:
    """The records of one log with their times; a line that begins none belongs to the record before."""
    stamp = ""
    lines: list[str] = []
    for line in log.read_text("utf-8", "replace").splitlines(keepends=True):
        if _BEGINS.match(line):
            if lines and stamp:
                yield stamp, "".join(lines)
            stamp, lines = line[:_STAMP], []
        lines.append(line)
    if lines and stamp and lines[-1].endswith("\n"):  # a killed process leaves a torn line
        yield stamp, "".join(lines)
