"""Reads the time of a record, in any layout and time zone.

A time without a date belongs to the day of the time before it, or to the next day if it is more than 12 hours
earlier. A time without a zone is taken as UTC, so only differences between times of one file have a meaning.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache

from conformance.observe.flink.records import json_record

_DAY = 86_400.0
_STAMP = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d)[ T])?(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d(?::?\d\d)?)?"
)
_JSON_TIMES = ("@timestamp", "timestamp", "time", "timeMillis", "instant.epochSecond")


class Clock:
    """Reads the times of the records of one file, in seconds."""

    def __init__(self) -> None:
        self._days = 0.0
        self._last: float | None = None

    def read(self, line: str) -> float | None:
        """The time of a record in seconds, since the epoch if it has a date; None if it has no time."""
        if line.startswith("{"):
            return self._of_json(json_record(line) or {})
        found = _STAMP.match(line)
        return None if found is None else self._of(found)

    def _of_json(self, fields: Mapping[str, object]) -> float | None:
        for name in _JSON_TIMES:
            value = fields.get(name)
            if isinstance(value, str):
                found = _STAMP.match(value)
                if found is not None:
                    return self._of(found)
            elif isinstance(value, int | float):
                nanos = fields.get("instant.nanoOfSecond")
                if name == "instant.epochSecond" and isinstance(nanos, int):
                    return value + nanos / 1e9
                return value / 1000 if value > 1e11 else float(value)
        return None

    def _of(self, found: re.Match[str]) -> float | None:
        year, month, day, hour, minute, second, fraction, zone = found.groups()
        part = float(f"0.{fraction}") if fraction else 0.0
        if year is None:
            return self._without_date(int(hour) * 3600 + int(minute) * 60 + int(second) + part)
        begin, seconds = _minute(year, month, day, hour, minute), int(second)
        if begin is None or seconds > 59:
            return None
        return begin + seconds + part - (_offset(zone) if zone else 0.0)

    def _without_date(self, seconds: float) -> float:
        if self._last is not None and seconds < self._last - _DAY / 2:
            self._days += _DAY
        self._last = seconds
        return self._days + seconds


@lru_cache(maxsize=128)
def _minute(*date: str) -> float | None:
    """The beginning of a minute, in seconds since the epoch; None if the calendar does not have it.

    The result is cached: many lines have the same minute, and the conversion takes a tenth of a line's time.
    """
    try:
        return datetime(*map(int, date), tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]
    except ValueError:
        return None


def _offset(zone: str) -> float:
    """Seconds east of Greenwich."""
    if zone == "Z":
        return 0.0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return float(-seconds if zone[0] == "-" else seconds)
