"""The proofs of the gate that stores items: up to two items stored, of every class and on every channel."""

from collections.abc import Iterator
from itertools import product

from model.checker.prove import Case, assume_invariants
from model.checker.symbolic import symbolic_like
from model.gate import polled_gate
from model.gate.buffering import PAGE_BYTES, UNLIMITED, Buffer
from model.gate.events import Barrier, Cancel, EndOfPartition, Record
from model.gate.profiles import PROFILES
from model.gate.proofs.aligned import arriving, follows_its_end, is_open, symbolic_gate
from model.properties import of_component
from model.steps import step_of


def buffer_cases(channels: int, stored: int, limit: int) -> Iterator[Case]:
    """A gate of Flink 1.9 in any state with `stored` items stored; `limit` in items, -1 for none."""

    def items(position: int) -> Iterator[polled_gate.Item]:
        for channel in range(channels):
            name = f"stored.{position}"
            yield Record(channel, symbolic_like(0, f"{name}.value"))
            yield Barrier(channel, symbolic_like(0, f"{name}.checkpoint"))
            yield Cancel(channel, symbolic_like(0, f"{name}.checkpoint"))
            yield EndOfPartition(channel)

    gate = symbolic_gate(channels, PROFILES["flink-1.9"])._replace(counts_as_aligned=False)
    sound = assume_invariants(gate, of_component("gate"))
    bytes_at_most = limit if limit == UNLIMITED else limit * PAGE_BYTES
    for held in product(*(tuple(items(position)) for position in range(stored))):
        ended = [item.channel for item in held if type(item) is EndOfPartition]
        if len(ended) != len(set(ended)) or follows_its_end(held):
            continue
        for channel in (channel for channel in range(channels) if channel not in ended):
            for event in (
                Record(channel, 0),
                Barrier(channel, 0),
                Cancel(channel, 0),
                EndOfPartition(channel),
            ):
                item = arriving(event)
                yield Case(
                    "buffer",
                    f"{channels} channels, {[one.kind for one in held]} stored, limit {limit}, {event.kind}",
                    Buffer(gate, held, (), bytes_at_most),
                    item,
                    step_of("buffer"),
                    (*sound, *is_open(gate, item), *(term for one in held for term in is_open(gate, one))),
                )


def all_buffer_cases() -> Iterator[Case]:
    """All cases of the published proofs."""
    for channels, stored, limit in ((1, 0, -1), (2, 0, -1), (2, 1, -1), (2, 2, -1), (2, 0, 1), (2, 1, 1)):
        yield from buffer_cases(channels, stored, limit)
