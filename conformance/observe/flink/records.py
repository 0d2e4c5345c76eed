"""Reads a log as a stream of records (logger, thread, message), in any of four layouts.

The layouts are Flink's own (`date time LEVEL logger [] - message`, without thread), logback's (`date time
[thread] LEVEL logger - message`), one with the thread after the logger (`time LEVEL logger [thread]
message`), and JSON with one object a line, under the names of log4j's, logback's and Elastic's layouts. Date,
fraction and time zone are optional; only the last part of a logger's name counts.
"""

import gzip
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import orjson

from conformance.observe.flink.errors import NotAFlinkLogError, TooLargeError, TruncatedLogError

BEGINS = r"(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d[.,]?\d*(?:Z|[+-]\d\d(?::?\d\d)?)? +"
"""The beginning of a record, as a regular expression."""
LEVELS = r"(?:TRACE|DEBUG|INFO|WARN|ERROR)"
_LOGGER = r"(?P<logger>[\w.$]+) +"
_PATTERNS = (
    re.compile(rf"{BEGINS}{LEVELS} +{_LOGGER}\[(?P<thread>.+?)\] (?:- )?(?P<message>.*)"),
    re.compile(rf"{BEGINS}\[(?P<thread>.+?)\] {LEVELS} +{_LOGGER}(?:\[\] *)?- (?P<message>.*)"),
    re.compile(rf"{BEGINS}{LEVELS} +{_LOGGER}(?:\[\] *)?- (?P<thread>)(?P<message>.*)"),
)
_JSON_NAMES = (
    ("loggerName", "logger_name", "log.logger", "logger"),
    ("thread", "thread_name", "process.thread.name", "threadName"),
    ("message", "msg", "full_message", "short_message"),
)
"""The names that JSON layouts give to logger, thread and message."""
Layout = Callable[[str], tuple[str, ...] | None]
"""Returns logger, thread and message of a line; None if it is no record of this layout."""
_SEARCHED_LINES = 1000
"""If there is no record among this number of first lines, the file is no log."""
LONGEST_LINE = 4 << 20
"""Maximum length of a line, in bytes."""
EXPANDS = 200
"""Maximum ratio of unpacked to packed bytes; the archive of a log has 10 to 40."""
_ALWAYS_UNPACKED = 64 << 20
"""The ratio is only checked above this number of unpacked bytes."""


class Record(NamedTuple):
    """One line that begins a record."""

    number: int
    """The number of the line, from 1."""
    logger: str
    """The logger's name, which a layout may shorten."""
    thread: str
    """Empty if the layout does not show it."""
    message: str


def _layout_of(pattern: re.Pattern[str]) -> Layout:
    match = pattern.match
    groups = tuple(pattern.groupindex[name] for name in ("logger", "thread", "message"))

    def read(line: str) -> tuple[str, ...] | None:
        found = match(line)
        return None if found is None else found.group(*groups)

    return read


def json_record(line: str) -> dict[str, object] | None:
    """The object of a line in a JSON layout, with nested names joined by dots; None if it is no object."""
    if not line.startswith("{"):
        return None
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    flat: dict[str, object] = {}
    for name, value in found.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": one for inner, one in value.items()}
            flat |= (
                {"process.thread.name": value["thread"].get("name")}
                if name == "process" and isinstance(value.get("thread"), dict)
                else {}
            )
        else:
            flat[name] = value
    return flat


def _read_json(line: str) -> tuple[str, ...] | None:
    found = json_record(line)
    if found is None:
        return None
    logger, thread, message = (
        next((one for name in names if isinstance(one := found.get(name), str)), None)
        for names in _JSON_NAMES
    )
    return None if logger is None or message is None else (logger, thread or "", message)


LAYOUTS: tuple[Layout, ...] = (*map(_layout_of, _PATTERNS), _read_json)
"""The layouts of records, in the order in which they are tried."""


@contextmanager
def _opened(log: str) -> Iterator[tuple[BinaryIO, BinaryIO | None]]:
    """Open a file, a gzipped file, or stdin (`-`). Yields the unpacked stream, and the archive or None."""
    if log == "-":
        buffer = getattr(sys.stdin, "buffer", None)  # a test may have put text in the place of stdin
        yield buffer if buffer is not None else BytesIO(sys.stdin.read().encode()), None
        return
    with Path(log).open("rb") as raw:
        if raw.peek(2)[:2] != b"\x1f\x8b":
            yield raw, None
            return
        with gzip.open(raw) as unpacked:
            yield cast("BinaryIO", unpacked), raw


def lines_of(log: str) -> Iterator[str]:
    """Yield the lines of a file, a gzipped file or stdin (`-`), without their ends; one at a time in memory.

    Raises TruncatedLogError if the last line or the archive breaks off, TooLargeError for a line above
    LONGEST_LINE and for an archive that unpacks to more than EXPANDS times its size, and OSError.
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
            if archive is not None and unpacked > _ALWAYS_UNPACKED and unpacked > EXPANDS * archive.tell():
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
    """All lines without their ends, in memory. Raises the errors of `lines_of`."""
    return list(lines_of(log))


def records(lines: Iterable[str], on_other: Callable[[int, str], None] | None = None) -> Iterator[Record]:
    """Yield the records of a log. Calls `on_other` with the number and text of every other line.

    Raises NotAFlinkLogError if none of the first lines is a record.
    """
    numbered: Iterator[tuple[int, str]] = enumerate(lines, 1)
    layout: Layout | None = None
    number = 0
    for number, line in islice(numbered, _SEARCHED_LINES):
        layout = next((known for known in LAYOUTS if known(line)), None)
        if layout is not None:
            numbered = chain([(number, line)], numbered)
            break
        if on_other is not None:
            on_other(number, line)
    if layout is None:
        raise NotAFlinkLogError(
            f"expected lines such as '10:00:00,000 DEBUG ...CheckpointCoordinator [thread] Triggering "
            f"checkpoint 1 ...', none of the first {number:,} is one; give the log of a Flink job in "
            "Flink's own layout, in logback's, with the thread after the logger, or in JSON"
        )
    new = tuple.__new__
    for number, line in numbered:
        found = layout(line)
        if found is not None:
            yield new(Record, (number, *found))
        elif on_other is not None:
            on_other(number, line)
