"""What the lines of each logger say, from Flink 1.13 on.

The wordings are those of the released jars 1.13.6, 1.15.4, 1.20.5, 2.2.1 and 2.3.0; where they differ,
both are known. A line that says nothing about the protocol is no `Said`.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from conformance.observe.flink.lines import Record

# of the checkpoint coordinator
TRIGGER, ACK, ACK_DUPLICATE, ACK_UNKNOWN, ACK_LATE = "trigger", "ack", "ack twice", "ack unknown", "ack late"
COMPLETED, DECLINED, EXPIRED, FAILED, REFUSED = "completed", "declined", "expired", "failed", "refused"
RESTORED, ID_RESET, DISCARDED = "restored", "id reset", "discarded"
# of the job
JOB, EXECUTION, DEPLOYED = "job", "execution", "deployed"
# of a subtask's thread
BARRIER, GATE_TRIGGER, ALIGNED, CANCELLATION = "barrier", "gate trigger", "aligned", "cancellation"
OVERTAKEN, ENDED_EARLY, TRACKED = "overtaken", "ended early", "tracked"
START, BROADCAST, SNAPSHOT, NO_SNAPSHOT = "start", "broadcast", "snapshot", "no snapshot"
ABORTED_BEFORE, OUT_OF_ORDER, CANCELS = "aborted before", "out of order", "cancels"
HEARD, TOLD = "heard", "told"
TASK = "task"
# of the threads that write snapshots
STORING, STORED, STORE_CLOSED, STORE_FAILED = "storing", "stored", "store closed", "store failed"
OLD = "of an old release"


class Said(NamedTuple):
    """What one line says."""

    number: int
    """The line, from 1."""
    kind: str
    thread: str
    task: str
    """`name (2/4)#1`, or `name (2/4)` where the job manager speaks; empty if no task is named."""
    execution: str
    """Id of the execution, empty if none is named."""
    checkpoint: int
    """-1 if none is named."""
    detail: str
    """By kind: a channel `gate.index`, two states `from>to`, a type, a word."""


_TASK = r"(?P<task>(?:[^#]+#)+?\d{1,9}(?!\w))"
_EXECUTION = r"(?P<execution>[0-9a-f_]{32,})"
_N = r"(?P<checkpoint>-?\d{1,18}(?!\w))"
_STATES = (
    "CREATED|SCHEDULED|DEPLOYING|INITIALIZING|RUNNING|FINISHED|CANCELING|CANCELLING|CANCELED|FAILED|FAILING"
    "|RESTARTING|RECONCILING|SUSPENDED"
)
"""Of a job and of an execution."""
_BETWEEN = rf"(?P<from>{_STATES}) to (?P<to>{_STATES})(?!\w)"
_SWITCH = rf"switched from {_BETWEEN}"

_WORDINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "CheckpointCoordinator": (
        (ACK, rf"Received acknowledge message for checkpoint {_N} from task {_EXECUTION} of job"),
        (TRIGGER, rf"Triggering checkpoint {_N} \(type=(?P<detail>.*)\) @ \d+ for job (?P<job>\w+)"),
        (COMPLETED, rf"Completed checkpoint {_N} for job"),
        (RESTORED, rf"Restoring job \w+ from (?P<detail>(?:[A-Z]\w* )*(?:Check|Save)point) {_N} @ "),
        (RESTORED, r"No checkpoint found during restore"),
        (DECLINED, rf"Decline checkpoint {_N} by task {_EXECUTION} of job"),
        (EXPIRED, rf"Checkpoint {_N} of job \w+ expired before completing"),
        (REFUSED, r"Failed to trigger checkpoint for job \w+ since (?P<detail>.*)"),
        (FAILED, rf"Failed to trigger checkpoint {_N} for job"),
        (ACK_DUPLICATE, rf"Received a duplicate acknowledge message for checkpoint {_N}, task {_EXECUTION},"),
        (
            ACK_UNKNOWN,
            rf"Could not acknowledge the checkpoint {_N} for task {_EXECUTION} of job .* id was unknown",
        ),
        (
            ACK_LATE,
            rf"Could not acknowledge the checkpoint {_N} for task {_EXECUTION} of job .* had been discarded",
        ),
        (
            ACK_LATE,
            r"Received (?:late message for now expired checkpoint attempt|message for an unknown checkpoint)"
            rf" {_N} from task {_EXECUTION} of job",
        ),
        (ID_RESET, rf"Reset the checkpoint ID of job \w+ to {_N}"),
    ),
    "CheckpointFailureManager": (
        (REFUSED, r"Failed to trigger checkpoint for job \w+ since (?P<detail>.*)"),
        (FAILED, rf"Failed to trigger or complete checkpoint {_N} for job"),
    ),
    "CheckpointsCleaner": ((DISCARDED, rf"Try to discard checkpoint {_N}"),),
    "ExecutionGraph": (
        (EXECUTION, rf"(?P<task>.+ \(\d+/\d+\)) \({_EXECUTION}\) {_SWITCH}"),
        (
            DEPLOYED,
            rf"Deploying (?P<task>.+) \(attempt #(?P<detail>\d{{1,9}})\) with attempt id {_EXECUTION} ",
        ),
        (JOB, rf"Job .* \(\w+\) switched from state {_BETWEEN}"),
    ),
    "Task": ((TASK, rf"{_TASK} \({_EXECUTION}\) {_SWITCH}"),),
    "SingleCheckpointBarrierHandler": (
        (
            BARRIER,
            rf"{_TASK} \({_EXECUTION}\): Received barrier from channel "
            rf"InputChannelInfo\{{gateIdx=(?P<from>\d{{1,9}}), inputChannelIdx=(?P<to>\d{{1,9}})\}} @ {_N}",
        ),
        (GATE_TRIGGER, rf"{_TASK} \({_EXECUTION}\): Triggering checkpoint {_N} on the barrier announcement"),
        (
            ALIGNED,
            rf"{_TASK} \({_EXECUTION}\): (?:All the channels are aligned|Received all barriers) "
            rf"for checkpoint {_N}",
        ),
        (CANCELLATION, rf"{_TASK} \({_EXECUTION}\): Received cancellation {_N}"),
        (
            OVERTAKEN,
            rf"{_TASK} \({_EXECUTION}\): Received checkpoint barrier for checkpoint (?P<detail>\d{{1,18}}) "
            rf"before completing current checkpoint {_N}",
        ),
        (
            ENDED_EARLY,
            rf"{_TASK} \({_EXECUTION}\): Received EndOfPartition\(-1\) before completing current "
            rf"checkpoint {_N}",
        ),
        (OLD, r".*: Triggering checkpoint \d+ on the (?:first|last) barrier at"),
    ),
    "CheckpointBarrierTracker": ((TRACKED, rf"Received barrier for checkpoint {_N} from channel"),),
    "CheckpointBarrierAligner": ((OLD, r""),),
    "CheckpointBarrierUnaligner": ((OLD, r""),),
    "SubtaskCheckpointCoordinatorImpl": (
        (TOLD, rf"Notification of checkpoint (?P<detail>COMPLETE|ABORT|SUBSUME) {_N} for task {_TASK}"),
        (BROADCAST, rf"Task {_TASK} broadcastEvent at "),
        (TOLD, rf"Notification of (?P<detail>completed|aborted) checkpoint {_N} for task {_TASK}"),
        (SNAPSHOT, rf"{_TASK} - finished synchronous part of checkpoint {_N}\..*: (?P<detail>true|false)"),
        (NO_SNAPSHOT, rf"{_TASK} - did NOT finish synchronous part of checkpoint {_N}"),
        (CANCELS, rf"Aborting checkpoint via cancel-barrier {_N} for task {_TASK}"),
        (ABORTED_BEFORE, rf"Checkpoint {_N} has been notified as aborted, would not trigger"),
        (
            OUT_OF_ORDER,
            rf"Out of order checkpoint barrier \(aborted previously\?\): (?P<detail>\d{{1,18}}) >= {_N}",
        ),
        (OLD, r"Notification of (?:complete|aborted) checkpoint for task"),
    ),
    "StreamTask": (
        (START, rf"Starting checkpoint \(?{_N}\)? (?P<detail>.*) on task {_TASK}"),
        (HEARD, rf"Notify checkpoint {_N} complete on task {_TASK}"),
    ),
    "AsyncCheckpointRunnable": (
        (STORING, rf"{_TASK} - started executing asynchronous part of checkpoint {_N}"),
        (STORED, rf"{_TASK} - finished asynchronous part of checkpoint {_N}"),
        (STORE_CLOSED, rf"{_TASK} - asynchronous part of checkpoint {_N} could not be completed because"),
        (STORE_FAILED, rf"{_TASK} - asynchronous part of checkpoint {_N} could not be completed"),
    ),
}

_GROUPS = ("task", "execution", "checkpoint", "detail", "from", "to", "job")


def _compiled(wording: str) -> re.Pattern[str]:
    """The wording with an empty group for each name that it does not have."""
    lacking = [name for name in _GROUPS if f"(?P<{name}>" not in wording]
    return re.compile(wording + "".join(f"(?P<{name}>)" for name in lacking))


_Match = Callable[[str], re.Match[str] | None]
_Pattern = tuple[str, _Match, tuple[int, ...]]
"""The kind, the wording, and where its groups stand."""


def _pattern(kind: str, wording: str) -> _Pattern:
    compiled = _compiled(wording)
    return kind, compiled.match, tuple(compiled.groupindex[name] for name in _GROUPS)


_PATTERNS = {
    logger: tuple(_pattern(kind, wording) for kind, wording in wordings)
    for logger, wordings in _WORDINGS.items()
}


@cache
def _patterns_of(logger: str) -> tuple[_Pattern, ...]:
    """By the logger's full name; only its last word counts, but for the handler of old releases."""
    package, _, name = logger.rpartition(".")
    patterns = _PATTERNS.get(name, ())
    if package.endswith(_OLD_PACKAGES):
        return tuple(
            (OLD if kind in {BARRIER, GATE_TRIGGER} else kind, match, groups)
            for kind, match, groups in patterns
        )
    return patterns


_TELLS = {"completed": "COMPLETE", "aborted": "ABORT"}
_ON_THEIR_THREAD = frozenset({ABORTED_BEFORE, OUT_OF_ORDER})
"""These name no task; a task speaks on its own thread."""
_OLD_PACKAGES = ("streaming.runtime.io", "s.r.io")
"""Where the handler stood up to 1.12; from 1.13 on it stands in `...io.checkpointing`."""


def said(record: Record) -> Said | None:
    """What a record says about the protocol, or None."""
    number, logger, thread, message = record
    for kind, match, groups in _patterns_of(logger):
        found = match(message)
        if found is None:
            continue
        task, execution, checkpoint, detail, before, after, job = found.group(*groups)
        if before:
            detail = f"{before}.{after}" if kind == BARRIER else f"{before}>{after}"
        elif kind == TOLD:
            detail = _TELLS.get(detail, detail)
        elif kind == TRIGGER:
            detail = f"{job} {detail}"
        elif kind in _ON_THEIR_THREAD:
            task = thread
        fields = (number, kind, thread, task, execution, int(checkpoint) if checkpoint else -1, detail)
        return tuple.__new__(Said, fields)
    return None
