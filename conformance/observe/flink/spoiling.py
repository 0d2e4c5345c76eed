"""Corruptions of a log: what all of them work with, and those that make a line unreadable.

Unreadable is an id that is none, a line that breaks off, a word that no release has.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import Said
from conformance.observe.flink.survey import Survey


class Log(NamedTuple):
    """A log that is accepted, and what it says."""

    lines: Sequence[str]
    said: Sequence[Said]
    survey: Survey


class Spoilt(NamedTuple):
    """What was done, and the log with it."""

    what: str
    lines: list[str]


Spoil = Callable[[Log, Random], Spoilt | None]


def places(log: Log, kind: str, detail: str = "") -> Iterator[Said]:
    """The lines of a kind, with that detail if one is given."""
    for line in log.said:
        if line.kind == kind and (not detail or line.detail == detail):
            yield line


def drawn(places: Collection[Said], random: Random) -> Said | None:
    """One of the places; None if there is none."""
    return random.choice(list(places)) if places else None


def changed(log: Log, number: int, text: str) -> list[str]:
    """The lines with another text in the place of one."""
    return [text if place == number else line for place, line in enumerate(log.lines, 1)]


def text_of(log: Log, line: Said) -> str:
    """The line as it stands in the log."""
    return log.lines[line.number - 1]


# ---------------------------------------------------------------- unreadable lines

_NUMBERED = (
    grammar.ACK, grammar.TRIGGER, grammar.COMPLETED, grammar.GATE_TRIGGER, grammar.START, grammar.SNAPSHOT,
    grammar.STORING, grammar.STORED,
)  # fmt: skip
"""Kinds whose message has the word `checkpoint` before the number."""


def _garbled(kinds: tuple[str, ...], garble: Callable[[str, Said, Random], str]) -> Spoil:
    """A line of one of the kinds has another text."""

    def spoil(log: Log, random: Random) -> Spoilt | None:
        line = drawn([one for kind in kinds for one in places(log, kind)], random)
        if line is None:
            return None
        text = garble(text_of(log, line), line, random)
        return Spoilt(f"line {line.number} is now {text[-60:]!r}", changed(log, line.number, text))

    return spoil


def _checkpoint(text: str, line: Said, random: Random) -> str:
    word = random.choice(("x", f"{line.checkpoint}x", "0x1F", "9" * 40, "", "\ufffd"))
    start = text.index("heckpoint ") + len("heckpoint ")
    return text[:start] + text[start:].replace(str(line.checkpoint), word, 1)


def _execution(text: str, line: Said, random: Random) -> str:
    at = text.index(line.execution) + random.randrange(30)
    return f"{text[:at]}?{text[at + 1 :]}"


def _channel(text: str, line: Said, random: Random) -> str:
    return text.replace("inputChannelIdx=", "inputChannelIdx=x", 1)


def _state(text: str, line: Said, random: Random) -> str:
    after = line.detail.partition(">")[2]
    return text.replace(f" to {after}", f" to {after[:-2]}{after[-1]}x", 1)


def _cut_in_message(text: str, line: Said, random: Random) -> str:
    end = text.index("heckpoint ") + len("heckpoint ")
    return text[: random.randrange(end - 6, end + 1)]


def _cut_before_message(text: str, line: Said, random: Random) -> str:
    start = text.index("org.apache.flink")
    return text[: random.randrange(start + 4, text.index(" ", start))]


def _word(text: str, line: Said, random: Random) -> str:
    return text.replace("heckpoint ", random.choice(("hekcpoint ", "heckp\ufffdint ", "HECKPOINT ")), 1)


def _of_coordinator(garble: Callable[[str], str]) -> Callable[[str, Said, Random], str]:
    return lambda text, line, random: garble(text)


GARBLINGS: Mapping[str, Spoil] = MappingProxyType(
    {
        "a checkpoint that is no number": _garbled(_NUMBERED, _checkpoint),
        "an execution that is no id": _garbled((grammar.ACK, grammar.TASK, grammar.BARRIER), _execution),
        "a channel that is no number": _garbled((grammar.BARRIER,), _channel),
        "a state that nothing has": _garbled((grammar.JOB, grammar.EXECUTION, grammar.TASK), _state),
        "a line cut within its message": _garbled(_NUMBERED, _cut_in_message),
        "a line cut before its message": _garbled(_NUMBERED, _cut_before_message),
        "a word that no release has": _garbled(
            (grammar.GATE_TRIGGER, grammar.SNAPSHOT, grammar.STORING), _word
        ),
        "an unknown message of the coordinator": _garbled(
            (grammar.ACK, grammar.COMPLETED), _of_coordinator(lambda text: text.replace("ed ", "ing ", 1))
        ),
        "a garbled logger": _garbled(
            (grammar.ACK, grammar.COMPLETED),
            _of_coordinator(lambda text: text.replace("CheckpointCoordinator", "CheckpointCoordinatr", 1)),
        ),
    }
)
"""By name; each must be found unreadable."""
