"""Standard streams that do not change the exit code of a command.

If the reader of stdout closes the pipe (`barrierspec conform ... | head -1`), the streams drop all further
output. The command continues, and its exit code is its verdict. A stream that is closed at the start is
opened on the null device. Otherwise a file that the command opens could get the stream's number, and the
output.
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
    """Write the output so far, then replace stdout and stderr of the process by streams of this kind."""
    for number in _NUMBERS.values():
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # opens the lowest free number, which is `number`
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        setattr(sys, name, _opened(_NUMBERS[name], stream))


@contextmanager
def visible() -> Iterator[None]:
    """A context in which all output is escaped, except line ends and the codes of colours.

    Code that knows which part of a line comes from outside escapes this part itself, with its colours. This
    context escapes control characters that such code has missed.
    """
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_visible, kept)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = kept


def as_it_is(stream: TextIO) -> TextIO:
    """The stream without the escapes of `visible`, for output that moves the cursor of a terminal."""
    return stream.below if isinstance(stream, _Visible) else stream


def flush() -> OSError | None:
    """Write the buffered output. Returns the error if that fails; the output is dropped then."""
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
    """A text stream that escapes its texts. All other methods are those of the stream `below`."""

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
    """A file that becomes the null device when its reader closes the pipe."""

    def write(self, content: "ReadableBuffer", /) -> int:
        try:
            return super().write(content)
        except BrokenPipeError:
            _drop(self.fileno())
            return super().write(content)


def _opened(number: int, before: TextIO | None) -> TextIO:
    """A text stream on the descriptor `number`, with the encoding and buffering of the stream `before`."""
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
        errors="backslashreplace",  # characters that the terminal cannot show become escapes, not errors
        line_buffering=bool(getattr(before, "line_buffering", False)),
    )


def _drop(number: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)
