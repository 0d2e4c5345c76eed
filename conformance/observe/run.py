"""What the readers of one log share: the attempts, the causes, and what has been seen."""

from dataclasses import dataclass, field
from typing import NamedTuple

from conformance.observe.causes import Causes
from conformance.observe.record import Record
from conformance.observe.replay import Replayed
from conformance.observe.situations import TRACE, Witnessed


class Settings(NamedTuple):
    """How the run's coordinator was configured; what a log tells of it itself goes before."""

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
    """By task: who sends to it; empty for a source."""
    exchanges: tuple[tuple[str, str, str], ...] = ()
    """The edges between stages: from, to, and how rows are spread; empty where a log does not tell."""
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
    """Those of them that no attempt restores: they are their users' (SUB-05)."""
    taken_over: set[int] = field(default_factory=set)
    """Completed before this log begins."""
    offsets: dict[tuple[str, int], int] = field(default_factory=dict)
    """By source and checkpoint: the offset that the snapshot holds."""
    sends_each: dict[str, bool] = field(default_factory=dict)
    """By source: each record that it reads is sent on exactly one channel."""
    sinks: dict[str, Replayed] = field(default_factory=dict)
    """By task: the sink with its durable part, over all attempts."""
    logged: dict[str, list[int]] = field(default_factory=dict)
    """By task: the attempts that have a file."""
    heard: set[tuple[int, str, int]] = field(default_factory=set)
    """Attempt, sink and checkpoint: its completion was heard there."""
    told: list[tuple[int, str, int]] = field(default_factory=list)
    """The same, as the coordinator has sent it to any task."""
    adopted: set[tuple[int, str]] = field(default_factory=set)
    """Attempt and a sink that is no more: what it had pre-committed was taken over there."""
    went_on: set[int] = field(default_factory=set)
    """Attempts in which a checkpoint was completed: what they restored is not needed any more."""
    rules: set[str] = field(default_factory=set)
    events: int = 0
    modes: set[str] = field(default_factory=set)
    """The modes of the gates that were seen."""
    sent: dict[tuple[int, str, int], dict[str, int]] = field(default_factory=dict)
    """By attempt, task and checkpoint: the records that it had sent to each task when its barrier left."""
    overtaken: dict[tuple[int, str, int], dict[str, int]] = field(default_factory=dict)
    """The same: those of them that the barrier passed and the sender stored."""
    recovered: dict[tuple[int, str, str], int] = field(default_factory=dict)
    """By attempt, sender and receiver: records in flight that the attempt began with, at both ends."""
    record: Record | None = None
    """Gets what is replayed, where somebody wants to look at it."""
    counted: int = 0
    """Barriers whose record count was compared with the sender's."""


def task_of(config_tasks: list[str], upstream: dict[str, frozenset[str]]) -> list[dict[str, object]]:
    """The coordinator's configuration of its tasks: a source has nobody above it."""
    return [{"id": task, "source": not upstream[task]} for task in config_tasks]
