"""Reads the files of a log in an order in which each event comes after its cause.

The lines of one file are in the order of their events. Lines of two files are ordered only by causes: a
message is received after it was sent. Each file is read until its next event waits for a cause that no other
file has shown yet. If no file can be read any further, the causes for which events still wait are missing.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from conformance.observe.eventlog import LogFile, Span
from conformance.observe.lines.line import Line

Key = tuple[str | int, ...]
_FORGOTTEN = ("", -1, None)
_MESSAGES = frozenset({"trigger", "complete", "abort", "acknowledge", "decline"})
"""The first words of the keys of messages. Such a key is (word, attempt, task, checkpoint)."""


def checkpoint_of(key: Key) -> int:
    """The checkpoint in the key of a message: the last element."""
    return int(key[-1])


class Need(NamedTuple):
    """The cause for which an event waits: `key` must have happened `times` times."""

    key: Key
    times: int
    rules: tuple[str, ...]
    """The rules to charge if `key` happens less than `times` times in the whole log."""
    sentence: str
    """A format string that describes the missing cause. `why` inserts `values` only when a message needs the
    description: most needs are met."""
    values: tuple[object, ...] = ()

    @property
    def why(self) -> str:
        """The missing cause, in plain words."""
        return self.sentence.format(*self.values) if self.values else self.sentence


class FileReader(ABC):
    """Replays one file, event by event."""

    def __init__(self, file: LogFile, causes: "Causes", *, shaped: bool = False) -> None:
        """`shaped`: lines of a known shape (`lines.shape`) are not parsed again."""
        self.file = file
        self._causes = causes
        self.line: Line | None = None
        """The line that is being replayed, or that waits; None at the end of the file."""
        self._lines = file.lines(shaped=shaped)
        self.grows = False
        """Whether further lines may follow the end that was read. If not, the end is the end of the task."""

    @abstractmethod
    def replay(self, line: Line) -> Need | None:
        """Replay one line. Returns None, or the cause for which the line has to wait.

        Raises Rejected if no rule allows the line, EventLogError if it is malformed.
        """

    def advance(self) -> Need | None:
        """Replay to the end of the file. Returns None, or the cause for which the next line has to wait.

        Raises the errors of `replay`.
        """
        replay = self.replay
        if self.line is not None:
            need = replay(self.line)
            if need is not None:
                return need
        for line in self._lines:
            self.line = line
            need = replay(line)
            if need is not None:
                return need
        self.line = None
        self.bring_up_to_date()
        if not self.grows:
            self._causes.happened(("ended", self.file.attempt, self.file.task))
        return None

    def bring_up_to_date(self) -> None:  # noqa: B027 - most readers are always up to date
        """Compute the components' current states, if the reader delays that. Called at the file's end."""

    def read(self, span: Span, *, shaped: bool = False) -> None:
        """Set the lines to replay next to those in `span`."""
        self._lines = self.file.lines(shaped=shaped, span=span)

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


class Messages:
    """Counts the messages of one kind between the coordinator and a task in one attempt, by checkpoint."""

    __slots__ = ("_causes", "_key", "awaited", "received", "sent")

    def __init__(self, causes: "Causes", key: Key) -> None:
        self.sent: dict[int, int] = {}
        """By checkpoint: how often the message was sent."""
        self.received: dict[int, int] = {}
        self.awaited: set[int] = set()
        """The checkpoints about which a reader waits for the message."""
        self._causes = causes
        self._key = key

    def send(self, checkpoint: int) -> None:
        """Count a message that was sent, and wake the reader that waited for it."""
        times = self.sent[checkpoint] = self.sent.get(checkpoint, 0) + 1
        if checkpoint in self.awaited and not self._causes.wake((*self._key, checkpoint), times):
            self.awaited.discard(checkpoint)

    def receive(self, checkpoint: int) -> int:
        """Count one more received message, and return 0, if the message was sent often enough for that.

        Otherwise count nothing, and return how often the message must have been sent.
        """
        times = self.received.get(checkpoint, 0) + 1
        if self.sent.get(checkpoint, 0) < times:
            return times
        self.received[checkpoint] = times
        return 0

    def forget(self, checkpoint: int) -> None:
        """Drop all data about checkpoints below `checkpoint`."""
        for known in (self.sent, self.received):
            for one in [one for one in known if one < checkpoint]:
                del known[one]
        self.awaited = {one for one in self.awaited if one >= checkpoint}


class Causes:
    """The causes that have occurred so far, and the readers that wait for other causes."""

    def __init__(self) -> None:
        self.reading: FileReader | None = None
        """The reader that replays at the moment."""
        self._messages: dict[Key, Messages] = {}
        self._happened: dict[Key, list[Any]] = defaultdict(list)
        self._waiting: dict[Key, list[tuple[int, FileReader]]] = defaultdict(list)
        self._ready: deque[FileReader] = deque()
        self._forgotten: Counter[Key] = Counter()
        """By key: the number of its first values that `_FORGOTTEN` has replaced."""

    def messages(self, word: str, attempt: int, task: str) -> Messages:
        """The messages of the kind `word` between the coordinator and `task` in `attempt`."""
        key: Key = (word, attempt, task)
        found = self._messages.get(key)
        if found is None:
            found = self._messages[key] = Messages(self, key)
        return found

    def happened(self, key: Key, what: object = None) -> None:
        """Count `key` once more, keep `what` with it, and wake the readers that waited for it."""
        known = self._happened[key]
        known.append(what)
        if key in self._waiting:
            self.wake(key, len(known))

    def wake(self, key: Key, times: int) -> bool:
        """Wake the readers for which `times` occurrences of `key` suffice. Returns whether others wait."""
        still = []
        for waiting in self._waiting.pop(key, ()):
            if waiting[0] <= times:
                self._ready.append(waiting[1])
            else:
                still.append(waiting)
        if still:
            self._waiting[key] = still
        return bool(still)

    def count(self, key: Key) -> int:
        """The number of times that `key` has happened."""
        if key[0] in _MESSAGES:
            messages = self._messages.get(key[:-1])
            return 0 if messages is None else messages.sent.get(checkpoint_of(key), 0)
        return len(self._happened.get(key, ()))

    def kept(self, key: Key) -> list[Any]:
        """The values stored with `key`, one for each occurrence. Later occurrences are added to this list."""
        return self._happened[key]

    def forget(self, checkpoint: int, attempt: int) -> None:
        """Drop the events of checkpoints below `checkpoint`, and of attempts before `attempt`.

        The markers of newer attempts still count, but the values of old ones are replaced by `_FORGOTTEN`.
        """
        for key, messages in list(self._messages.items()):
            messages.forget(checkpoint)
            if int(key[1]) < attempt:
                del self._messages[key]
        for key, known in list(self._happened.items()):
            if key[0] == "marker":
                self._forget_markers(key, known, checkpoint)
            is_old = key[0] == "completed" and checkpoint_of(key) < checkpoint
            if is_old or (key[0] in {"marker", "deployed"} and int(key[1]) < attempt):
                del self._happened[key]
                self._forgotten.pop(key, None)

    def _forget_markers(self, key: Key, known: list[Any], checkpoint: int) -> None:
        place = self._forgotten[key]
        while place < len(known) and known[place][1] < checkpoint:
            known[place] = _FORGOTTEN
            place += 1
        self._forgotten[key] = place

    def in_flight(self, attempt: int) -> bool:
        """Whether a message of the attempt was sent and not received."""
        return any(one.sent != one.received for key, one in self._messages.items() if key[1] == attempt)

    def size(self) -> int:
        """The number of messages and other causes that are remembered."""
        messages = sum(sum(one.sent.values()) for one in self._messages.values())
        return messages + sum(map(len, self._happened.values())) - self._forgotten.total()

    def run(self, readers: Iterable[FileReader]) -> list[Waiting]:
        """Let all readers advance as far as they can. Returns those that still wait, with the missing causes.

        Raises the errors of `FileReader.advance`.
        """
        self._ready.extend(readers)
        stuck: dict[int, Waiting] = {}
        while self._ready:
            self.reading = reader = self._ready.popleft()
            stuck.pop(id(reader), None)
            need = reader.advance()
            if need is None:
                continue
            if self.count(need.key) >= need.times:  # the cause happened while this reader advanced
                self._ready.append(reader)
                continue
            stuck[id(reader)] = reader, need
            self._waiting[need.key].append((need.times, reader))
            if need.key[0] in _MESSAGES:
                word, attempt, task, checkpoint = need.key
                self.messages(str(word), int(attempt), str(task)).awaited.add(int(checkpoint))
        return list(stuck.values())
