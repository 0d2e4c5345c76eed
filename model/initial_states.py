"""The initial state of each component, with the sizes and the configuration of a given state."""

from collections.abc import Callable, Mapping
from typing import Any

from model.channel.channel import new_channel
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
from model.gate.polled_gate import Watched, new_watched
from model.gate.polled_unaligned_gate import Passage
from model.gate.two_threads import Threads
from model.offsets.offsets import new_reader
from model.sink.two_phase_commit import new_sink
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
    fresh = polled_unaligned_gate.new_passage(len(passage.gate.closed), passage.gate.counts_as_aligned)
    return fresh._replace(gate=_unaligned(passage.gate))


def _threads(threads: Threads) -> Threads:
    gate = _unaligned(threads.gate)
    fresh = two_threads.new_threads(len(gate.closed), gate.counts_as_aligned, gate.profile)
    return fresh._replace(gate=gate)


def _watched(watched: Watched) -> Watched:
    gate = watched.gate
    return new_watched(len(gate.closed), gate.counts_as_aligned, gate.profile)


INITIAL_STATES: Mapping[str, Callable[[Any], Any]] = {
    "gate": lambda gate: aligned.new_gate(len(gate.closed), gate.counts_as_aligned, gate.profile),
    "network": _inbox,
    "history": _watched,
    "buffer": _buffer,
    "tracker": _tracker,
    "unaligned": _unaligned,
    "passage": _passage,
    "threads": _threads,
    "channel": lambda channel: new_channel(channel.profile),
    "subtask": lambda subtask: new_subtask(subtask.remembered_at_most, subtask.profile),
    "source": lambda source: new_source(source.external, source.profile),
    "coordinator": lambda coordinator: new_coordinator(coordinator.plan, coordinator.store.retain),
    "store": lambda store: new_store(store.retain, store.profile),
    "sink": lambda sink: new_sink(sink.profile),
    "offsets": lambda reader: new_reader(reader.remembered_at_most),
}
"""By component of the proofs."""
PERMITTED: Mapping[str, Callable[[Any], bool]] = {
    "coordinator": lambda made: bool(
        made.plan.timeout >= 1 and made.plan.max_concurrent >= 1 and made.plan.tolerable_failures >= -1
    ),
    "unaligned": lambda gate: bool(gate.timeout >= 0),
    "passage": lambda passage: bool(passage.gate.timeout >= 0),
    "threads": lambda threads: bool(threads.gate.timeout >= 0),
}
"""The bounds of a configuration in the vocabulary, where the proofs have a symbol for it."""
