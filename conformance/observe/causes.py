"""Causes between the files of a log, and the order in which the files can be read because of them.

Within a file the order of lines is trusted. Between files only causes order them: a message is received
after it was sent. Each file is read until its next event waits for a cause that no other file has shown yet.
An event that waits when no file can be read any further has no cause at all.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from conformance.observe.eventlog import Line, LogFile

Key = tuple[str | int, ...]
_FORGOTTEN = ("", -1, None)
_MESSAGES = frozenset({"trigger", "complete", "abort", "acknowledge", "decline"})
"""The first words of keys of an attempt, a task and a checkpoint."""


def checkpoint_of(key: Key) -> int:
    """The checkpoint at the end of a key."""
    return int(key[-1])


class Need(NamedTuple):
    """An event waits until `key` has happened `times` times."""

    key: Key
    times: int
    rules: tuple[str, ...]
    """Charged if it never does."""
    why: str
    """The missing cause, in plain words."""


class FileReader(ABC):
    """Replays one file, event by event."""

    def __init__(self, file: LogFile, causes: "Causes") -> None:
        self.file = file
        self._causes = causes
        self.line: Line | None = None
        """The line that is being replayed, or that waits; None at the end of the file."""
        self._lines = file.lines()
        self.grows = False
        """The file is still written: its end is not the end of the task."""

    @abstractmethod
    def replay(self, line: Line) -> Need | None:
        """Replay one line, unless it has to wait. Raises Rejected and EventLogError."""

    def advance(self) -> Need | None:
        """Replay until the end (None), or until an event has to wait. Raises Rejected and EventLogError."""
        while True:
            if self.line is None:
                self.line = next(self._lines, None)
                if self.line is None:
                    if not self.grows:
                        self._causes.happened(("ended", self.file.attempt, self.file.task))
                    return None
            need = self.replay(self.line)
            if need is not None:
                return need
            self.line = None

    def remaining(self) -> Iterator[Line]:
        """The lines that were not replayed, the waiting one first. The file cannot be replayed afterwards."""
        if self.line is not None:
            yield self.line
        yield from self._lines

    @property
    def number(self) -> int:
        """The number of the current line, from 1; 0 at the end."""
        return 0 if self.line is None else self.line.number


Waiting = tuple[FileReader, Need]


class Causes:
    """The causes that have occurred so far, and the readers that wait."""

    def __init__(self) -> None:
        self.reading: FileReader | None = None
        """The reader that replays at the moment."""
        self._happened: dict[Key, list[Any]] = {}
        self._waiting: dict[Key, list[tuple[int, FileReader]]] = defaultdict(list)
        self._ready: deque[FileReader] = deque()
        self._forgotten: Counter[Key] = Counter()
        """By key: the number of its first values that are forgotten."""

    def happened(self, key: Key, what: object = None) -> None:
        """Count `key` once more, keep `what` with it, and wake the readers that waited for it."""
        known = self._happened.setdefault(key, [])
        known.append(what)
        waiting = self._waiting.get(key)
        if waiting:
            self._ready.extend(reader for times, reader in waiting if times <= len(known))
            self._waiting[key] = [(times, reader) for times, reader in waiting if times > len(known)]

    def count(self, key: Key) -> int:
        """How often `key` has happened."""
        return len(self._happened.get(key, ()))

    def what(self, key: Key, position: int) -> Any:  # noqa: ANN401 - any value
        """The value that was kept when `key` happened for the `position`-th time, from 0."""
        return self._happened[key][position]

    def forget(self, checkpoint: int, attempt: int) -> None:
        """Drop what has happened to checkpoints below `checkpoint`, and in attempts before `attempt`.

        The places of markers stay as they are, without what was kept with them.
        """
        for key, known in list(self._happened.items()):
            if key[0] == "marker":
                self._forget_markers(key, known, checkpoint)
            is_old = key[0] in {*_MESSAGES, "completed"} and checkpoint_of(key) < checkpoint
            if is_old or (key[0] in {*_MESSAGES, "marker", "deployed"} and int(key[1]) < attempt):
                del self._happened[key]
                self._forgotten.pop(key, None)
        for key in [key for key, readers in self._waiting.items() if not readers]:
            del self._waiting[key]

    def _forget_markers(self, key: Key, known: list[Any], checkpoint: int) -> None:
        place = self._forgotten[key]
        while place < len(known) and known[place][1] < checkpoint:
            known[place] = _FORGOTTEN
            place += 1
        self._forgotten[key] = place

    def size(self) -> int:
        """The number of things that are remembered."""
        return sum(map(len, self._happened.values())) - self._forgotten.total()

    def run(self, readers: Iterable[FileReader]) -> list[Waiting]:
        """Let all readers advance as far as they can. Returns those that wait in the end."""
        self._ready.extend(readers)
        stuck: dict[int, Waiting] = {}
        while self._ready:
            self.reading = reader = self._ready.popleft()
            stuck.pop(id(reader), None)
            need = reader.advance()
            if need is None:
                continue
            if self.count(need.key) >= need.times:  # it happened while this reader advanced
                self._ready.append(reader)
                continue
            stuck[id(reader)] = reader, need
            self._waiting[need.key].append((need.times, reader))
        return list(stuck.values())
