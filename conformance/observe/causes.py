"""What caused what between the files of a log, and in what order they can be read because of it.

Within a file the order of lines is trusted; between files only causes order them: a message is received
after it was sent. Each file is read until its next event waits for a cause that no other file has shown
yet. What waits when nothing moves any more has no cause at all.
"""

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

Key = tuple[str | int, ...]


class Need(NamedTuple):
    """An event waits until `key` has happened so many `times`."""

    key: Key
    times: int
    rules: tuple[str, ...]
    """Charged if it never does."""
    why: str
    """What is missing, in plain words."""


class Reader(Protocol):
    """Whoever replays one file."""

    def advance(self) -> Need | None:
        """Replay until the end (None) or until an event has to wait."""
        ...


class Causes:
    """What has happened so far, and who waits for what."""

    def __init__(self) -> None:
        self._happened: dict[Key, list[Any]] = {}
        self._waiting: dict[Key, list[tuple[int, Reader]]] = defaultdict(list)
        self._ready: deque[Reader] = deque()

    def happened(self, key: Key, what: object = None) -> None:
        """It happened once more; `what` is kept with it. Who waited for it may go on."""
        known = self._happened.setdefault(key, [])
        known.append(what)
        waiting = self._waiting.get(key)
        if waiting:
            self._ready.extend(reader for count, reader in waiting if count <= len(known))
            self._waiting[key] = [(count, reader) for count, reader in waiting if count > len(known)]

    def count(self, key: Key) -> int:
        """How often it has happened."""
        return len(self._happened.get(key, ()))

    def what(self, key: Key, position: int) -> Any:  # noqa: ANN401 - whatever was kept
        """What was kept when it happened for the `position`-th time, from 0."""
        return self._happened[key][position]

    def run(self, readers: Iterable[Reader]) -> list[tuple[Reader, Need]]:
        """Let all advance as far as they can; answers who waits in the end, and for what."""
        self._ready.extend(readers)
        stuck: dict[int, tuple[Reader, Need]] = {}
        while self._ready:
            reader = self._ready.popleft()
            stuck.pop(id(reader), None)
            need = reader.advance()
            if need is None:
                continue
            if self.count(need.key) >= need.times:  # it happened within this very reading
                self._ready.append(reader)
                continue
            stuck[id(reader)] = reader, need
            self._waiting[need.key].append((need.times, reader))
        return list(stuck.values())
