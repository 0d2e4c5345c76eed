"""Reads a log in one pass, and keeps its lines about the protocol, the readable and the unreadable ones."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance.observe.flink import grammar
from conformance.observe.flink.errors import TooLargeError
from conformance.observe.flink.grammar import LogLine
from conformance.observe.flink.records import records
from conformance.observe.flink.unreadable import Unreadable, broken, unreadable

REASON = re.compile(r"[\w.$]+(?:Exception|Error): *(.*)")
"""Matches the line after a failed checkpoint: the exception, and the reason."""
_UNFINALIZED = re.compile(
    r"[\w.$]+CheckpointException: Could not finalize the pending checkpoint (\d{1,18})\. Failure reason: (.*)"
)
"""In 1.13 only such a line shows that a checkpoint with every acknowledgement has failed."""
MOST_LINES = 2_000_000
"""Default of the maximum number of lines about the protocol."""
_UNREADABLE_KEPT = 1_000


class ReadLog(NamedTuple):
    """A log in memory."""

    total: int
    """The number of all lines."""
    lines: list[LogLine]
    """The lines about the protocol, in their order."""
    texts: dict[int, str]
    """By number of the line: the text of each line about the protocol."""
    unreadable: list[Unreadable]
    """The first thousand lines that cannot be read, in their order."""


def unfinalized(number: int, text: str) -> LogLine | None:
    """The failure that the first line of a stack trace shows; None if it shows none."""
    found = _UNFINALIZED.match(text)
    return None if found is None else LogLine(number, grammar.FAILED, "", "", "", int(found[1]), found[2])


def read_log(lines: Iterable[str], most_lines: int = MOST_LINES) -> ReadLog:
    """Read a log. Raises FlinkLogError if it is no log, or has more than `most_lines` about the protocol."""
    count, last, failed = 0, "", -1
    log = ReadLog(0, [], {}, [])

    def counted() -> Iterator[str]:
        nonlocal count, last
        for last in lines:
            count += 1
            yield last

    def other(number: int, text: str) -> None:
        reason = REASON.match(text) if number == failed + 1 else None
        if reason is not None:  # the line after a failure gives the reason
            log.lines[-1] = log.lines[-1]._replace(detail=reason[1])
            return
        failure = unfinalized(number, text)
        if failure is not None:
            log.lines.append(failure)
            log.texts[number] = text
        keep(broken(number, text))

    def keep(found: Unreadable | None) -> None:
        if found is not None and len(log.unreadable) < _UNREADABLE_KEPT:
            log.unreadable.append(found)

    for record in records(counted(), other):
        line = grammar.parse(record)
        if line is None:
            keep(unreadable(record))
            continue
        if len(log.lines) == most_lines:
            raise TooLargeError(
                f"line {line.number}: expected at most {most_lines:,} lines of the protocol, which are kept "
                "in memory; give --max-lines with a greater number (each line takes about 1 kB)"
            )
        log.lines.append(line)
        log.texts[line.number] = last
        if line.kind == grammar.FAILED:
            failed = line.number
    return log._replace(total=count)
