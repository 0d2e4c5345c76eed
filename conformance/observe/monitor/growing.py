"""Reads each complete line of a growing file once. The file may be rotated, truncated, or not yet exist.

A file is read in pieces, so that a pass over a large backlog holds one piece in memory. The beginning of a
line is kept until its end arrives. A file that was renamed is read to its end before the new file is opened.
"""

import glob
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

PIECE = 1 << 20
"""Maximum number of bytes that one pass reads of a file."""
LONGEST_LINE = 4 << 20
"""Maximum length of a line, in bytes. The bytes after it are dropped, and the line is reported."""
_PACKED = frozenset({".gz", ".zip", ".bz2", ".xz", ".zst"})
_HEAD = 256
"""Number of bytes at the beginning of a file that are compared, to detect that it was written anew."""


class Text(NamedTuple):
    """One line of a file, without its end."""

    file: str
    number: int
    """The number of the line, from 1; a rotated file begins at 1 again."""
    text: str
    whole: bool = True
    """False for a line above LONGEST_LINE, and for a last line without an end."""


class GrowingFile:
    """Reads the file at a path. After a rotation it reads the new file at the path."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.rotations = 0
        self._file: BinaryIO | None = None
        self._identity = (0, 0)
        self._position = 0
        self._head = b""
        self._rest = b""
        self._number = 0
        self._too_long = False

    def lines(self) -> Iterator[Text]:
        """Yield the complete lines that were written since the last call, from one piece at most."""
        if self._file is None and not self._open():
            return
        assert self._file is not None
        if self._was_rewritten():
            yield from self._begin_anew()
        piece = self._file.read(PIECE)
        if piece:
            self._position += len(piece)
            if len(self._head) < _HEAD:
                self._head += piece[: _HEAD - len(self._head)]
            yield from self._split(piece)
        elif self._was_renamed():
            yield from self.end()
            before = os.fstat(self._file.fileno())
            self._file.close()
            self._file = None
            self.rotations += 1
            yield from self._rotated_since(before)
            yield from self.lines()

    def _rotated_since(self, before: os.stat_result) -> Iterator[Text]:
        """Yield the lines of the files that followed `before` at this path and were also renamed."""
        path = Path(self.path)
        found = []
        for sibling in path.parent.glob(f"{glob.escape(path.name)}?*"):
            status = sibling.stat()
            own = (status.st_dev, status.st_ino) in {self._identity, _identity_of(path)}
            if not own and status.st_mtime_ns > before.st_mtime_ns and sibling.suffix not in _PACKED:
                found.append((status.st_mtime_ns, str(sibling)))
        for _, name in sorted(found):
            rotated = GrowingFile(name)
            if rotated._open():
                self.rotations += 1
                while lines := list(rotated.lines()):
                    yield from lines
                yield from rotated.end()
                rotated.close()

    def end(self) -> Iterator[Text]:
        """Yield the last line of the file if it has no end."""
        if self._rest:
            self._number += 1
            yield Text(self.path, self._number, _decoded(self._rest), whole=False)
        self._rest = b""

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _open(self) -> bool:
        try:
            self._file = Path(self.path).open("rb")  # noqa: SIM115 - it stays open between passes
        except FileNotFoundError:
            return False
        status = os.fstat(self._file.fileno())
        self._identity = status.st_dev, status.st_ino
        self._position, self._number, self._head, self._rest = 0, 0, b"", b""
        self._too_long = False
        return True

    def _was_renamed(self) -> bool:
        """Whether the path names another file now. While it names no file, the old file may still grow."""
        try:
            status = Path(self.path).stat()
        except FileNotFoundError:
            return False
        return (status.st_dev, status.st_ino) != self._identity

    def _was_rewritten(self) -> bool:
        """Whether the file was truncated, and perhaps written anew."""
        assert self._file is not None
        if os.fstat(self._file.fileno()).st_size < self._position:
            return True
        return bool(self._head) and os.pread(self._file.fileno(), len(self._head), 0) != self._head

    def _begin_anew(self) -> Iterator[Text]:
        assert self._file is not None
        yield from self.end()
        self.rotations += 1
        self._file.seek(0)
        self._position, self._number, self._head, self._too_long = 0, 0, b"", False

    def _split(self, piece: bytes) -> Iterator[Text]:
        *whole, self._rest = (self._rest + piece).split(b"\n")
        for line in whole:
            self._number += 1
            too_long, self._too_long = self._too_long or len(line) > LONGEST_LINE, False
            yield Text(self.path, self._number, _decoded(line[:LONGEST_LINE]), whole=not too_long)
        if len(self._rest) > LONGEST_LINE:
            self._too_long, self._rest = True, self._rest[:_HEAD]


def _identity_of(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0, 0
    return status.st_dev, status.st_ino


def _decoded(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r")
