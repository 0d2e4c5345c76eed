"""Parses the lines of a Flink log, from release 1.13 on, and names their kinds.

`lines.toml` holds the patterns. A line that matches none, because it is not about the protocol, becomes no
`LogLine`.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from conformance.observe.flink.records import Record

# lines of the checkpoint coordinator
TRIGGER, COMPLETED, DECLINED, EXPIRED, FAILED = "trigger", "completed", "declined", "expired", "failed"
REFUSED, RESTORED, ID_RESET, DISCARDED = "refused", "restored", "id reset", "discarded"
STORED, CLEANED = "stored", "cleaned"
SOURCE_NOTIFIED, SOURCE_NOTIFIED_OF_ABORT = "source notified", "source notified of abort"
ACKNOWLEDGED, ACKNOWLEDGED_TWICE = "acknowledged", "acknowledged twice"
ACKNOWLEDGED_BY_STRANGER, ACKNOWLEDGED_LATE = "acknowledged by a stranger", "acknowledged late"
# lines of the scheduler
JOB, EXECUTION, DEPLOYED = "job switched", "execution switched", "deployed"
# lines of a task's thread
BARRIER, GATE_TRIGGER, ALIGNED, CANCELLATION = "barrier", "gate trigger", "aligned", "cancellation"
OVERTAKEN, ENDED_EARLY, TRACKED = "overtaken", "ended early", "barrier tracked"
START, BROADCAST, SNAPSHOT, NO_SNAPSHOT = "checkpoint started", "broadcast", "snapshot", "no snapshot"
ABORTED_BEFORE, OUT_OF_ORDER, ABORTED_ON_BARRIER = "aborted before", "out of order", "aborted on barrier"
COMPLETION_RECEIVED, NOTIFICATION, TASK = "completion received", "notification", "task switched"
# lines of the threads that write snapshots
WRITE_STARTED, WRITE_FINISHED = "write started", "write finished"
WRITE_ENDED, WRITE_FAILED = "write ended", "write failed"
OLD = "of an old release"

_FILE: Mapping[str, Any] = tomllib.loads(
    files("conformance.observe.flink").joinpath("lines.toml").read_text(encoding="utf-8")
)
LOGGERS: Mapping[str, Mapping[str, Any]] = _FILE["loggers"]
NEEDED: Mapping[str, str] = {kind: row["needs"] for kind, row in _FILE["kinds"].items() if "needs" in row}
"""The kinds without which a log cannot be judged; for each its logger, and the level of that logger."""


class LogLine(NamedTuple):
    """The content of one line about the protocol."""

    number: int
    """From 1."""
    kind: str
    thread: str
    """Empty if the layout does not show it."""
    task: str
    """`name (2/4)#1`, or `name (2/4)` in a line of the job manager; empty if the line names no task."""
    execution: str
    """The id of the execution; empty if the line names none."""
    checkpoint: int
    """-1 if the line names none."""
    detail: str
    """Depends on the kind: a channel `gate.index`, two states `from>to`, a type, or a word."""
    job: str = ""
    """The id of the job; empty if the line names none."""


Key = tuple[str | int, ...]
"""The key of a cause: a word, and values that identify it."""


_THREAD_OF: Mapping[str, str] = {kind: known["thread"] for kind, known in _FILE["kinds"].items()}


def logical_thread(line: LogLine) -> str:
    """The logical thread of the line. Lines of one logical thread are replayed in the order of the log.

    A task is one logical thread, and so is the scheduler, although its lines come from several threads of a
    pool. A pool also writes a task's snapshots: only lines about the same snapshot are in order.
    """
    thread = _THREAD_OF[line.kind]
    if thread == "task":
        return line.task
    if thread == "write":
        return f"{line.task} writing {line.checkpoint}"
    return thread if thread == "scheduler" else line.thread or thread


FROM_MANAGER = frozenset(
    {"triggered", "completed", "completion logged", "free", "aborted", "ended", "job", "restarting"}
)
"""The words of causes that only lines of the job manager show."""
_MANAGERS_THREADS = frozenset({"messages", "timer", "failures", "scheduler", "cleaner"})
_MANAGERS_KINDS = frozenset(kind for kind, thread in _THREAD_OF.items() if thread in _MANAGERS_THREADS)


def is_of_manager(line: LogLine) -> bool:
    """Whether the job manager writes the line."""
    return line.kind in _MANAGERS_KINDS


def causes(line: LogLine) -> Iterator[Key]:
    """Yield the causes that the line may show, judged by its text alone."""
    for cause in _FILE["kinds"][line.kind].get("causes", ()):
        word, _, fields = cause.partition(": ")
        state = line.detail.partition(">")[2]
        yield (word, *(state if field == "state" else getattr(line, field) for field in fields.split()))


def pattern(text: str) -> str:
    """The pattern `text` of `lines.toml`, in which each `%part%` is replaced by the part of that name."""
    while "%" in text:
        text = re.sub(r"%(\w+)%", lambda name: str(_FILE["parts"][name[1]]), text)
    return text


_GROUPS = ("task", "execution", "checkpoint", "detail", "from", "to", "job")
_Pattern = tuple[str, Callable[[str], re.Match[str] | None], tuple[int, ...]]
"""The kind, the pattern, and the numbers of its groups."""
_NOTIFICATIONS = {"completed": "COMPLETE", "aborted": "ABORT"}
_WITHOUT_TASK = frozenset({ABORTED_BEFORE, OUT_OF_ORDER})
"""These lines name no task; a task writes them on its own thread."""
_OLD_PACKAGES = ("streaming.runtime.io", "s.r.io")
"""The packages of the barrier handler up to 1.12; from 1.13 on it is in `...io.checkpointing`."""


@cache
def _patterns_of(logger: str) -> tuple[_Pattern, ...]:
    """The patterns of a logger, by the last part of its full name."""
    package, _, name = logger.rpartition(".")
    old = {BARRIER, GATE_TRIGGER} if package.endswith(_OLD_PACKAGES) else set()
    patterns = []
    for kind, text in LOGGERS.get(name, {}).get("lines", ()):
        whole = pattern(text)
        lacking = (group for group in _GROUPS if f"(?P<{group}>" not in whole)
        compiled = re.compile(whole + "".join(f"(?P<{group}>)" for group in lacking))
        groups = tuple(compiled.groupindex[group] for group in _GROUPS)
        patterns.append((OLD if kind in old else kind, compiled.match, groups))
    return tuple(patterns)


def parse(record: Record) -> LogLine | None:
    """The content of a record; None if it is not about the protocol."""
    number, logger, thread, message = record
    for kind, match, groups in _patterns_of(logger):
        found = match(message)
        if found is None:
            continue
        task, execution, checkpoint, detail, before, after, job = found.group(*groups)
        if before:
            detail = f"{before}.{after}" if kind == BARRIER else f"{before}>{after}"
        elif kind == NOTIFICATION:
            detail = _NOTIFICATIONS.get(detail, detail)
        elif kind in _WITHOUT_TASK:
            task = thread
        about = int(checkpoint) if checkpoint else -1
        fields = (number, kind, thread, task, execution, about, detail or "", job)
        return tuple.__new__(LogLine, fields)
    return None
