"""Edits of an accepted log: lines are removed, doubled, moved or changed. Corruptions consist of edits."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from conformance.observe.flink.grammar import LogLine
from conformance.observe.flink.survey import Survey, survey
from conformance.observe.flink.validate import parse


class AcceptedLog(NamedTuple):
    """A log that the validation accepts: all its lines as text, the parsed ones, and its survey."""

    texts: Sequence[str]
    lines: Sequence[LogLine]
    survey: Survey

    def of(self, kind: str, detail: str = "") -> Iterator[LogLine]:
        """The lines of a kind; if `detail` is given, only those with this detail."""
        for line in self.lines:
            if line.kind == kind and (not detail or line.detail == detail):
                yield line

    def text(self, line: LogLine) -> str:
        """The line as it is in the log."""
        return self.texts[line.number - 1]


def accepted_log(texts: Sequence[str]) -> AcceptedLog:
    """Read an accepted log. Raises FlinkLogError and UnjudgedError."""
    lines = parse(texts)
    return AcceptedLog(texts, lines, survey(lines))


class Edit(NamedTuple):
    """One change of a log: deletes the lines `removed`, inserts the texts `inserted` before line `before`."""

    what: str
    before: int
    inserted: tuple[str, ...] = ()
    removed: tuple[int, ...] = ()

    def apply(self, texts: Sequence[str]) -> list[str]:
        """Return the lines of the changed log."""
        changed: list[str] = []
        for number, text in enumerate((*texts, ""), 1):
            changed += self.inserted if number == self.before else ()
            changed += [text] if number not in self.removed and number <= len(texts) else ()
        return changed


Edits = Callable[[AcceptedLog, Random], Iterator[Edit]]


def drop(line: LogLine) -> Edit:
    """Remove the line."""
    return Edit(f"line {line.number} dropped", 0, removed=(line.number,))


def double(log: AcceptedLog, line: LogLine) -> Edit:
    """Repeat the line after itself."""
    return Edit(f"line {line.number} doubled", line.number + 1, (log.text(line),))


def move(log: AcceptedLog, before: int, *lines: LogLine) -> Edit:
    """Move the lines before the line with number `before`."""
    numbers = tuple(line.number for line in lines)
    what = f"line {' and '.join(map(str, numbers))} moved before line {before}"
    return Edit(what, before, tuple(map(log.text, lines)), numbers)


def replace(log: AcceptedLog, line: LogLine, old: str, new: str) -> Edit:
    """Replace the first `old` in the line by `new`."""
    return change(line, log.text(line).replace(old, new, 1), f"{old} is now {new}")


def change(line: LogLine, text: str, what: str) -> Edit:
    """Give the line another text; `what` describes the change."""
    return Edit(f"line {line.number}: {what}", line.number, (text,), (line.number,))


def removed(kind: str, detail: str = "", *, beside: str = "") -> Edits:
    """Edits that remove a line of the kind. `beside`: only if a line of that kind has the same checkpoint."""

    def edits(log: AcceptedLog, random: Random) -> Iterator[Edit]:
        known = {line.checkpoint for line in log.of(beside)}
        return (drop(line) for line in log.of(kind, detail) if not beside or line.checkpoint in known)

    return edits


def doubled(kind: str, detail: str = "") -> Edits:
    """Edits that repeat a line of the kind."""
    return lambda log, random: (double(log, line) for line in log.of(kind, detail))


def renumbered(kind: str, by: int, before: str, *, detail: str = "", least: int = 2) -> Edits:
    """Edits that add `by` to a line's checkpoint if it is at least `least`. `before`: the text before it."""
    return lambda log, random: (
        replace(log, line, f"{before}{line.checkpoint}", f"{before}{line.checkpoint + by}")
        for line in log.of(kind, detail)
        if line.checkpoint >= least
    )
