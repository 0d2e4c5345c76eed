"""Of the events that wait in the end, the one to name.

Most of them wait only because another file waits. The one to name is one whose cause comes nowhere in
what is left to read; if every cause comes somewhere, files wait for each other in a circle, and one of
them tells its events in an order that cannot have been.
"""

from collections.abc import Iterator, Sequence

from conformance.observe.causes import Causes, Key, Need
from conformance.observe.coordinator import CoordinatorReader
from conformance.observe.eventlog import COORDINATOR, Line
from conformance.observe.task import TaskReader

FileReader = CoordinatorReader | TaskReader
Stuck = tuple[FileReader, Need]

_OF_SUBTASK = {
    "broadcast_barrier": "marker",
    "broadcast_cancel": "marker",
    "acknowledge": "acknowledge",
    "decline": "decline",
}
_OF_COORDINATOR = {"trigger_task": "trigger", "notify_complete": "complete", "notify_abort": "abort"}


def root(stuck: Sequence[Stuck], causes: Causes) -> tuple[FileReader, Need, str]:
    """The reader whose event is to be named, what it needs, and why nothing gives it."""
    to_come: dict[Key, int] = {}
    for reader, _ in stuck:
        for line in reader.remaining():
            for key in keys_of(line, reader.file.task):
                to_come[key] = to_come.get(key, 0) + 1
        ended: Key = ("ended", reader.file.attempt, reader.file.task)
        to_come[ended] = 1
    without = [
        (reader, need)
        for reader, need in stuck
        if causes.count(need.key) + to_come.get(need.key, 0) < need.times
    ]
    if without:
        reader, need = min(without, key=_order)
        return reader, need, need.why
    circle = _circle(stuck)
    reader, need = min(
        circle, key=lambda waiting: (isinstance(waiting[0], CoordinatorReader), _order(waiting))
    )
    others = ", ".join(f"{other.file.name}:{number(other)}" for other, _ in circle if other is not reader)
    return reader, need, f"{need.why} so far: that comes after {others}, which waits for this file in turn"


def _circle(stuck: Sequence[Stuck]) -> list[Stuck]:
    """Those that wait for each other: follow who waits for whom until somebody comes again."""
    by_file = {(reader.file.attempt, reader.file.task): (reader, need) for reader, need in stuck}
    walked: list[Stuck] = []
    waiting = min(stuck, key=_order)
    while waiting not in walked:
        walked.append(waiting)
        waiting = by_file[_shown_in(waiting[1].key)]
    return walked[walked.index(waiting) :]


def _shown_in(key: Key) -> tuple[int, str]:
    """The attempt and task of the file that would show the cause; the coordinator's counts as 0."""
    word, *rest = key
    if word in {*_OF_SUBTASK.values(), "deployed", "ended"}:
        return int(rest[0]), str(rest[1])
    return 0, COORDINATOR


def keys_of(line: Line, task: str) -> Iterator[Key]:
    """What a line causes elsewhere."""
    attempt = line.attempt
    if line.component is None:
        if line.kind == "attempt_started":
            yield "attempt", attempt
        elif line.kind == "deployed":
            yield "deployed", attempt, task
        return
    for effect in line.effects:
        kind, checkpoint = effect["kind"], effect.get("checkpoint", -1)
        if line.component == "subtask" and kind in _OF_SUBTASK:
            word = _OF_SUBTASK[kind]
            yield (word, attempt, task) if word == "marker" else (word, attempt, task, checkpoint)
        elif line.component == "coordinator" and kind in _OF_COORDINATOR:
            yield _OF_COORDINATOR[kind], attempt, effect["task"], checkpoint
        elif line.component == "coordinator" and kind == "complete":
            yield "completed", checkpoint


def _order(waiting: Stuck) -> tuple[int, int, str]:
    """By attempt; within one the coordinator's event first, then by file."""
    reader, _ = waiting
    attempt = reader.line.attempt if reader.line is not None else 0
    return attempt, isinstance(reader, TaskReader), reader.file.name


def number(reader: FileReader) -> int:
    """The line that it stands at, from 1; 0 at its end."""
    return reader.line.number if reader.line is not None else 0
