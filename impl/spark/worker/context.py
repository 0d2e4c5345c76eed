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
    """A clock that continues from `passed` ms. It does not depend on the wall clock of this host."""
    began = time.monotonic_ns() - passed * 1_000_000
    return lambda: (time.monotonic_ns() - began) // 1_000_000


@dataclass(frozen=True, slots=True)
class TaskContext:
    """One subtask of one attempt. Used by the subtask's thread."""

    task: str
    attempt: int
    upstream: tuple[str, ...]
    """The subtasks at the other end of the gate's channels, in their order; none for a source."""
    inbox: Inbox
    outputs: Outputs
    storage: TaskStorage
    report: Callable[[Report], None]
    """Sends a report to the driver. Raises `ConnectionLostError`."""
    mode: str
    """The mode of the gate: exactly-once, at-least-once, unaligned or alternating."""
    savepoints: KnownSavepoints
    """The options of the savepoints that the subtask knows."""
    alignment_timeout_ms: int = 0
    """In mode alternating: ms from the trigger until barriers overtake."""
    now: Callable[[], int] = field(default_factory=lambda: clock_from(0))
    """Milliseconds since the driver began the attempt."""
    max_concurrent: int = 1
    """Checkpoints that may be pending at once."""
    restored: int | None = None
    """The checkpoint from which the attempt starts; None for none."""
    log: EventLog | None = None
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
