"""The width of printed text: that of the terminal, but at least 80 columns, and with an upper limit."""

import shlex
import shutil
import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from conformance import escape

SIDE = 4
"""The numbers of lines of stderr that are shown: from its beginning, and from its end."""
NARROW, WIDE = 80, 100
"""The minimum and maximum width of prose. Divergences use the minimum; the screen of `verify` is wider."""


def columns() -> int:
    """The width of the terminal, or the variable COLUMNS; WIDE if there is neither."""
    return max(NARROW, min(WIDE, shutil.get_terminal_size((WIDE, 24)).columns))


def wrapped(line: str, indent: int) -> str:
    """The line, wrapped to `columns()`; its further lines are indented by `indent` columns."""
    filled = textwrap.fill(
        line, columns(), subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False
    )
    return escape.block(filled)


def head_and_tail(stderr: str) -> list[str]:
    """The first and the last lines of stderr. Often one end has the message, and the other the traceback."""
    lines = stderr.strip().splitlines()
    return lines if len(lines) <= 2 * SIDE + 1 else [*lines[:SIDE], "...", *lines[-SIDE:]]


def deeper(text: str, by: int = 2) -> str:
    """The text with wrapped lines. Continuations are indented by `by` columns more than their first line."""
    return "\n".join(wrapped(line, len(line) - len(line.lstrip()) + by) for line in text.splitlines())


def table_text(table: Table, indent: int = 2) -> str:
    """A table as plain text, each column as wide as its widest cell, without spaces at the ends of lines."""
    console = Console(width=10_000, color_system=None, force_terminal=False, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(" " * indent + line.rstrip() for line in captured.get().splitlines())


def command(begin: str, line: str) -> str:
    """A command line after `begin`. A long one is continued with backslashes, so that it can be pasted."""
    lines = [begin]
    for words in _together(shlex.split(line)):
        if not lines[-1].endswith(" ") and len(lines[-1]) + len(words) + 3 > columns():
            lines[-1] += " \\"
            lines.append(" " * (len(begin) + 2))
        lines[-1] += words if lines[-1].endswith(" ") else f" {words}"
    return "\n".join(lines)


def _together(words: Sequence[str]) -> Iterator[str]:
    """The words that must stay on one line: an option with its value."""
    left = list(words)
    while left:
        option = left.pop(0)
        has_value = option.startswith("--") and left and not left[0].startswith("--")
        yield escape.shell([option, left.pop(0)] if has_value else [option])
