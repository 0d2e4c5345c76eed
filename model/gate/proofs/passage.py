"""The cases of a polled gate of unaligned checkpoints, with and without waiting items."""

from collections.abc import Iterator

from model.checker.prove import Case
from model.checker.symbolic import symbolic_like
from model.events import Advance
from model.gate.alignment import NO_OPTIONS
from model.gate.events import Announce, Cancel, EndOfPartition, Inject, OptionedBarrier, Record
from model.gate.polled_unaligned_gate import Item, Passage
from model.gate.proofs.unaligned import is_allowed, symbolic_gate
from model.steps import step_of


def all_passage_cases() -> Iterator[Case]:
    """All cases of the published proofs: two channels in mode alternating, and at most one waiting item."""
    yield from passage_cases(())
    for item in _items(2, "waiting.0"):
        yield from passage_cases((item,))
    yield from reordered_cases()


def thorough_passage_cases() -> Iterator[Case]:
    """The additional cases of a thorough verification: the other modes."""
    for alternating, counts in ((True, False), (False, True), (False, False)):
        yield from passage_cases((), alternating=alternating, counts_as_aligned=counts)
        for item in _items(2, "waiting.0"):
            yield from passage_cases((item,), alternating=alternating, counts_as_aligned=counts)


def passage_cases(
    waiting: tuple[Item, ...], *, alternating: bool = True, counts_as_aligned: bool = True
) -> Iterator[Case]:
    """Yields every event at a gate of two channels in any state, with these waiting items."""
    options = symbolic_like(NO_OPTIONS, "event")
    injected = Inject(symbolic_like(0, "event.checkpoint"), *options)
    for event in (*_items(2, "event"), injected, Advance(symbolic_like(0, "event.ms"))):
        yield _case(2, waiting, event, alternating=alternating, counts_as_aligned=counts_as_aligned)


def reordered_cases() -> Iterator[Case]:
    """The first waiting item blocks its channel again: the gate reads the third item, not the second."""
    waiting = (
        OptionedBarrier(0, symbolic_like(0, "waiting.0.checkpoint"), *NO_OPTIONS),
        Record(0, symbolic_like(0, "waiting.1.value")),
        Record(1, symbolic_like(0, "waiting.2.value")),
    )
    yield _case(3, waiting, Cancel(2, symbolic_like(0, "event.checkpoint")))


def _items(channels: int, name: str) -> Iterator[Item]:
    """An item of every class on each channel."""
    checkpoint, options = symbolic_like(0, f"{name}.checkpoint"), symbolic_like(NO_OPTIONS, name)
    for channel in range(channels):
        yield Record(channel, symbolic_like(0, f"{name}.value"))
        yield OptionedBarrier(channel, checkpoint, *options)
        yield Announce(channel, checkpoint, *options)
        yield Cancel(channel, checkpoint)
        yield EndOfPartition(channel)


def _case(
    channels: int,
    waiting: tuple[Item, ...],
    event: Item | Inject | Advance,
    *,
    alternating: bool = True,
    counts_as_aligned: bool = True,
) -> Case:
    gate = symbolic_gate(channels, alternating=alternating, counts_as_aligned=counts_as_aligned)
    mode = "alternating" if alternating else "unaligned"
    return Case(
        "passage",
        f"{mode}, ends {'count' if counts_as_aligned else 'abort'}, {channels} channels, "
        f"{[item.kind for item in waiting]} waiting, {event.kind}",
        Passage(gate, waiting, symbolic_like((False,) * channels, "held")),
        event,
        step_of("passage"),
        is_allowed(gate, event),
    )
