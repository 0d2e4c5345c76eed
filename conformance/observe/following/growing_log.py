"""A file of an event log that is still written: yields its lines so far, and later the new lines."""

from collections import deque
from collections.abc import Iterator
from pathlib import Path

from conformance.observe.eventlog import LONGEST_LINE, PIECE, WHOLE, EventLogError, LogFile, Span
from conformance.observe.lines.line import Line


class GrowingLogFile(LogFile):
    """One file that grows. After its iterator has ended, `next` returns the lines written since."""

    def lines(self, *, shaped: bool = False, span: Span = WHOLE) -> Iterator[Line]:
        """Return an iterator over the complete lines. It raises EventLogError at the first malformed line."""
        del shaped, span  # each line is parsed, from the first one on
        return _Lines(self)

    def parsed(self, number: int, text: bytes) -> Line:
        """Parse one line. Raises EventLogError if it is malformed."""
        return self._parsed(number, text)

    def size(self) -> int:
        """The current size in bytes; 0 if the file does not exist yet."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0


class _Lines(Iterator[Line]):
    """Opens the path again for each read, because a restarted driver replaces its log by a copy of it."""

    def __init__(self, file: GrowingLogFile) -> None:
        self._file = file
        self._place = 0
        self._number = 0
        self._begun = b""
        self._whole: deque[bytes] = deque()

    def __next__(self) -> Line:
        if not self._whole and not self._read():
            raise StopIteration
        self._number += 1
        return self._file.parsed(self._number, self._whole.popleft())

    def _read(self) -> bool:
        """Read the file until a line is complete. Returns whether there is a complete line."""
        size = self._file.size()
        if size < self._place:
            why = "expected a file that grows, it was truncated or replaced; watch the run that writes it now"
            raise EventLogError(self._file.name, self._number, why)
        while self._place < size and not self._whole:
            piece = self._piece()
            self._place += len(piece)
            *whole, self._begun = (self._begun + piece).split(b"\n")
            self._whole.extend(whole)
            if len(self._begun) > LONGEST_LINE:
                why = f"expected lines of at most {LONGEST_LINE:,} bytes"
                raise EventLogError(self._file.name, self._number + 1, why)
        return bool(self._whole)

    def _piece(self) -> bytes:
        with Path(self._file.path).open("rb", buffering=0) as file:
            file.seek(self._place)
            return file.read(PIECE)
