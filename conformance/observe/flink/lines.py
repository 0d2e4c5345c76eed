"""A log as a stream of records: time, level, logger, thread, message, whatever the layout.

Three layouts are read: Flink's own (`date time LEVEL logger [] - message`, no thread), logback's
(`date time [thread] LEVEL logger - message`) and the one with the thread after the logger
(`time LEVEL logger [thread] message`). Date and fraction are optional; only a logger's last word counts.
"""

import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TextIO

from conformance.observe.flink.errors import NotAFlinkLogError, TruncatedLogError

STDIN = "-"

_TIME = r"(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d[.,]?\d*Z? +"
_LEVEL = r"(?:TRACE|DEBUG|INFO|WARN|ERROR) +"
_LOGGER = r"(?P<logger>[\w.$]+) +"
_LAYOUTS = (
    re.compile(rf"{_TIME}{_LEVEL}{_LOGGER}\[(?P<thread>.+?)\] (?:- )?(?P<message>.*)"),
    re.compile(rf"{_TIME}\[(?P<thread>.+?)\] {_LEVEL}{_LOGGER}(?:\[\] *)?- (?P<message>.*)"),
    re.compile(rf"{_TIME}{_LEVEL}{_LOGGER}(?:\[\] *)?- (?P<thread>)(?P<message>.*)"),
)
_SURELY_IN = 1000
"""If none of so many lines is a record, the file is no log."""


class Record(NamedTuple):
    """One line that begins a record."""

    number: int
    """From 1."""
    logger: str
    """Its full name, or what the layout leaves of it."""
    thread: str
    """Empty where the layout does not tell."""
    message: str


@contextmanager
def opened(log: str) -> Iterator[TextIO]:
    """The text of a file, of a gzipped file, or of stdin (`-`)."""
    if log == STDIN:
        yield sys.stdin
        return
    path = Path(log)
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    if packed:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as text:
            yield text
    else:
        with path.open(encoding="utf-8", errors="replace") as text:
            yield text


def read_lines(log: str) -> list[str]:
    """All lines without their ends. Raises TruncatedLogError if the last one has none, and OSError."""
    with opened(log) as text:
        try:
            read = text.readlines()
        except (EOFError, zlib.error) as cut:
            raise TruncatedLogError(
                f"{log}: expected a whole gzip file, it breaks off ({cut}); fetch it again, or unpack what "
                "is there with zcat, drop the last line and pass it on stdin"
            ) from cut
    if read and not read[-1].endswith("\n"):
        raise TruncatedLogError(
            f"{log}:{len(read)}: expected the last line to end, it breaks off after "
            f"{read[-1][-40:]!r}; fetch the log again, or drop that line (head -n -1)"
        )
    return [line.rstrip("\r\n") for line in read]


def records(lines: Iterable[str]) -> Iterator[Record]:
    """The records of a log. What follows one (stack traces) is skipped.

    Raises NotAFlinkLogError if the file begins with nothing of the kind.
    """
    layout: re.Pattern[str] | None = None
    number = 0
    numbered: Iterator[tuple[int, str]] = enumerate(lines, 1)
    for number, line in numbered:
        layout = next((known for known in _LAYOUTS if known.match(line)), None)
        if layout is not None:
            numbered = chain([(number, line)], numbered)
            break
        if number >= _SURELY_IN:
            break
    if layout is None:
        raise NotAFlinkLogError(
            f"expected lines such as '10:00:00,000 DEBUG ...CheckpointCoordinator [thread] Triggering "
            f"checkpoint 1 ...', none of the first {number:,} is one; give the log of a Flink job in Flink's "
            "own layout, in logback's, or with the thread after the logger"
        )
    match, new = layout.match, tuple.__new__
    wanted = tuple(layout.groupindex[name] for name in Record._fields[1:])
    for number, line in numbered:
        found = match(line)
        if found is not None:
            yield new(Record, (number, *found.group(*wanted)))
