"""The cases of the gate that stores items of blocked channels, with up to two stored items."""

from collections.abc import Iterator

from model.checker.prove import Case
from model.gate.buffering import PAGE_BYTES, UNLIMITED, Buffer
from model.gate.profiles import PROFILES
from model.gate.proofs.aligned import held_back, is_open, next_items, symbolic_gate
from model.steps import step_of


def buffer_cases(channels: int, stored: int, limit: int) -> Iterator[Case]:
    """Yields every item that may arrive at a gate of Flink 1.9 with `stored` stored items.

    `limit`: the maximum number of stored items, -1 for no limit.
    """
    gate = symbolic_gate(channels, PROFILES["flink-1.9"])._replace(counts_as_aligned=False)
    bytes_at_most = limit if limit == UNLIMITED else limit * PAGE_BYTES
    for held in held_back(channels, stored):
        for item in next_items(channels, held):
            yield Case(
                "buffer",
                f"{channels} channels, {[one.kind for one in held]} stored, limit {limit}, {item.kind}",
                Buffer(gate, held, (), bytes_at_most),
                item,
                step_of("buffer"),
                is_open(gate, item),
            )


def all_buffer_cases() -> Iterator[Case]:
    """All cases of the published proofs."""
    for channels, stored, limit in ((1, 0, -1), (2, 0, -1), (2, 1, -1), (2, 2, -1), (2, 0, 1), (2, 1, 1)):
        yield from buffer_cases(channels, stored, limit)
