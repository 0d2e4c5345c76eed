"""The state of one validation of an event log, which the readers of its files share.

A log has a file for the coordinator and one for each attempt of each task. Their readers fill `Run` while
they replay the files; `conformance.observe.validate` reads the result from it.
"""

import gc
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from conformance.observe.causes import Causes
from conformance.observe.memo import replayed
from conformance.observe.memo.transitions import Taken
from conformance.observe.record import Record
from conformance.observe.replay import Replayed, ReplayedCoordinator
from conformance.observe.situations import TRACE, Witnessed
from model.sink.two_phase_commit import SinkSnapshot

EndRejection = tuple[tuple[str, ...], str]
"""A rejection that is known only at the end of a log: the rules that are broken, and the reason."""


class NotQuietError(Exception):
    """A log cannot be cut at a line, because a checkpoint, a message or an attempt is under way there."""


class Settings(NamedTuple):
    """The configuration of the run's coordinator. A value that the log records takes precedence."""

    timeout_ms: int = 600_000
    max_concurrent: int = 1
    retain: int = 1
    tolerable_failures: int = -1
    unaligned: bool = False


class Attempt(NamedTuple):
    """One execution attempt, as the coordinator started it."""

    number: int
    restored: int | None
    """The id of the restored checkpoint; None for an attempt that starts without one."""
    upstream: dict[str, frozenset[str]]
    """By task: the tasks that send to it, none for a source."""
    exchanges: tuple[tuple[str, str, str], ...] = ()
    """The edges between stages: from, to, and partitioning; empty if the log does not record them."""
    states: frozenset[str] = frozenset()
    """The tasks that have a state in the restored checkpoint. A rescaled job has more or fewer tasks."""


@dataclass
class Run:
    """The state of one run, as far as its log was read. A task's name is its stage and number: `count-1`."""

    causes: Causes = field(default_factory=Causes)
    witnessed: Witnessed = field(default_factory=lambda: Witnessed(TRACE))
    attempts: dict[int, Attempt] = field(default_factory=dict)
    completed: set[int] = field(default_factory=set)
    """Checkpoints that a coordinator has completed, or has taken over as complete when it started."""
    savepoints: set[int] = field(default_factory=set)
    """The ids of savepoints. They belong to the user, so an attempt restores none by itself (SUB-05)."""
    taken_over_checkpoints: set[int] = field(default_factory=set)
    """Checkpoints that were completed before this log begins."""
    offsets: dict[tuple[str, int], int] = field(default_factory=dict)
    """By source and checkpoint: the offset in the snapshot."""
    sends_one_per_record: dict[str, bool] = field(default_factory=dict)
    """By source: whether it sends exactly one record for each record that it reads."""
    sinks: dict[str, Replayed] = field(default_factory=dict)
    """By task: the sink with its durable part, over all attempts."""
    sink_snapshots: dict[str, list[SinkSnapshot]] = field(default_factory=lambda: defaultdict(list))
    """By sink: the snapshots from which an attempt may restore, ascending."""
    logged_attempts: dict[str, list[int]] = field(default_factory=dict)
    """By task: the attempts of which the log has a file."""
    undelivered: dict[tuple[int, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    """By attempt and task: the completed checkpoints of which the task was not notified yet."""
    taken_over_sinks: set[tuple[int, str]] = field(default_factory=set)
    """(attempt, sink): the sinks that a rescaling removed and whose transactions another sink took over."""
    attempts_with_completion: set[int] = field(default_factory=set)
    """Attempts that have completed a checkpoint. No later attempt may restore an older checkpoint."""
    rules: set[str] = field(default_factory=set)
    """The ids of the rules that fired."""
    events: int = 0
    """The number of replayed events that agree with the model."""
    modes: set[str] = field(default_factory=set)
    """The modes of the gates."""
    sent: dict[tuple[int, str, int], dict[str, int]] = field(default_factory=dict)
    """By (attempt, sender, checkpoint): the number of records sent to each receiver before the barrier."""
    overtaken: dict[tuple[int, str, int], dict[str, int]] = field(default_factory=dict)
    """By the key of `sent`, then by receiver: the records that the barrier overtook and the sender stored."""
    recovered: dict[tuple[int, str, str], int] = field(default_factory=dict)
    """By (attempt, sender, receiver): the restored records in flight, of sender and receiver together."""
    record: Record | None = None
    """Receives every replayed event; None if the caller does not show them."""
    remember: bool = True
    """Whether steps of the model are cached (`conformance.observe.memo`)."""
    taken: Taken = field(default_factory=Taken)
    """How often each cached transition was taken since the last `add_up`."""
    cuts_compared: int = 0
    """The number of barriers at which the receiver's record count was compared with the sender's.

    Where barriers overtake, the number of channels of complete checkpoints that were compared (UNAL-37).
    """

    @property
    def is_shaped(self) -> bool:
        """Whether lines of a known shape are not parsed again."""
        return self.remember and self.record is None

    def replayed(self, component: str, config: dict[str, Any]) -> Replayed:
        """Return a new model of the component. Its steps are cached unless `record` needs each state."""
        if self.is_shaped:
            return replayed(component, config)
        plain = ReplayedCoordinator if component == "coordinator" else Replayed
        return plain(component, config, self.record)

    def add_up(self) -> None:
        """Add the events, rules and situations of the cached transitions that were taken to those of the run.

        The caller does this before it reads them.
        """
        for outcome, times in self.taken.counts.items():
            self.events += times
            self.rules.update(outcome.rules)
            for situation in outcome.situations:
                self.witnessed.add({situation: times})
        self.rules |= self.taken.rules
        self.taken.counts.clear()
        self.taken.rules.clear()

    def forget(self, checkpoint: int, attempt: int) -> None:
        """Drop all data about checkpoints below `checkpoint`, and about attempts before `attempt`.

        The ids of completed checkpoints stay.
        """
        self.causes.forget(checkpoint, attempt)
        for source in [one for one in self.offsets if one[1] < checkpoint]:
            del self.offsets[source]
        for records in (self.sent, self.overtaken):
            for at in [at for at in records if at[2] < checkpoint or at[0] < attempt]:
                del records[at]
        for between in [one for one in self.recovered if one[0] < attempt]:
            del self.recovered[between]
        for undelivered in self.undelivered.values():
            undelivered.difference_update([one for one in undelivered if one < checkpoint])


@contextmanager
def without_collection() -> Iterator[None]:
    """Turn Python's cyclic garbage collection off within the context.

    A replay makes many objects and no cycles, so each collection would take time and free nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
