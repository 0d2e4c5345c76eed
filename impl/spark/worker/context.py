"""The data that the modules of one running subtask share: its identity, its connections, and its log."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from impl.eventlog import EventLog
from impl.metrics import Stopwatch
from impl.spark.channels.inbox import Inbox
from impl.spark.channels.messages import Report
from impl.spark.channels.outputs import Outputs
from impl.spark.savepoints.savepoint_options import KnownSavepoints
from impl.spark.snapshots.writer import TaskStorage


def clock_from(passed: int) -> Callable[[], int]:
    """A clock in ms that begins at `passed`. It does not depend on the wall clock of this host."""
    began = time.monotonic_ns() - passed * 1_000_000
    return lambda: (time.monotonic_ns() - began) // 1_000_000


@dataclass(frozen=True, slots=True)
class TaskContext:
    """The shared data of one subtask in one attempt. Used by the subtask's thread."""

    task: str
    attempt: int
    upstream: tuple[str, ...]
    """The senders of the gate's channels, in the order of the channels; empty for a source."""
    inbox: Inbox
    outputs: Outputs
    storage: TaskStorage
    report: Callable[[Report], None]
    """A function that sends a report to the driver. Raises `ConnectionLostError`."""
    mode: str
    """The mode of the gate: exactly-once, at-least-once, unaligned or alternating."""
    savepoints: KnownSavepoints
    """The newest savepoints, with their options."""
    alignment_timeout_ms: int = 0
    """In mode alternating: the time from the trigger until barriers overtake, in ms."""
    now: Callable[[], int] = field(default_factory=lambda: clock_from(0))
    """Returns the milliseconds since the driver began the attempt."""
    max_concurrent: int = 1
    """The maximum number of checkpoints that are pending at the same time."""
    restored: int | None = None
    """The checkpoint from which the attempt starts; None for the beginning."""
    log: EventLog | None = None
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
