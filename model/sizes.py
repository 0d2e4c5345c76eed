"""The sizes of each component at which its rules are proved, and the events that its environment may send.

A bound is stated where a collection has none: the first step that leaves it is proved, too; what follows is
not. Numbers without a bound, and the generations, are those of the cases.
"""

from collections.abc import Mapping
from typing import Any

from model.channel.events import MakeUrgent
from model.channel.proofs import may_become_urgent
from model.checker.induction import Size
from model.coordinator.proofs import closed
from model.gate.events import Inject, Injection
from model.gate.properties.polled import follow_an_end
from model.offsets.events import RestoreOffsets
from model.sink.proofs import sink
from model.source.events import Induce
from model.source.properties import PLAIN

SIZES: Mapping[str, Size] = {
    "gate": Size(
        {"channels": lambda gate: len(gate.closed)},
        {},
        sends=lambda gate, event: gate.profile.ends_count or type(event) is not Injection,
    ),
    "network": Size(
        {"channels": lambda inbox: len(inbox.gate.closed), "waiting items": lambda inbox: len(inbox.waiting)},
        {"waiting items": 1},
        sends=lambda inbox, event: _may_follow(inbox.waiting, event),
    ),
    "history": Size(
        {"channels": lambda watched: len(watched.gate.closed)},
        {},
        sends=lambda watched, event: watched.gate.profile.ends_count or type(event) is not Injection,
    ),
    "buffer": Size(
        {
            "channels": lambda buffer: len(buffer.gate.closed),
            "stored items": lambda buffer: len(buffer.stored),
        },
        {"stored items": 2},
        sends=lambda buffer, event: _may_follow(buffer.stored, event),
    ),
    "tracker": Size(
        {
            "channels": lambda tracker: len(tracker.closed),
            "tracked checkpoints": lambda tracker: tracker.tracked_at_most,
        },
        {"channels": 2, "tracked checkpoints": 2},
    ),
    "unaligned": Size(
        {"channels": lambda gate: len(gate.closed)},
        {},
        sends=lambda gate, event: gate.profile.ends_count or type(event) is not Inject,
    ),
    "passage": Size(
        {
            "channels": lambda passage: len(passage.gate.closed),
            "waiting items": lambda passage: len(passage.waiting),
        },
        {"channels": 2, "waiting items": 1},
        includes=lambda passage: passage.gate.alternating and passage.gate.counts_as_aligned,
    ),
    "threads": Size(
        {
            "channels": lambda threads: len(threads.gate.closed),
            "effects in the mail": lambda threads: len(threads.mail),
        },
        {"channels": 1, "effects in the mail": 2},
    ),
    "channel": Size(
        {
            "items at the sender": lambda channel: len(channel.output),
            "items at the receiver": lambda channel: len(channel.input),
        },
        {},
        includes=lambda channel: len(channel.output) + len(channel.input) <= 1 + channel.profile.passes_block,
        sends=lambda channel, event: type(event) is not MakeUrgent or may_become_urgent(channel.input),
    ),
    "subtask": Size(
        {
            "running snapshots": lambda subtask: len(subtask.running),
            "remembered aborts": lambda subtask: subtask.remembered_at_most,
        },
        {"running snapshots": 2, "remembered aborts": 2},
    ),
    "source": Size(
        {"awaited ids": lambda source: len(source.triggered) + len(source.ahead)},
        {"awaited ids": 2},
        sends=lambda source, event: source.external != PLAIN or type(event) is not Induce,
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
    ),
    "store": Size(
        {"retained checkpoints": lambda store: store.retain},
        {},
        includes=lambda store: store.open is True,
    ),
    "sink": Size(
        {
            "filed transactions": lambda sink: len(sink.pending),
            "committed transactions": lambda sink: len(sink.committed),
            "snapshots": lambda sink: len(sink.snapshots),
        },
        {},
        includes=sink.is_within,
        sends=sink.sends,
    ),
    "offsets": Size(
        {"remembered snapshots": lambda reader: reader.remembered_at_most},
        {},
        sends=lambda reader, event: reader.running is not (type(event) is RestoreOffsets),
    ),
}
"""By component of the proofs; the composed dataflow is explored."""


def _may_follow(waiting: tuple[Any, ...], event: Any) -> bool:  # noqa: ANN401 - an Item, or a trigger of the task
    return type(event) is Injection or not follow_an_end((*waiting, event))
