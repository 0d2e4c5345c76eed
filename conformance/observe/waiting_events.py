"""Chooses the event to report among those that still wait when all files are read.

Most of these events wait only because another file waits. The event to report has a cause that does not occur
in any unread line. If each cause occurs in some unread line, the files wait for each other in a circle. Then
one file has its events in an impossible order, and an event of the circle is reported.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.observe.causes import Causes, FileReader, Key, Need, Waiting
from conformance.observe.eventlog import COORDINATOR
from conformance.observe.lines.line import Line

_OF_SUBTASK = {
    "broadcast_barrier": "marker",
    "broadcast_cancel": "marker",
    "acknowledge": "acknowledge",
    "decline": "decline",
}
_OF_COORDINATOR = {"trigger_task": "trigger", "notify_complete": "complete", "notify_abort": "abort"}


def root(stuck: Sequence[Waiting], causes: Causes) -> tuple[FileReader, Need, str]:
    """Return the reader whose event is reported, the missing cause, and the reason in plain words.

    The readers cannot be replayed afterwards.
    """
    to_come: Counter[Key] = Counter()
    for reader, _ in stuck:
        for line in reader.remaining():
            to_come.update(keys_of(line, reader.file.task))
        to_come["ended", reader.file.attempt, reader.file.task] = 1
    without = [
        (reader, need) for reader, need in stuck if causes.count(need.key) + to_come[need.key] < need.times
    ]
    if without:
        reader, need = min(without, key=_order)
        return reader, need, need.why
    circle = _circle(stuck)
    reader, need = min(circle, key=lambda waiting: (waiting[0].file.task == COORDINATOR, _order(waiting)))
    others = ", ".join(f"{other.file.name}:{other.number}" for other, _ in circle if other is not reader)
    return reader, need, f"{need.why} so far: that comes after {others}, which waits for this file in turn"


def _circle(stuck: Sequence[Waiting]) -> list[Waiting]:
    """The readers that wait for each other, each with its missing cause."""
    by_file = {(reader.file.attempt, reader.file.task): (reader, need) for reader, need in stuck}
    walked: list[Waiting] = []
    waiting = min(stuck, key=_order)
    while waiting not in walked:
        walked.append(waiting)
        waiting = by_file[_file_of(waiting[1].key)]
    return walked[walked.index(waiting) :]


def _file_of(key: Key) -> tuple[int, str]:
    """The attempt and task of the file in which the cause would occur; the coordinator's has attempt 0."""
    word, *rest = key
    if word in {*_OF_SUBTASK.values(), "deployed", "ended"}:
        return int(rest[0]), str(rest[1])
    return 0, COORDINATOR


def keys_of(line: Line, task: str) -> Iterator[Key]:
    """Yield the causes in a line of `task` for which events of other files may wait."""
    attempt = line.attempt
    if line.kind == "attempt_started":
        yield "attempt", attempt
    elif line.kind == "deployed":
        yield "deployed", attempt, task
    for effect in line.effects:
        kind, checkpoint = effect["kind"], effect.get("checkpoint", -1)
        if line.component == "subtask" and kind in _OF_SUBTASK:
            word = _OF_SUBTASK[kind]
            yield (word, attempt, task) if word == "marker" else (word, attempt, task, checkpoint)
        elif line.component == "coordinator" and kind in _OF_COORDINATOR:
            yield _OF_COORDINATOR[kind], attempt, effect["task"], checkpoint
        elif line.component == "coordinator" and kind == "complete":
            yield "completed", checkpoint


def _order(waiting: Waiting) -> tuple[int, bool, str]:
    """A sort key: by attempt; within an attempt the coordinator's event first, then by file name."""
    reader, _ = waiting
    attempt = reader.line.attempt if reader.line is not None else 0
    return attempt, reader.file.task != COORDINATOR, reader.file.name
