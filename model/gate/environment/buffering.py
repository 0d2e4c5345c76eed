"""Closed models of the gate that stores items (spec/gate/BufferingModel.tla).

The channels are those of `model.gate.environment.aligned.closed_gate`. They also deliver records.
"""

from collections.abc import Iterator

from model.checker.closed_model import ClosedModel, Environment
from model.events import Event
from model.gate import buffering
from model.gate.buffering import PAGE_BYTES, UNLIMITED, Buffer
from model.gate.environment.aligned import closed_gate
from model.gate.events import EndOfPartition, Record
from model.gate.profiles import PROFILES
from model.steps import step_of

OF_RECORDS = 1
"""The value of every record in these closed models. The barriers around a record show its position."""


def closed_buffer(
    channels: int, ids: int, stored: int, limit: int = UNLIMITED, *, aligning: bool = False
) -> ClosedModel:
    """A gate of Flink 1.9 that stores at most `stored` items. `limit` is a number of items.

    `aligning`: in the initial state every channel except the last one has delivered barrier 1. The next ids
    of these channels are 2 or more. No channel ends. So the gate replays stored items of several channels,
    and these items begin a new alignment.
    """
    profile = PROFILES["flink-1.9"]
    inner = closed_gate(channels, ids, counts_as_aligned=False, polled=False, profile=profile)

    def offers(buffer: Buffer) -> Iterator[tuple[str, Event]]:
        full = len(buffer.stored) >= stored
        for action, event in inner.offers(buffer.gate):
            channel = event[0]
            assert type(channel) is int
            if buffering.has_ended(buffer, channel) or (full and buffer.gate.blocked[channel]):
                continue
            if not (aligning and type(event) is EndOfPartition):
                yield action, event
        for channel in range(channels):
            if not buffering.has_ended(buffer, channel) and not (full and buffer.gate.blocked[channel]):
                yield "Record", Record(channel, OF_RECORDS)

    def allows(last: Environment, event: Event) -> Environment | None:
        return inner.allows(last, event)

    bytes_at_most = limit if limit == UNLIMITED else limit * PAGE_BYTES
    start = buffering.new_buffer(channels, False, profile, bytes_at_most)
    last = (0,) * channels
    if aligning:
        blocked = (*(True,) * (channels - 1), False)
        start = start._replace(gate=start.gate._replace(current=1, pending=True, blocked=blocked))
        last = (*(2,) * (channels - 1), 0)
    limited = "" if limit == UNLIMITED else f", limit {limit}"
    begun = ", aligning" if aligning else ""
    return ClosedModel(
        f"storing gate of {channels} channels, ids to {ids}, at most {stored} stored{limited}{begun}",
        "buffer",
        start,
        last,
        offers,
        allows,
        step_of("buffer"),
    )


def closed_buffer_models() -> tuple[ClosedModel, ...]:
    """The closed models of this module that the suite explores."""
    return (
        closed_buffer(2, 2, 2),
        closed_buffer(2, 2, 3, limit=1),
        closed_buffer(3, 1, 2, limit=1),
        closed_buffer(3, 2, 4, aligning=True),
    )
