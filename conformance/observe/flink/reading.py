"""One pass over a log: what its lines say, which of them cannot be read, and nothing else of it in memory."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance.observe.flink import grammar
from conformance.observe.flink.errors import TooLargeError
from conformance.observe.flink.grammar import Said
from conformance.observe.flink.lines import records
from conformance.observe.flink.unreadable import Unreadable, broken, unreadable

_REASON = re.compile(r"[\w.$]+(?:Exception|Error): *(.*)")
MOST_LINES = 2_000_000
"""Lines of the protocol at most, if nothing else is given."""
_UNREADABLE_KEPT = 1_000


class Log(NamedTuple):
    """What was read."""

    lines: int
    """How many lines the log has."""
    said: list[Said]
    texts: dict[int, str]
    """By number: the lines of `said`."""
    unreadable: list[Unreadable]
    """In their order; the first thousand."""


class _Numbered:
    """The lines of a log, one at a time; the one that was given last is remembered."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.number = 0
        self.text = ""

    def __iter__(self) -> Iterator[str]:
        for text in self._lines:
            self.number += 1
            self.text = text
            yield text


def read_log(lines: Iterable[str], most_lines: int = MOST_LINES) -> Log:
    """Read a log. Raises FlinkLogError if it is none, or has more than `most_lines` of the protocol."""
    numbered = _Numbered(lines)
    log = Log(0, [], {}, [])
    failed = 0

    def left_out(number: int, line: str) -> None:
        if number == failed + 1 and (reason := _REASON.match(line)) is not None:
            log.said[-1] = log.said[-1]._replace(detail=reason[1])  # a failure's reason stands behind it
        elif (found := broken(number, line)) is not None:
            _keep(log, found)

    for record in records(numbered, left_out):
        line = grammar.said(record)
        if line is None:
            found = unreadable(record)
            if found is not None:
                _keep(log, found)
            continue
        if len(log.said) == most_lines:
            raise TooLargeError(
                f"line {line.number}: expected at most {most_lines:,} lines of the protocol, which are kept "
                "in memory; give --max-lines with a greater number, about 1 kB of memory each"
            )
        log.said.append(line)
        log.texts[line.number] = numbered.text
        if line.kind == grammar.FAILED:
            failed = line.number
    return log._replace(lines=numbered.number)


def _keep(log: Log, found: Unreadable) -> None:
    if len(log.unreadable) < _UNREADABLE_KEPT:
        log.unreadable.append(found)
