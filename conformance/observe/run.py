"""What the readers of one log share: the attempts, the causes, and what has been witnessed."""

from dataclasses import dataclass, field
from typing import NamedTuple

from conformance.observe.causes import Causes
from conformance.observe.record import Record
from conformance.observe.replay import Replayed
from conformance.observe.situations import TRACE, Witnessed

Left = tuple[tuple[str, ...], str]
"""The rules and the reason of a rejection at the end of a log."""


class Settings(NamedTuple):
    """The configuration of the run's coordinator; what a log records of it takes precedence."""

    timeout_ms: int = 600_000
    max_concurrent: int = 1
    retain: int = 1
    tolerable_failures: int = -1
    unaligned: bool = False


class Attempt(NamedTuple):
    """One execution attempt, as the coordinator started it."""

    number: int
    restored: int | None
    upstream: dict[str, frozenset[str]]
    """By task: the tasks that send to it; empty for a source."""
    exchanges: tuple[tuple[str, str, str], ...] = ()
    """The edges between stages: from, to, and partitioning; empty if the log does not record them."""
    states: frozenset[str] = frozenset()
    """The tasks that have a state in the restored checkpoint; more or fewer if the job is rescaled."""


@dataclass
class Run:
    """One run while its log is read."""

    causes: Causes = field(default_factory=Causes)
    witnessed: Witnessed = field(default_factory=lambda: Witnessed(TRACE))
    attempts: dict[int, Attempt] = field(default_factory=dict)
    completed: set[int] = field(default_factory=set)
    """Checkpoints that the coordinator has completed, or taken over as complete."""
    savepoints: set[int] = field(default_factory=set)
    """Savepoints, which no attempt restores: they are their users' (SUB-05)."""
    taken_over: set[int] = field(default_factory=set)
    """Checkpoints that were completed before this log begins."""
    offsets: dict[tuple[str, int], int] = field(default_factory=dict)
    """By source and checkpoint: the offset in the snapshot."""
    sends_each: dict[str, bool] = field(default_factory=dict)
    """By source: whether each record that it reads is sent on exactly one channel."""
    sinks: dict[str, Replayed] = field(default_factory=dict)
    """By task: the sink with its durable part, over all attempts."""
    logged: dict[str, list[int]] = field(default_factory=dict)
    """By task: the attempts that have a file."""
    completions_received: set[tuple[int, str, int]] = field(default_factory=set)
    """Attempt, task and checkpoint of which the task was notified."""
    completions_sent: list[tuple[int, str, int]] = field(default_factory=list)
    """The same, of the notifications that the coordinator has sent."""
    adopted: set[tuple[int, str]] = field(default_factory=set)
    """Attempt and a sink that no longer exists: its pre-committed transactions were taken over there."""
    progressed: set[int] = field(default_factory=set)
    """Attempts in which a checkpoint was completed: the restored one is no longer needed."""
    rules: set[str] = field(default_factory=set)
    events: int = 0
    modes: set[str] = field(default_factory=set)
    """The modes of the gates."""
    sent: dict[tuple[int, str, int], dict[str, int]] = field(default_factory=dict)
    """By attempt, task and checkpoint: the records sent to each task when the barrier left."""
    overtaken: dict[tuple[int, str, int], dict[str, int]] = field(default_factory=dict)
    """The same: the records that the barrier passed and the sender stored."""
    recovered: dict[tuple[int, str, str], int] = field(default_factory=dict)
    """By attempt, sender and receiver: records in flight at the start of the attempt, at both ends."""
    record: Record | None = None
    """Gets every replayed event, if a caller wants to show them."""
    counted: int = 0
    """Barriers whose record count was compared with the sender's."""
