"""A log as a stream of records: time, level, logger, thread, message, whatever the layout.

Three layouts are read: Flink's own (`date time LEVEL logger [] - message`, no thread), logback's
(`date time [thread] LEVEL logger - message`) and the one with the thread after the logger
(`time LEVEL logger [thread] message`). Date and fraction are optional; only a logger's last word counts.
"""

import gzip
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from conformance.observe.flink.errors import NotAFlinkLogError, TooLargeError, TruncatedLogError

STDIN = "-"

_TIME = r"(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d[.,]?\d*Z? +"
BEGINS = _TIME
"""How a record begins, as a regular expression."""
LEVELS = r"(?:TRACE|DEBUG|INFO|WARN|ERROR)"
_LEVEL = rf"{LEVELS} +"
_LOGGER = r"(?P<logger>[\w.$]+) +"
_LAYOUTS = (
    re.compile(rf"{_TIME}{_LEVEL}{_LOGGER}\[(?P<thread>.+?)\] (?:- )?(?P<message>.*)"),
    re.compile(rf"{_TIME}\[(?P<thread>.+?)\] {_LEVEL}{_LOGGER}(?:\[\] *)?- (?P<message>.*)"),
    re.compile(rf"{_TIME}{_LEVEL}{_LOGGER}(?:\[\] *)?- (?P<thread>)(?P<message>.*)"),
)
_SURELY_IN = 1000
"""If none of so many lines is a record, the file is no log."""
LONGEST_LINE = 4 << 20
"""Bytes of a line at most."""
EXPANDS = 200
"""How many bytes one byte of an archive may stand for; the archive of a log has 10 to 40."""
_UNPACKED_AT_ONCE = 64 << 20
"""So many bytes may be unpacked of any archive, however small it is."""


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
def _opened(log: str) -> Iterator[tuple[BinaryIO, BinaryIO | None]]:
    """The bytes of a file, of a gzipped file, or of stdin (`-`); and the archive's own, if it is one."""
    if log == STDIN:
        yield _stdin(), None
        return
    with Path(log).open("rb") as raw:
        if raw.peek(2)[:2] != b"\x1f\x8b":
            yield raw, None
            return
        with gzip.open(raw) as unpacked:
            yield cast("BinaryIO", unpacked), raw


def _stdin() -> BinaryIO:
    """The bytes of stdin, also where a test has put text in its place."""
    bytes_of = getattr(sys.stdin, "buffer", None)
    return bytes_of if bytes_of is not None else BytesIO(sys.stdin.read().encode())


def lines_of(log: str) -> Iterator[str]:
    """The lines without their ends, one at a time: no more than one is in memory.

    Raises TruncatedLogError if the last one has no end, TooLargeError for a line above LONGEST_LINE and for
    an archive that unpacks to more than EXPANDS times its size, and OSError.
    """
    number = unpacked = 0
    with _opened(log) as (text, archive):
        while True:
            try:
                line = text.readline(LONGEST_LINE + 1)
            except (EOFError, zlib.error, gzip.BadGzipFile) as cut:
                raise TruncatedLogError(
                    f"{log}: expected a whole gzip file, it breaks off ({cut}); fetch it again, or unpack "
                    "what is there with zcat, drop the last line and pass it on stdin"
                ) from cut
            if not line:
                return
            number += 1
            unpacked += len(line)
            if len(line) > LONGEST_LINE:
                raise TooLargeError(
                    f"{log}:{number}: expected lines of at most {LONGEST_LINE:,} bytes, this one is longer; "
                    "drop it, or give the log of a Flink job"
                )
            if archive is not None and unpacked > max(_UNPACKED_AT_ONCE, EXPANDS * archive.tell()):
                raise TooLargeError(
                    f"{log}:{number}: expected an archive that unpacks to at most {EXPANDS} times its size, "
                    f"{archive.tell():,} bytes gave {unpacked:,}; if that is your log, unpack it with zcat "
                    "and pass it on stdin"
                )
            if not line.endswith(b"\n"):
                last = line[-40:].decode(errors="replace")
                raise TruncatedLogError(
                    f"{log}:{number}: expected the last line to end, it breaks off after {last!r}; fetch the "
                    "log again, or drop that line (head -n -1)"
                )
            yield line.decode(errors="replace").rstrip("\r\n")


def read_lines(log: str) -> list[str]:
    """All lines without their ends, in memory; raises what `lines_of` does."""
    return list(lines_of(log))


def records(lines: Iterable[str], left_out: Callable[[int, str], None] | None = None) -> Iterator[Record]:
    """The records of a log. What follows one (stack traces) is skipped, and given to `left_out`.

    Raises NotAFlinkLogError if the file begins with nothing of the kind.
    """
    layout: re.Pattern[str] | None = None
    number = 0
    numbered: Iterator[tuple[int, str]] = enumerate(lines, 1)
    for number, line in numbered:
        layout = next((known for known in _LAYOUTS if known.match(line)), None)
        if layout is None and left_out is not None:
            left_out(number, line)
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
        elif left_out is not None:
            left_out(number, line)
