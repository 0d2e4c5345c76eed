"""Standard streams that never decide how a command ends.

A reader that goes away (`barrierspec conform ... | head -1`) takes no part in the verdict: what is printed
from then on is dropped, the command goes on, and its exit code is its own. A stream that was closed from the
beginning is opened on the null device, so that no file of ours gets its number and, with it, what is printed.
"""

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

from conformance import escape

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NUMBERS = {"stdin": 0, "stdout": 1, "stderr": 2}


def install() -> None:
    """Put them in the place of the process's own; what was printed before stands before."""
    for number in _NUMBERS.values():
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        setattr(sys, name, _opened(_NUMBERS[name], stream))


@contextmanager
def visible() -> Iterator[None]:
    """Within it, what is printed has no control characters but the ends of lines and the codes of colours.

    It is the last protection: code that knows which part of a line comes from outside escapes that part,
    so that it has no colours either.
    """
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_visible, kept)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = kept


def as_it_is(stream: TextIO) -> TextIO:
    """The stream below a `visible` one, for what moves the cursor of a terminal."""
    return stream.below if isinstance(stream, _Visible) else stream


def flush() -> OSError | None:
    """Hand on what is still kept; the error if it could not be, and then it is dropped."""
    failed = None
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            failed = error
            _drop(stream.fileno())
            stream.flush()
    return failed


def _visible(stream: TextIO | None) -> TextIO:
    return cast(TextIO, None if stream is None else _Visible(stream))


class _Visible:
    """A text stream whose texts are escaped; all else, its bytes among it, is that of the one below."""

    def __init__(self, below: TextIO) -> None:
        self.below = below

    def write(self, text: str) -> int:
        self.below.write(escape.printed(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream below has
        return getattr(self.below, name)


class _Unread(io.FileIO):
    """A file whose reader may go away: from then on it is the null device."""

    def write(self, content: "ReadableBuffer", /) -> int:
        try:
            return super().write(content)
        except BrokenPipeError:
            _drop(self.fileno())
            return super().write(content)


def _opened(number: int, before: TextIO | None) -> TextIO:
    """A text stream on that number, with the properties of the stream `before`, if there was one."""
    if before is not None:
        try:
            before.flush()
        except OSError:
            _drop(number)
            before.flush()
    raw = _Unread(number, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(before, "encoding", None) or "utf-8",
        errors="backslashreplace",  # what the terminal cannot show is spelled; it is no fault of ours
        line_buffering=bool(getattr(before, "line_buffering", False)),
    )


def _drop(number: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)
