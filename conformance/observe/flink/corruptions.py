"""Corruptions of an accepted log, which the validation must reject: `barrierspec trace flink --corruptions`.

Each corruption yields all edits that produce it in a log, and a seed draws one of these edits. If there is
none, the corruption is *not observable* in this log, and `unobservable` states why. `NEVER_OBSERVABLE` lists
corruptions that no log of these loggers can show.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from conformance.observe.flink import grammar
from conformance.observe.flink.edits import (
    AcceptedLog,
    Edit,
    Edits,
    accepted_log,
    change,
    double,
    doubled,
    drop,
    move,
    removed,
    renumbered,
    replace,
)
from conformance.observe.flink.grammar import LogLine
from conformance.observe.flink.run_state import Settings
from conformance.observe.flink.unreadable import Unreadable
from conformance.observe.flink.validate import FlinkRejection, validate_flink


class Corruption(NamedTuple):
    """One way to corrupt a log."""

    name: str
    rules: tuple[str, ...]
    """The rejection must charge one of these rules first. Empty: the line must be reported as unreadable."""
    edits: Edits
    """Yields all edits that produce the corruption in a log; `random` draws the details of each."""
    unobservable: str = ""
    """The reason why a log may have no line to corrupt like this."""

    def draw(self, log: AcceptedLog, random: Random) -> Edit | None:
        """Draw one edit; None if the log has no line to corrupt like this."""
        edits = list(self.edits(log, random))
        return random.choice(edits) if edits else None


class Outcome(NamedTuple):
    """The result of one corruption."""

    corruption: Corruption
    what: str
    """The change in words; empty if the log has no line to corrupt like this."""
    rejection: FlinkRejection | None
    unreadable: Unreadable | None = None
    """The first line about the protocol that could not be read."""

    @property
    def observable(self) -> bool:
        """Whether the log could be corrupted like this."""
        return bool(self.what)

    @property
    def detected(self) -> bool:
        """Whether a rule of the corruption rejects the log; without rules, whether a line is unreadable."""
        if not self.corruption.rules:
            return self.unreadable is not None
        return self.rejection is not None and self.rejection.rules[0] in self.corruption.rules


NEVER_OBSERVABLE: Mapping[str, str] = MappingProxyType(
    {
        "two lines of different threads swapped": "order is trusted within one thread only",
        "an acknowledgement sent twice": "no line reports the sending, only what the coordinator counted",
        "a barrier of another sender": "a line names the channel, not its sender",
        "a channel left blocked": "blocking and resuming have no lines",
        "a record before or after its barrier": "records have no lines",
        "a task restored from another checkpoint": "only the job manager logs what is restored",
        "a transaction committed too early": "connectors write to loggers of their own",
    }
)
"""Corruptions that none of the loggers can show, with the reason."""


# ---------------------------------------------------------------- at the gates


class _Alignment(NamedTuple):
    """The barriers of one checkpoint at one gate, in their order, and the line of the trigger."""

    barriers: tuple[LogLine, ...]
    trigger: LogLine


def _alignments(log: AcceptedLog) -> Iterator[_Alignment]:
    """Yield the alignments of at least two channels."""
    barriers: dict[tuple[str, int], list[LogLine]] = defaultdict(list)
    for line in log.lines:
        key = (line.task, line.checkpoint)
        if line.kind == grammar.BARRIER:
            barriers[key].append(line)
        elif line.kind == grammar.GATE_TRIGGER and len(barriers[key]) > 1:
            yield _Alignment(tuple(barriers[key]), line)


def _barrier_removed(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    return (drop(line) for one in _alignments(log) for line in one.barriers)


def _barrier_across(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    return (move(log, one.trigger.number + 1, line) for one in _alignments(log) for line in one.barriers)


def _barrier_doubled(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    return (double(log, line) for one in _alignments(log) for line in one.barriers[:-1])


def _barrier_on_other_channel(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    return (
        replace(log, line, _channel(line), _channel(one.barriers[0]))
        for one in _alignments(log)
        for line in one.barriers[1:]
    )


def _channel(line: LogLine) -> str:
    gate, _, index = line.detail.partition(".")
    return f"{{gateIdx={gate}, inputChannelIdx={index}}}"


def _older_barrier(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    """After an alignment, a channel delivers the barrier of the previous checkpoint."""
    aligned = {(line.task, line.checkpoint): line.number for line in log.of(grammar.ALIGNED)}
    for barriers, trigger in _alignments(log):
        checkpoint, after = trigger.checkpoint, aligned.get((trigger.task, trigger.checkpoint))
        if checkpoint > 1 and after is not None:
            for line in barriers:
                text = log.text(line).replace(f"}} @ {checkpoint}.", f"}} @ {checkpoint - 1}.")
                yield Edit(f"barrier {checkpoint - 1} after line {after}", after + 1, (text,))


# ---------------------------------------------------------------- on a task's thread


def _snapshot_before_start(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    starts = {(line.task, line.checkpoint): line.number for line in log.of(grammar.START)}
    for line in log.of(grammar.SNAPSHOT):
        if (line.task, line.checkpoint) in starts:
            yield move(log, starts[line.task, line.checkpoint], line)


def _notification_lost(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    """Remove a notification: observable if the release logs every one that a task receives, even repeated."""
    return (
        drop(line) for line in log.of(grammar.NOTIFICATION, "COMPLETE") if log.survey.release.logs_received
    )


def _notified_before(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    """A task is notified of the completion before its first barrier of that checkpoint, or its start."""
    begins: dict[tuple[str, int], int] = {}
    started: set[tuple[str, int]] = set()
    received: dict[tuple[str, int], LogLine] = {}
    for line in log.lines:
        key = (line.task, line.checkpoint)
        if line.kind in {grammar.BARRIER, grammar.START}:
            begins.setdefault(key, line.number)
        if line.kind == grammar.START:
            started.add(key)
        elif line.kind == grammar.COMPLETION_RECEIVED:
            received.setdefault(key, line)
        elif line.kind == grammar.NOTIFICATION and line.detail == "COMPLETE" and key in started:
            lines = (received[key], line) if key in received else (line,)
            yield move(log, begins[key], *lines)


def _notified_of_aborted(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    for line in log.of(grammar.NOTIFICATION, "ABORT"):
        if line.checkpoint not in log.survey.completed:
            text = log.text(line).replace("ABORT", "COMPLETE").replace("aborted", "completed")
            yield change(line, text, "the abort is now a completion")


def _abort_without_cause(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    for line in log.of(grammar.NOTIFICATION, "COMPLETE"):
        text = log.text(line).replace("COMPLETE", "ABORT").replace("completed", "aborted")
        yield Edit(f"an abort of {line.checkpoint} after line {line.number}", line.number + 1, (text,))


# ---------------------------------------------------------------- at the coordinator


def _unknown_execution(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    for line in log.of(grammar.ACKNOWLEDGED):
        yield replace(log, line, line.execution, f"{random.getrandbits(128):032x}")


def _earlier_attempt(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    """An acknowledgement names the task's previous execution instead of the triggered one."""
    for line in log.of(grammar.ACKNOWLEDGED):
        own = log.survey.executions.get(line.execution)
        former = own and log.survey.by_thread.get(own._replace(attempt=own.attempt - 1).thread)
        if former:
            yield replace(log, line, line.execution, former)


def _early_completion(log: AcceptedLog, random: Random) -> Iterator[Edit]:
    """A completion comes before the last acknowledgement on the same thread."""
    last = {line.checkpoint: line for line in log.of(grammar.ACKNOWLEDGED)}
    for line in log.of(grammar.COMPLETED):
        if line.checkpoint in last and last[line.checkpoint].thread == line.thread:
            yield move(log, last[line.checkpoint].number, line)


# ---------------------------------------------------------------- unreadable lines

_NUMBERED = (
    grammar.ACKNOWLEDGED, grammar.TRIGGER, grammar.COMPLETED, grammar.GATE_TRIGGER, grammar.START,
    grammar.SNAPSHOT, grammar.WRITE_STARTED, grammar.WRITE_FINISHED,
)  # fmt: skip
"""The kinds whose message has the word `checkpoint` before the number."""
_BEFORE_NUMBER = "heckpoint "


def _garbled(garble: Callable[[str, LogLine, Random], str], *kinds: str) -> Edits:
    """Edits that give a line of one of the kinds another text."""

    def edits(log: AcceptedLog, random: Random) -> Iterator[Edit]:
        for line in (line for kind in kinds for line in log.of(kind)):
            text = garble(log.text(line), line, random)
            yield change(line, text, f"now {text[-60:]!r}")

    return edits


def _checkpoint(text: str, line: LogLine, random: Random) -> str:
    word = random.choice(("x", f"{line.checkpoint}x", "0x1F", "9" * 40, "", "\ufffd"))
    start = text.index(_BEFORE_NUMBER) + len(_BEFORE_NUMBER)
    return text[:start] + text[start:].replace(str(line.checkpoint), word, 1)


def _execution(text: str, line: LogLine, random: Random) -> str:
    at = text.index(line.execution) + random.randrange(30)
    return f"{text[:at]}?{text[at + 1 :]}"


def _state(text: str, line: LogLine, random: Random) -> str:
    after = line.detail.partition(">")[2]
    return text.replace(f" to {after}", f" to {after[:-2]}{after[-1]}x", 1)


def _cut_in_message(text: str, line: LogLine, random: Random) -> str:
    end = text.index(_BEFORE_NUMBER) + len(_BEFORE_NUMBER)
    return text[: random.randrange(end - 6, end + 1)]


def _cut_before_message(text: str, line: LogLine, random: Random) -> str:
    start = text.index("org.apache.flink")
    return text[: random.randrange(start + 4, text.index(" ", start))]


def _word(text: str, line: LogLine, random: Random) -> str:
    return text.replace(_BEFORE_NUMBER, random.choice(("hekcpoint ", "heckp\ufffdint ", "HECKPOINT ")), 1)


def _substituted(old: str, new: str) -> Callable[[str, LogLine, Random], str]:
    return lambda text, line, random: text.replace(old, new, 1)


# ---------------------------------------------------------------- the catalogue

_NO_FAILURE = "the job did not fail"
_UNTIL_1_13 = "releases up to 1.13 do not log a received notification; a lost notification is legal"
_UNTIL_1_14 = "releases up to 1.14 do not log it"
_UNTIL_1_15 = "releases up to 1.15 do not log it"
_ACK, _DONE, _NOTE = grammar.ACKNOWLEDGED, grammar.COMPLETED, grammar.NOTIFICATION

CORRUPTIONS: tuple[Corruption, ...] = (
    Corruption("a trigger removed", ("COORD-04",), removed(grammar.TRIGGER, beside=grammar.START)),
    Corruption("a trigger with an id used before", ("COORD-02",),
               renumbered(grammar.TRIGGER, -1, "checkpoint ")),
    Corruption("a barrier removed", ("ALIGN-05",), _barrier_removed),
    Corruption("a barrier moved across its alignment", ("ALIGN-05",), _barrier_across),
    Corruption("a barrier doubled while it is awaited", ("ALIGN-17",), _barrier_doubled),
    Corruption("a barrier on a channel that is blocked", ("ALIGN-17",), _barrier_on_other_channel),
    Corruption("a barrier of an older id after", ("TASK-02",), _older_barrier),
    Corruption("a gate's trigger removed", ("ALIGN-05",), removed(grammar.GATE_TRIGGER)),
    Corruption("the end of an alignment removed", ("ALIGN-06",), removed(grammar.ALIGNED)),
    Corruption("a start removed", ("TASK-01", "ALIGN-05"), removed(grammar.START)),
    Corruption("a broadcast removed", ("TASK-01",), removed(grammar.BROADCAST), _UNTIL_1_15),
    Corruption("a snapshot removed", ("TASK-01",), removed(grammar.SNAPSHOT)),
    Corruption("a snapshot before its start", ("TASK-01",), _snapshot_before_start),
    Corruption("a snapshot acknowledged and never written", ("TASK-07",), removed(grammar.WRITE_STARTED)),
    Corruption("an acknowledgement removed", ("COORD-07",), removed(_ACK, beside=_DONE)),
    Corruption("an acknowledgement doubled", ("COORD-05", "COORD-06"), doubled(_ACK)),
    Corruption("an acknowledgement of an unknown task", ("COORD-05",), _unknown_execution),
    Corruption("an acknowledgement of an earlier attempt", ("COORD-05",), _earlier_attempt, _NO_FAILURE),
    Corruption("a completion before its last acknowledgement", ("COORD-07",), _early_completion),
    Corruption("a completion doubled", ("COORD-07",), doubled(_DONE)),
    Corruption("a completion removed", ("COORD-08",), removed(_DONE, beside=_NOTE)),
    Corruption("an older checkpoint kept, a newer discarded", ("SUB-09", "COORD-07"),
               renumbered(grammar.DISCARDED, 1, "checkpoint ", least=1), _UNTIL_1_14),
    Corruption("another checkpoint cleaned, before it starts", ("SUB-09", "COORD-02"),
               renumbered(grammar.CLEANED, 100, "checkpoint ", least=1), _UNTIL_1_14),
    Corruption("another checkpoint cleaned, a second time", ("SUB-09",),
               renumbered(grammar.CLEANED, -1, "checkpoint "), _UNTIL_1_14),
    Corruption("a notification before its completion", ("COORD-08",), _notified_before),
    Corruption("a notification doubled", ("TASK-06",), doubled(_NOTE, "COMPLETE")),
    Corruption("a notification removed", ("TASK-06",), _notification_lost, _UNTIL_1_13),
    Corruption("a notification of an aborted checkpoint", ("COORD-08",), _notified_of_aborted, _NO_FAILURE),
    Corruption("an abort of a completed checkpoint", ("COORD-09",), _abort_without_cause),
    Corruption("the wrong checkpoint reported as subsumed", ("COORD-08",),
               renumbered(_NOTE, 1, "SUBSUME ", detail="SUBSUME", least=1), _UNTIL_1_14),
    Corruption("a failure removed", ("COORD-12", "COORD-09"),
               removed(grammar.JOB, "RUNNING>RESTARTING"), _NO_FAILURE),
    Corruption("a restore from an older checkpoint", ("ONCE-04",),
               renumbered(grammar.RESTORED, -1, "Checkpoint "), _NO_FAILURE),
    Corruption("a restore removed", ("ONCE-04",), removed(grammar.RESTORED, "Checkpoint"), _NO_FAILURE),
    Corruption("a checkpoint that is no number", (), _garbled(_checkpoint, *_NUMBERED)),
    Corruption("an execution that is no id", (), _garbled(_execution, _ACK, grammar.TASK, grammar.BARRIER)),
    Corruption("a channel that is no number", (),
               _garbled(_substituted("inputChannelIdx=", "inputChannelIdx=x"), grammar.BARRIER)),
    Corruption("an unknown state", (), _garbled(_state, grammar.JOB, grammar.EXECUTION, grammar.TASK)),
    Corruption("a line cut within its message", (), _garbled(_cut_in_message, *_NUMBERED)),
    Corruption("a line cut before its message", (), _garbled(_cut_before_message, *_NUMBERED)),
    Corruption("an unknown word", (),
               _garbled(_word, grammar.GATE_TRIGGER, grammar.SNAPSHOT, grammar.WRITE_STARTED)),
    Corruption("an unknown message of the coordinator", (),
               _garbled(_substituted("ed ", "ing "), _ACK, _DONE)),
    Corruption("a garbled logger", (),
               _garbled(_substituted("CheckpointCoordinator", "CheckpointCoordinatr"), _ACK, _DONE)),
)  # fmt: skip
"""All corruptions."""


def corrupt_all(texts: Sequence[str], settings: Settings | None = None, seed: int = 0) -> Iterator[Outcome]:
    """Make each corruption of an accepted log, and validate the result.

    Raises the errors of `accepted_log`.
    """
    log = accepted_log(texts)
    for corruption in CORRUPTIONS:
        yield corrupt(log, corruption, settings or Settings(), seed)


def corrupt(log: AcceptedLog, corruption: Corruption, settings: Settings, seed: int) -> Outcome:
    """Make one corruption at a place that the seed draws, and validate the result. Raises FlinkLogError."""
    edit = corruption.draw(log, Random(f"{seed} {corruption.name}"))
    if edit is None:
        return Outcome(corruption, "", None)
    result = validate_flink(edit.apply(log.texts), settings, required=())
    return Outcome(corruption, edit.what, result.rejection, next(iter(result.unreadable), None))
