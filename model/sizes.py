"""For each component: the sizes for which the proofs hold, the initial states, and the possible events.

If a collection has no bound in the protocol, this module states a bound for the proofs. The proofs also cover
the first step that exceeds the bound, but no step after it. The cases of the proofs determine the other sizes
and the generations.
"""

from collections.abc import Mapping
from typing import Any

from model.channel.channel import new_channel
from model.channel.events import MakeUrgent
from model.channel.proofs import may_become_urgent
from model.checker.induction import Size
from model.component_modules import PROVED, part_of
from model.coordinator.proofs import closed
from model.coordinator.state import new_coordinator
from model.gate import (
    aligned,
    buffering,
    polled_gate,
    polled_unaligned_gate,
    tracking,
    two_threads,
    unaligned,
)
from model.gate.events import Inject, Injection
from model.gate.polled_gate import Watched, new_watched
from model.gate.polled_unaligned_gate import Passage
from model.gate.properties.polled import follow_an_end
from model.gate.two_threads import Threads
from model.sink.proofs import sink
from model.sink.two_phase_commit import new_sink
from model.source.events import Induce
from model.source.properties import PLAIN
from model.source.source_task import new_source
from model.store.store import new_store
from model.subtask.subtask import new_subtask


def _unaligned(gate: unaligned.UnalignedGate) -> unaligned.UnalignedGate:
    return unaligned.new_gate(
        len(gate.closed),
        gate.counts_as_aligned,
        gate.profile,
        alternating=gate.alternating,
        timeout=gate.timeout,
    )


def _inbox(inbox: polled_gate.Inbox) -> polled_gate.Inbox:
    gate = inbox.gate
    return polled_gate.new_inbox(len(gate.closed), gate.counts_as_aligned, gate.profile)


def _buffer(buffer: buffering.Buffer) -> buffering.Buffer:
    gate = buffer.gate
    return buffering.new_buffer(len(gate.closed), gate.counts_as_aligned, gate.profile, buffer.limit)


def _tracker(tracker: tracking.Tracker) -> tracking.Tracker:
    return tracking.new_tracker(
        len(tracker.closed), tracker.counts_as_aligned, tracker.profile, tracker.tracked_at_most
    )


def _passage(passage: Passage) -> Passage:
    gate = _unaligned(passage.gate)
    fresh = polled_unaligned_gate.new_passage(
        len(gate.closed),
        gate.counts_as_aligned,
        gate.profile,
        alternating=gate.alternating,
        timeout=gate.timeout,
    )
    return fresh._replace(gate=gate)


def _threads(threads: Threads) -> Threads:
    gate = _unaligned(threads.gate)
    fresh = two_threads.new_threads(len(gate.closed), gate.counts_as_aligned, gate.profile, gate.timeout)
    return fresh._replace(gate=gate)


def _watched(watched: Watched) -> Watched:
    gate = watched.gate
    return new_watched(len(gate.closed), gate.counts_as_aligned, gate.profile)


SIZES: Mapping[str, Size] = {
    "gate": Size(
        {"channels": lambda gate: len(gate.closed)},
        {},
        sends=lambda gate, event: gate.profile.ends_count or type(event) is not Injection,
        new=lambda gate: aligned.new_gate(len(gate.closed), gate.counts_as_aligned, gate.profile),
    ),
    "network": Size(
        {"channels": lambda inbox: len(inbox.gate.closed), "waiting items": lambda inbox: len(inbox.waiting)},
        {"waiting items": 1},
        sends=lambda inbox, event: _may_follow(inbox.waiting, event),
        new=_inbox,
    ),
    "history": Size(
        {"channels": lambda watched: len(watched.gate.closed)},
        {},
        sends=lambda watched, event: watched.gate.profile.ends_count or type(event) is not Injection,
        new=_watched,
    ),
    "buffer": Size(
        {
            "channels": lambda buffer: len(buffer.gate.closed),
            "stored items": lambda buffer: len(buffer.stored),
        },
        {"stored items": 2},
        sends=lambda buffer, event: _may_follow(buffer.stored, event),
        new=_buffer,
    ),
    "tracker": Size(
        {
            "channels": lambda tracker: len(tracker.closed),
            "tracked checkpoints": lambda tracker: tracker.tracked_at_most,
        },
        {"channels": 2, "tracked checkpoints": 2},
        new=_tracker,
    ),
    "unaligned": Size(
        {"channels": lambda gate: len(gate.closed)},
        {},
        sends=lambda gate, event: gate.profile.ends_count or type(event) is not Inject,
        new=_unaligned,
        permits=lambda gate: bool(gate.timeout >= 0),
    ),
    "passage": Size(
        {
            "channels": lambda passage: len(passage.gate.closed),
            "waiting items": lambda passage: len(passage.waiting),
        },
        {"channels": 2, "waiting items": 1},
        includes=lambda passage: passage.gate.alternating and passage.gate.counts_as_aligned,
        new=_passage,
        permits=lambda passage: bool(passage.gate.timeout >= 0),
    ),
    "threads": Size(
        {
            "channels": lambda threads: len(threads.gate.closed),
            "effects in the mail": lambda threads: len(threads.mail),
        },
        {"channels": 1, "effects in the mail": 2},
        new=_threads,
        permits=lambda threads: bool(threads.gate.timeout >= 0),
    ),
    "channel": Size(
        {
            "items at the sender": lambda channel: len(channel.output),
            "items at the receiver": lambda channel: len(channel.input),
        },
        {},
        includes=lambda channel: len(channel.output) + len(channel.input) <= 1 + channel.profile.passes_block,
        sends=lambda channel, event: type(event) is not MakeUrgent or may_become_urgent(channel.input),
        new=lambda channel: new_channel(channel.profile),
    ),
    "subtask": Size(
        {
            "running snapshots": lambda subtask: len(subtask.running),
            "remembered aborts": lambda subtask: subtask.remembered_at_most,
        },
        {"running snapshots": 2, "remembered aborts": 2},
        new=lambda subtask: new_subtask(subtask.remembered_at_most, subtask.profile, subtask.restored),
    ),
    "source": Size(
        {"awaited ids": lambda source: len(source.triggered) + len(source.ahead)},
        {"awaited ids": 2},
        sends=lambda source, event: source.external != PLAIN or type(event) is not Induce,
        new=lambda source: new_source(source.external, source.profile),
    ),
    "coordinator": Size(
        {
            "tasks": lambda coordinator: len(coordinator.tasks_run),
            "operator coordinators": lambda coordinator: coordinator.plan.coordinators,
            "hooks": lambda coordinator: coordinator.plan.hooks,
            "ms between periodic requests": lambda coordinator: coordinator.plan.interval,
            "retained checkpoints": lambda coordinator: coordinator.store.retain,
            "pending checkpoints": lambda coordinator: len(coordinator.pending),
            "waiting requests": lambda coordinator: len(coordinator.queue),
            "stored checkpoints": lambda coordinator: len(coordinator.store.entries),
            "durable checkpoints unknown to it": lambda coordinator: len(coordinator.unseen),
            "counted failures": lambda coordinator: len(coordinator.failures.counted),
            "shared files": lambda coordinator: len(coordinator.shared.registered),
        },
        {},
        includes=closed.is_within,
        sends=closed.sends,
        beyond=True,
        new=lambda coordinator: new_coordinator(coordinator.plan, coordinator.store.retain),
        permits=lambda made: bool(
            made.plan.timeout >= 1
            and made.plan.max_concurrent >= 1
            and made.plan.tolerable_failures >= -1
            and all(savepoint >= 1 for savepoint in made.plan.savepoint)
        ),
    ),
    "store": Size(
        {"retained checkpoints": lambda store: store.retain},
        {},
        includes=lambda store: store.open is True,
        new=lambda store: new_store(store.retain, store.profile),
    ),
    "sink": Size(
        {
            "pre-committed transactions": lambda sink: len(sink.pending),
            "committed transactions": lambda sink: len(sink.committed),
            "snapshots": lambda sink: len(sink.snapshots),
        },
        {},
        includes=sink.is_within,
        sends=sink.sends,
        new=lambda sink: new_sink(sink.profile),
    ),
    **{name: part_of(name, "proofs", "SIZE") for name in PROVED},
}
"""Maps a component to its sizes in the proofs. The dataflow has none: the explorer alone checks it."""


def _may_follow(waiting: tuple[Any, ...], event: Any) -> bool:  # noqa: ANN401 - an Item, or a trigger of the task
    return type(event) is Injection or not follow_an_end((*waiting, event))
