"""Finds places where a log can be cut: after a completed checkpoint of which every task was notified.

The coordinator's file is cut after the line in which the checkpoint becomes complete. A task's file is cut
after the line in which the task is notified, and after the lines in which its sink or offsets commit for it.
"""

import mmap
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import orjson

from conformance.observe.eventlog import EventLog, LogFile, Span

MOST_TRIED = 64
"""Maximum number of completed checkpoints that are tried for one cut. If none fits, there is no cut."""
_SEARCHED = 0.8
"""The search for a checkpoint begins at this share of its expected offset in the file."""
_COMPLETE = re.compile(rb'\{"kind": ?"complete", ?"checkpoint": ?(\d+)\}')
_NOTIFIED = re.compile(rb'"component": ?"(?:sink|offsets)"')
_ATTEMPT = re.compile(rb'\{"attempt": ?(\d+),')
_RESTORE = re.compile(rb'"event": ?\{"kind": ?"restore"\}')
_STARTED = re.compile(rb'"kind": ?"attempt_started"')


class Completion(NamedTuple):
    """One completed checkpoint, with its places in the files of its attempt."""

    checkpoint: int
    places: dict[str, Span]
    """By name of the file: the lines after the checkpoint."""


class Cut(NamedTuple):
    """A place at which the log may be cut."""

    attempt: int
    started: Span
    """The part of the coordinator's file from the line in which the attempt starts."""
    restores: int
    """The number of restores of this coordinator until the attempt started."""
    completed: tuple[int, ...]
    """The checkpoints that completed before `last`, ascending, as many as the coordinator retains."""
    before: Completion
    """The last of `completed`."""
    last: Completion
    """The checkpoint after which the log is cut."""


class _Content:
    """The bytes of a file."""

    def __init__(self, file: LogFile) -> None:
        self.name = file.name
        self._path = Path(file.path)
        with self._path.open("rb") as opened:
            self.bytes = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)

    def close(self) -> None:
        """Close the file."""
        self.bytes.close()

    def after_line(self, place: int) -> int:
        """The offset of the line that follows the one with the offset `place`."""
        end = self.bytes.find(b"\n", place)
        return len(self.bytes) if end < 0 else end + 1

    def span(self, place: int) -> Span:
        """The part of the file from the offset `place` on, at which a line begins."""
        lines, step = 0, 1 << 24
        for begin in range(0, place, step):
            lines += self.bytes[begin : min(begin + step, place)].count(b"\n")
        return Span(place, None, lines)


def cuts_near(log: EventLog, share: float, retain: int) -> Iterator[Cut]:
    """Yield places at which the log may be cut. The search begins at this share of the coordinator's file."""
    if any(not file.path.stat().st_size for file in (log.coordinator, *log.tasks)):
        return
    with closing(_Content(log.coordinator)) as coordinator:
        yield from _cuts(log, coordinator, share, retain)


def _cuts(log: EventLog, coordinator: _Content, share: float, retain: int) -> Iterator[Cut]:
    found = [(int(one[1]), one.start()) for one, _ in zip(
        _COMPLETE.finditer(coordinator.bytes, int(len(coordinator.bytes) * share)),
        range(MOST_TRIED + retain + 1), strict=False,
    )]  # fmt: skip
    for place in range(retain, len(found)):
        before, last = found[place - 1], found[place]
        attempt = _attempt_at(coordinator, last[1])
        started = _started_before(coordinator, last[1])
        files = [file for file in log.tasks if file.attempt == attempt]
        if started is None or attempt != _attempt_at(coordinator, started) or not files:
            continue
        ends = _completions((before, last), coordinator, files, share)
        if ends is not None:
            completed = tuple(checkpoint for checkpoint, _ in found[place - retain : place])
            restores = _restores(coordinator, started)
            yield Cut(attempt, coordinator.span(started), restores, completed, *ends)


def _attempt_at(coordinator: _Content, place: int) -> int:
    begin = coordinator.bytes.rfind(b"\n", 0, place) + 1
    named = _ATTEMPT.match(coordinator.bytes, begin)
    return -1 if named is None else int(named[1])


def _started_before(coordinator: _Content, place: int) -> int | None:
    """The offset of the last line before `place` in which an attempt starts; None if there is none."""
    found = coordinator.bytes.rfind(b'"attempt_started"', 0, place)
    if found < 0:
        return None
    begin = coordinator.bytes.rfind(b"\n", 0, found) + 1
    return begin if _STARTED.search(coordinator.bytes, begin, found + 20) else None


def _restores(coordinator: _Content, started: int) -> int:
    """The number of restores of the coordinator until it starts the attempt at the offset `started`."""
    first = coordinator.bytes.rfind(b'"coordinator_started"', 0, started)
    return sum(1 for _ in _RESTORE.finditer(coordinator.bytes, max(0, first), started))


def _completions(
    both: Sequence[tuple[int, int]], coordinator: _Content, tasks: Iterable[LogFile], share: float
) -> list[Completion] | None:
    """The places after each checkpoint; None if a task was not notified of one.

    `both`: two ids, each with its offset in the coordinator's file. One file of a task is open at a time.
    """
    places = [{coordinator.name: coordinator.span(coordinator.after_line(at))} for _, at in both]
    for file in tasks:
        with closing(_Content(file)) as task:
            for (checkpoint, _), of_one in zip(both, places, strict=True):
                after = _after_notification(checkpoint, task, share)
                if after is None:
                    return None
                of_one[file.name] = after
    return [Completion(checkpoint, of_one) for (checkpoint, _), of_one in zip(both, places, strict=True)]


def _after_notification(checkpoint: int, task: _Content, share: float) -> Span | None:
    """The part of the file after the notification and the lines that carry it out.

    None if the file has no notification of the checkpoint.
    """
    received = re.compile(rb'"complete_notification", ?"checkpoint": ?%d[,}]' % checkpoint)
    found = received.search(task.bytes, int(len(task.bytes) * share * _SEARCHED))
    found = found or received.search(task.bytes)
    if found is None:
        return None
    after = task.after_line(found.end())
    while after < len(task.bytes) and _carries_out(task.bytes[after : task.after_line(after)], checkpoint):
        after = task.after_line(after)
    return task.span(after)


def _carries_out(line: bytes, checkpoint: int) -> bool:
    """Whether a sink or the offsets carry out the notification in this line."""
    if _NOTIFIED.search(line) is None:
        return False
    try:
        event = orjson.loads(line)["event"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return False
    return isinstance(event, dict) and event.get("checkpoint") == checkpoint
