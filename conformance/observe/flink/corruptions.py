"""Logs spoilt on purpose: each corruption is one that the release's log can show, and must be rejected.

A corruption is seeded: the place is drawn from those where it is one. Where a log shows no such place the
corruption is *not observable* in it, and says why. What no log of these loggers can show stands in
`NEVER_OBSERVABLE`.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import Said
from conformance.observe.flink.run import Settings
from conformance.observe.flink.spoiling import GARBLINGS, Log, Spoil, Spoilt
from conformance.observe.flink.spoiling import changed as _changed
from conformance.observe.flink.spoiling import drawn as _drawn
from conformance.observe.flink.spoiling import places as _places
from conformance.observe.flink.spoiling import text_of as _text
from conformance.observe.flink.survey import survey
from conformance.observe.flink.unreadable import Unreadable
from conformance.observe.flink.validate import FlinkRejection, parse, validate_flink


class Corruption(NamedTuple):
    """One way to spoil a log."""

    name: str
    rules: tuple[str, ...]
    """The rejection must charge one of these first; none: the line must be found unreadable."""
    spoil: Spoil
    unobservable: str = ""
    """Why a log may have no place for it."""


class Outcome(NamedTuple):
    """What came of one corruption."""

    corruption: Corruption
    what: str
    """What was done; empty if there was no place for it."""
    rejection: FlinkRejection | None
    unreadable: Unreadable | None = None
    """The first line of the protocol that could not be read."""

    @property
    def observable(self) -> bool:
        """The log had a place for it."""
        return bool(self.what)

    @property
    def seen(self) -> bool:
        """It was rejected, and for its own reason."""
        if not self.corruption.rules:
            return self.unreadable is not None
        return self.rejection is not None and self.rejection.rules[0] in self.corruption.rules


NEVER_OBSERVABLE: Mapping[str, str] = MappingProxyType(
    {
        "two lines of different threads swapped": "order is trusted within one thread only",
        "an acknowledgement sent twice": "no line tells of the sending, only of what the coordinator counted",
        "a barrier of another sender": "a line names the channel, not who sends into it",
        "a channel left blocked": "blocking and resuming have no lines",
        "a record before or after its barrier": "records have no lines",
        "a task restored from another checkpoint": "only the job manager says what is restored",
        "a transaction committed too early": "connectors write to loggers of their own",
    }
)
"""What none of the loggers that are read can show."""


# ---------------------------------------------------------------- places and edits


def _without(log: Log, *numbers: int) -> list[str]:
    return [line for number, line in enumerate(log.lines, 1) if number not in numbers]


def _inserted(log: Log, after: int, *texts: str) -> list[str]:
    return [*log.lines[:after], *texts, *log.lines[after:]]


def _moved(log: Log, numbers: Sequence[int], before: int) -> list[str]:
    """The lines `numbers` put before line `before`."""
    moved = [log.lines[number - 1] for number in numbers]
    lines: list[str] = []
    for place, line in enumerate(log.lines, 1):
        if place == before:
            lines += moved
        if place not in numbers:
            lines.append(line)
    return lines


def _completed(log: Log) -> set[int]:
    return {line.checkpoint for line in _places(log, grammar.COMPLETED)}


def _removal(kind: str, detail: str = "", *, beside: str = "") -> Spoil:
    """A line of that kind is dropped, of a checkpoint that has a line of the kind `beside` too."""

    def spoil(log: Log, random: Random) -> Spoilt | None:
        known = {line.checkpoint for line in _places(log, beside)}
        places = [line for line in _places(log, kind, detail) if not beside or line.checkpoint in known]
        line = _drawn(places, random)
        if line is None:
            return None
        return Spoilt(f"line {line.number} dropped", _without(log, line.number))

    return spoil


def _doubling(kind: str, detail: str = "") -> Spoil:
    """A line of that kind stands there twice."""

    def spoil(log: Log, random: Random) -> Spoilt | None:
        line = _drawn(list(_places(log, kind, detail)), random)
        if line is None:
            return None
        return Spoilt(f"line {line.number} doubled", _inserted(log, line.number, _text(log, line)))

    return spoil


def _renumbering(kind: str, by: int, before: str, *, detail: str = "", least: int = 2) -> Spoil:
    """The checkpoint that a line is about is another one; `before` stands before its number."""

    def spoil(log: Log, random: Random) -> Spoilt | None:
        line = _drawn([one for one in _places(log, kind, detail) if one.checkpoint >= least], random)
        if line is None:
            return None
        old, new = f"{before}{line.checkpoint}", f"{before}{line.checkpoint + by}"
        text = _text(log, line).replace(old, new, 1)
        return Spoilt(f"line {line.number}: {old} is now {new}", _changed(log, line.number, text))

    return spoil


# ---------------------------------------------------------------- at the gates


class _Alignment(NamedTuple):
    """The barriers of one checkpoint at one gate, in their order, and the line that triggers."""

    barriers: tuple[Said, ...]
    trigger: Said


def _alignments(log: Log) -> list[_Alignment]:
    """Those of at least two channels."""
    barriers: dict[tuple[str, int], list[Said]] = {}
    found: list[_Alignment] = []
    for line in log.said:
        key = (line.task, line.checkpoint)
        if line.kind == grammar.BARRIER:
            barriers.setdefault(key, []).append(line)
        elif line.kind == grammar.GATE_TRIGGER and len(barriers.get(key, ())) > 1:
            found.append(_Alignment(tuple(barriers[key]), line))
    return found


def _drop_barrier(log: Log, random: Random) -> Spoilt | None:
    alignments = _alignments(log)
    if not alignments:
        return None
    line = random.choice(random.choice(alignments).barriers)
    return Spoilt(f"line {line.number} dropped", _without(log, line.number))


def _barrier_across(log: Log, random: Random) -> Spoilt | None:
    alignments = _alignments(log)
    if not alignments:
        return None
    alignment = random.choice(alignments)
    line, after = random.choice(alignment.barriers), alignment.trigger.number
    return Spoilt(f"line {line.number} moved behind line {after}", _moved(log, [line.number], after + 1))


def _barrier_twice(log: Log, random: Random) -> Spoilt | None:
    alignments = _alignments(log)
    if not alignments:
        return None
    line = random.choice(random.choice(alignments).barriers[:-1])
    return Spoilt(f"line {line.number} doubled", _inserted(log, line.number, _text(log, line)))


def _barrier_on_other_channel(log: Log, random: Random) -> Spoilt | None:
    alignments = _alignments(log)
    if not alignments:
        return None
    barriers = random.choice(alignments).barriers
    line = random.choice(barriers[1:])
    text = _text(log, line).replace(_channel(line), _channel(barriers[0]))
    what = f"line {line.number}: channel {line.detail} is now {barriers[0].detail}"
    return Spoilt(what, _changed(log, line.number, text))


def _channel(line: Said) -> str:
    gate, _, index = line.detail.partition(".")
    return f"{{gateIdx={gate}, inputChannelIdx={index}}}"


def _older_barrier(log: Log, random: Random) -> Spoilt | None:
    """After an alignment a channel gives the barrier of the checkpoint before it."""
    aligned = {(line.task, line.checkpoint): line for line in _places(log, grammar.ALIGNED)}
    alignments = [
        one
        for one in _alignments(log)
        if one.trigger.checkpoint > 1 and (one.trigger.task, one.trigger.checkpoint) in aligned
    ]
    if not alignments:
        return None
    alignment = random.choice(alignments)
    line, checkpoint = random.choice(alignment.barriers), alignment.trigger.checkpoint
    after = aligned[line.task, checkpoint].number
    text = _text(log, line).replace(f"}} @ {checkpoint}.", f"}} @ {checkpoint - 1}.")
    return Spoilt(f"barrier {checkpoint - 1} after line {after}", _inserted(log, after, text))


# ---------------------------------------------------------------- on a task's thread


def _snapshot_before_start(log: Log, random: Random) -> Spoilt | None:
    starts = {(line.task, line.checkpoint): line for line in _places(log, grammar.START)}
    taken = [line for line in _places(log, grammar.SNAPSHOT) if (line.task, line.checkpoint) in starts]
    line = _drawn(taken, random)
    if line is None:
        return None
    start = starts[line.task, line.checkpoint]
    what = f"line {line.number} moved before line {start.number}"
    return Spoilt(what, _moved(log, [line.number], start.number))


def _notification_lost(log: Log, random: Random) -> Spoilt | None:
    """Observable where the task says that news came, whether it tells its operators or not."""
    if not log.survey.release.tells_heard:
        return None
    return _removal(grammar.TOLD, "COMPLETE")(log, random)


def _notified_before(log: Log, random: Random) -> Spoilt | None:
    """A task is told of the completion before it starts that checkpoint."""
    starts = {(line.task, line.checkpoint): line for line in _places(log, grammar.START)}
    told = [line for line in _places(log, grammar.TOLD, "COMPLETE") if (line.task, line.checkpoint) in starts]
    line = _drawn(told, random)
    if line is None:
        return None
    start = _first_of(log, starts[line.task, line.checkpoint])
    heard = [
        one.number
        for one in _places(log, grammar.HEARD)
        if (one.task, one.checkpoint) == (line.task, line.checkpoint) and one.number < line.number
    ]
    numbers = [*heard[:1], line.number]
    what = f"line {' and '.join(map(str, numbers))} moved before line {start}"
    return Spoilt(what, _moved(log, numbers, start))


def _first_of(log: Log, start: Said) -> int:
    """Where the checkpoint begins on that thread: at the first barrier, else at the start."""
    barriers = [
        line.number
        for line in _places(log, grammar.BARRIER)
        if (line.task, line.checkpoint) == (start.task, start.checkpoint)
    ]
    return min([*barriers, start.number])


def _notified_of_aborted(log: Log, random: Random) -> Spoilt | None:
    done = _completed(log)
    line = _drawn([one for one in _places(log, grammar.TOLD, "ABORT") if one.checkpoint not in done], random)
    if line is None:
        return None
    text = _text(log, line).replace("ABORT", "COMPLETE").replace("aborted", "completed")
    return Spoilt(f"line {line.number}: the abort is now a completion", _changed(log, line.number, text))


def _abort_without_cause(log: Log, random: Random) -> Spoilt | None:
    line = _drawn(list(_places(log, grammar.TOLD, "COMPLETE")), random)
    if line is None:
        return None
    text = _text(log, line).replace("COMPLETE", "ABORT").replace("completed", "aborted")
    return Spoilt(
        f"an abort of {line.checkpoint} after line {line.number}", _inserted(log, line.number, text)
    )


# ---------------------------------------------------------------- at the coordinator


def _unknown_task(log: Log, random: Random) -> Spoilt | None:
    line = _drawn(list(_places(log, grammar.ACK)), random)
    if line is None:
        return None
    stranger = "".join(random.choice("0123456789abcdef") for _ in range(32))
    text = _text(log, line).replace(line.execution, stranger, 1)
    return Spoilt(f"line {line.number} comes of execution {stranger}", _changed(log, line.number, text))


def _earlier_attempt(log: Log, random: Random) -> Spoilt | None:
    """The acknowledgement comes of the execution before the one that was asked."""
    executions = log.survey.executions
    by_thread = log.survey.by_thread
    places = []
    for one in _places(log, grammar.ACK):
        asked = executions.get(one.execution)
        if asked is not None and asked._replace(attempt=asked.attempt - 1).thread in by_thread:
            places.append(one)
    drawn = _drawn(places, random)
    if drawn is None:
        return None
    line, own = drawn, executions[drawn.execution]
    former = by_thread[own._replace(attempt=own.attempt - 1).thread]
    text = _text(log, line).replace(line.execution, former, 1)
    return Spoilt(f"line {line.number} comes of attempt {own.attempt - 1}", _changed(log, line.number, text))


def _early_completion(log: Log, random: Random) -> Spoilt | None:
    """Completed, then the last acknowledgement: both on one thread."""
    last = {line.checkpoint: line for line in _places(log, grammar.ACK)}
    done = [
        line
        for line in _places(log, grammar.COMPLETED)
        if line.checkpoint in last and last[line.checkpoint].thread == line.thread
    ]
    line = _drawn(done, random)
    if line is None:
        return None
    before = last[line.checkpoint].number
    return Spoilt(f"line {line.number} moved before line {before}", _moved(log, [line.number], before))


# ---------------------------------------------------------------- the catalogue

_NO_FAILURE = "the job did not fail"
_UNTIL_1_13 = "releases up to 1.13 do not tell that the news arrived; lost news is legal"
_UNTIL_1_14 = "releases up to 1.14 do not tell it"
_UNTIL_1_15 = "releases up to 1.15 do not tell it"

CORRUPTIONS: tuple[Corruption, ...] = (
    Corruption("a trigger removed", ("COORD-04",), _removal(grammar.TRIGGER, beside=grammar.START)),
    Corruption("a trigger with an id drawn before", ("COORD-02",),
               _renumbering(grammar.TRIGGER, -1, "checkpoint ")),
    Corruption("a barrier removed", ("ALIGN-05",), _drop_barrier),
    Corruption("a barrier moved across its alignment", ("ALIGN-05",), _barrier_across),
    Corruption("a barrier doubled while it is awaited", ("ALIGN-17",), _barrier_twice),
    Corruption("a barrier on a channel that is blocked", ("ALIGN-17",), _barrier_on_other_channel),
    Corruption("a barrier of an older id after", ("TASK-02",), _older_barrier),
    Corruption("a gate's trigger removed", ("ALIGN-05",), _removal(grammar.GATE_TRIGGER)),
    Corruption("the end of an alignment removed", ("ALIGN-06",), _removal(grammar.ALIGNED)),
    Corruption("a start removed", ("TASK-01", "ALIGN-05"), _removal(grammar.START)),
    Corruption("a broadcast removed", ("TASK-01",), _removal(grammar.BROADCAST), _UNTIL_1_15),
    Corruption("a snapshot removed", ("TASK-01",), _removal(grammar.SNAPSHOT)),
    Corruption("a snapshot before its start", ("TASK-01",), _snapshot_before_start),
    Corruption("a snapshot acknowledged and never written", ("TASK-07",), _removal(grammar.STORING)),
    Corruption("an acknowledgement removed", ("COORD-07",), _removal(grammar.ACK, beside=grammar.COMPLETED)),
    Corruption("an acknowledgement doubled", ("COORD-05", "COORD-06"), _doubling(grammar.ACK)),
    Corruption("an acknowledgement of an unknown task", ("COORD-05",), _unknown_task),
    Corruption("an acknowledgement of an earlier attempt", ("COORD-05",), _earlier_attempt, _NO_FAILURE),
    Corruption("a completion before its last acknowledgement", ("COORD-07",), _early_completion),
    Corruption("a completion doubled", ("COORD-07",), _doubling(grammar.COMPLETED)),
    Corruption("a completion removed", ("COORD-08",), _removal(grammar.COMPLETED, beside=grammar.TOLD)),
    Corruption("an older checkpoint kept, a newer discarded", ("SUB-09", "COORD-07"),
               _renumbering(grammar.DISCARDED, 1, "checkpoint ", least=1), _UNTIL_1_14),
    Corruption("a notification before its completion", ("COORD-08",), _notified_before),
    Corruption("a notification doubled", ("TASK-06",), _doubling(grammar.TOLD, "COMPLETE")),
    Corruption("a notification removed", ("TASK-06",), _notification_lost, _UNTIL_1_13),
    Corruption("a notification of an aborted checkpoint", ("COORD-08",), _notified_of_aborted, _NO_FAILURE),
    Corruption("an abort of a completed checkpoint", ("COORD-09",), _abort_without_cause),
    Corruption("the wrong checkpoint told subsumed", ("COORD-08",),
               _renumbering(grammar.TOLD, 1, "SUBSUME ", detail="SUBSUME", least=1), _UNTIL_1_14),
    Corruption("a failure removed", ("COORD-12", "COORD-09"),
               _removal(grammar.JOB, "RUNNING>RESTARTING"), _NO_FAILURE),
    Corruption("a restore from an older checkpoint", ("ONCE-04",),
               _renumbering(grammar.RESTORED, -1, "Checkpoint "), _NO_FAILURE),
    Corruption("a restore removed", ("ONCE-04",), _removal(grammar.RESTORED, "Checkpoint"), _NO_FAILURE),
    *(Corruption(name, (), spoil) for name, spoil in GARBLINGS.items()),
)  # fmt: skip
"""Every way in which a log is spoilt."""


def spoil_all(lines: Sequence[str], settings: Settings | None = None, seed: int = 0) -> Iterator[Outcome]:
    """Spoil an accepted log in every way, each by itself, and validate it. Raises FlinkLogError."""
    said = parse(lines)
    log = Log(lines, said, survey(said))
    for corruption in CORRUPTIONS:
        yield spoil_one(log, corruption, settings or Settings(), seed)


def spoil_one(log: Log, corruption: Corruption, settings: Settings, seed: int) -> Outcome:
    """Spoil the log in one way, at the place that the seed draws, and validate it."""
    spoilt = corruption.spoil(log, Random(f"{seed} {corruption.name}"))
    if spoilt is None:
        return Outcome(corruption, "", None)
    result = validate_flink(spoilt.lines, settings, required=())
    return Outcome(corruption, spoilt.what, result.rejection, next(iter(result.unreadable), None))
