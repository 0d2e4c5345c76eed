"""What the parts of one running subtask share: its place in the job, its connections, and its log."""

from collections.abc import Callable
from dataclasses import dataclass, field

from impl.eventlog import EventLog
from impl.metrics import Stopwatch
from impl.spark.channels.inbox import Inbox
from impl.spark.channels.messages import Report
from impl.spark.channels.outputs import Outputs
from impl.spark.savepoints.barrier_options import Orders
from impl.spark.snapshots.writer import TaskStorage


@dataclass(frozen=True, slots=True)
class TaskContext:
    """One subtask of one attempt. Used by the subtask's thread."""

    task: str
    attempt: int
    upstream: tuple[str, ...]
    """The subtasks behind the gate's channels, in their order; none for a source."""
    inbox: Inbox
    outputs: Outputs
    storage: TaskStorage
    report: Callable[[Report], None]
    """Sends a report to the driver. Raises `ConnectionLostError`."""
    mode: str
    """The mode of the gate: exactly-once, at-least-once, unaligned or alternating."""
    orders: Orders
    alignment_timeout_ms: int = 0
    """In mode alternating: ms from the trigger until barriers overtake."""
    epoch: int = 0
    """When the attempt began, in ms of the driver's wall clock."""
    max_concurrent: int = 1
    """Checkpoints that may be pending at once."""
    restored: int | None = None
    """The checkpoint from which the attempt starts; None for none."""
    log: EventLog | None = None
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
