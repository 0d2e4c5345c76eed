"""Finds lines about the protocol that cannot be read: broken lines, garbled ids, unknown words.

A record of one of the protocol's loggers matches a pattern of `lines.toml`, or is another message that
releases 1.13 to 2.3 log there, or is unreadable. `Task`, `StreamTask` and `ExecutionGraph` log many other
messages, which contain names that users choose. A record of these three loggers is unreadable if it has the
words of a pattern and does not match the pattern. A line that is no record is unreadable if it breaks off
within a record, or names one of the protocol's loggers.

A line that can be read contradicts the others if it names another job, an execution of another task, or a
task without an execution: an id or a name in it is altered.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import NamedTuple

from conformance.observe.flink.grammar import DEPLOYED, JOB, LOGGERS, TRIGGER, LogLine, pattern
from conformance.observe.flink.records import BEGINS, LEVELS, Record

SHOWN = 160
"""Maximum number of characters of an unreadable line that a message shows."""


class Unreadable(NamedTuple):
    """A line about the protocol that cannot be read."""

    number: int
    """The number of the line, from 1."""
    why: str
    text: str
    """The line, or its beginning."""

    def describe(self) -> str:
        """Line, reason and text in one line."""
        return f"line {self.number} cannot be read: {self.why}, got {self.text!r}"


_OTHERS, _WORDS = (
    {name: "|".join(map(pattern, logger[key])) for name, logger in LOGGERS.items() if key in logger}
    for key in ("others", "words")
)
_NAMES = (*_OTHERS, *_WORDS)
_SIMILARITY = 0.85
"""From this ratio of `difflib` on, the name of a logger counts as a garbled name of a protocol's logger."""
_SIMILAR_NAMES = frozenset({"CheckpointBarrierTracker", "CheckpointBarrierHandler"})
"""Loggers of Flink with names like those of the protocol."""
_CUT = re.compile(
    r"(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d?(?::(?:\d\d?(?:[.,]\d*)?)?)?"
    rf"|{BEGINS}(?:\[[^\]]*|(?:\[.*?\] )?[A-Z]{{0,5}} *(?:o\w{{0,2}}(?:\.[\w.$]*)?)?)"
)
"""Matches a line that breaks off before its message, anywhere from the minutes of its timestamp on."""
_LOGS = re.compile(rf"{BEGINS}(?:\[.*?\] )?{LEVELS} +(\S+)")
_NAMED = re.compile(
    rf"(?:{BEGINS}|.*\b{LEVELS}\b).*(?:\.(?:{'|'.join(_WORDS)})|\b(?:{'|'.join(_OTHERS)}))(?: +[\[-]|$)"
)
_NAMED_IN_JSON = re.compile(rf"\{{.*\b(?:{'|'.join((*_WORDS, *_OTHERS))})\b")
"""Matches a line that begins as a JSON object and names a logger of the protocol."""
_Judge = Callable[[str], bool]


@cache
def _judge(logger: str) -> tuple[str, _Judge]:
    """For unparsed messages of a logger: the reason why they are unreadable, and a test whether one is."""
    name = logger.rpartition(".")[2]
    why = f"expected a message that {name} of Flink 1.13 to 2.3 logs"
    if name in _OTHERS:
        others = re.compile(_OTHERS[name]).match
        return why, lambda message: others(message) is None
    if name in _WORDS:
        words = re.compile(_WORDS[name]).match
        return why, lambda message: words(message) is not None
    original = _ungarbled(name)
    return f"expected the logger {original}, got {name}", lambda message: bool(original)


def _ungarbled(name: str) -> str:
    """The protocol's logger if `name` is a garbled form of its name; else empty."""
    merged = next((one for one in _NAMES if name.endswith(one) and name[0].islower()), "")
    if merged or name in _SIMILAR_NAMES or len(name) <= len("Task") + 1:
        return merged
    return "".join(get_close_matches(name, _NAMES, 1, _SIMILARITY))


def unreadable(record: Record) -> Unreadable | None:
    """The finding about a record that `grammar.parse` cannot parse; None if it is not about the protocol."""
    why, is_unreadable = _judge(record.logger)
    if not is_unreadable(record.message):
        return None
    return Unreadable(record.number, why, f"{record.logger.rpartition('.')[2]}: {record.message}"[:SHOWN])


def broken(number: int, line: str) -> Unreadable | None:
    """The finding about a line that is no record; None if it is not about the protocol."""
    logs = _LOGS.match(line)
    if _CUT.fullmatch(line):
        why = "expected a whole record, the line breaks off before its message"
    elif _NAMED.match(line) or (line.startswith("{") and _NAMED_IN_JSON.match(line)):
        why = "expected a record in the layout of the lines before it, and a logger of the protocol is named"
    elif logs and (original := _ungarbled(re.sub(r"[^\w.$]", "", logs[1]).rpartition(".")[2])):
        why = f"expected the logger {original}, got another text"
    else:
        return None
    return Unreadable(number, why, line[:SHOWN])


# ---------------------------------------------------------------- lines that contradict the others


def contradicting(lines: Sequence[LogLine], texts: Mapping[int, str]) -> list[Unreadable]:
    """The lines whose job, execution or task contradicts the others.

    A second job that has at least two triggers or starts is not altered: `survey` refuses such a log.
    """
    found = [*_of_other_jobs(lines), *_of_other_tasks(lines)]
    return [
        Unreadable(number, why, texts[number][:SHOWN])
        for number, why in sorted(dict(reversed(found)).items())
    ]


def _of_other_jobs(lines: Sequence[LogLine]) -> Iterator[tuple[int, str]]:
    jobs = Counter(line.job for line in lines if line.job)
    begun = Counter(
        line.job for line in lines if line.kind == TRIGGER or (line.kind == JOB and "CREATED>" in line.detail)
    )
    main = max(jobs, key=lambda job: jobs[job], default="")
    altered = {job for job in jobs if job != main and begun[job] < 2}
    for line in lines:
        if line.job in altered:
            yield line.number, f"expected job {main}, got {line.job}, which no other line names"


def _of_other_tasks(lines: Sequence[LogLine]) -> Iterator[tuple[int, str]]:
    """Yield lines whose task or execution differs from that of most lines, or that no other line names."""
    names: dict[str, Counter[str]] = defaultdict(Counter)
    """By execution: the names of its task, with the attempt where the line has one."""
    executions: dict[str, Counter[str]] = defaultdict(Counter)
    """By name with attempt: its executions."""
    for line in lines:
        if line.execution and line.task:
            name = _full_name(line)
            names[line.execution][name] += 1
            if "#" in name:
                executions[name][line.execution] += 1
    named = {one: _agreed(found) for one, found in names.items()}
    known = {name: found.most_common(1)[0][0] for name, found in executions.items()}
    for line in lines:
        if not line.task:
            continue
        name, execution = _full_name(line), line.execution
        if not execution:
            if "#" in name and executions and name not in known:
                yield line.number, f"expected a task with an execution, got {name}, which has none"
        elif not _agrees(name, named[execution]):
            yield line.number, f"expected {named[execution]}, whose execution this is, got {name}"
        elif "#" in name and known[name] != execution:
            yield line.number, f"expected execution {known[name]} of {name}, got {execution}"
        elif (
            "#" not in name
            and "#" not in named[execution]
            and sum(names[execution].values()) == 1
            and (len(names) > 1 and any("#" in one for one in named.values()))
        ):
            yield line.number, f"expected an execution of {name}, got {execution}, which no other line names"


def _full_name(line: LogLine) -> str:
    return f"{line.task}#{line.detail}" if line.kind == DEPLOYED else line.task


def _agreed(found: Counter[str]) -> str:
    """The name, with its attempt, with which most lines agree."""
    full = [name for name in found if "#" in name] or list(found)
    return max(full, key=lambda name: sum(count for one, count in found.items() if _agrees(one, name)))


def _agrees(name: str, other: str) -> bool:
    return (
        name == other
        or ("#" not in name and name == other.rpartition("#")[0])
        or ("#" not in other and other == name.rpartition("#")[0])
    )
