"""The cases of the two threads at a gate of Flink 1.11, with any ids and up to two effects in the mailbox."""

from collections.abc import Iterator

from model.checker.prove import Case
from model.checker.symbolic import symbolic_like
from model.events import Advance, Event
from model.gate.events import Cancel, EndOfPartition, OptionedBarrier, ReceiveBarrier, RunMail
from model.gate.profiles import PROFILES
from model.gate.proofs.unaligned import is_allowed, symbolic_gate
from model.gate.two_threads import Left, Threads
from model.steps import step_of


def threads_cases(channels: int, left: int) -> Iterator[Case]:
    """Yields any event at a gate with `channels` channels in any state and `left` effects in the mailbox."""
    gate = symbolic_gate(channels, alternating=False, counts_as_aligned=False, profile=PROFILES["flink-1.11"])
    mail = tuple(symbolic_like(Left(0, False, False), f"mail.{place}") for place in range(left))
    state = Threads(gate, symbolic_like(0, "read"), symbolic_like(False, "reading"), mail)
    checkpoint = symbolic_like(0, "event.checkpoint")
    options = symbolic_like((0, False, 0), "event.options")
    events: list[Event] = [RunMail(), Advance(symbolic_like(0, "event.ms"))]
    for channel in range(channels):
        events += [
            ReceiveBarrier(channel, checkpoint, *options),
            OptionedBarrier(channel, checkpoint, *options),
            Cancel(channel, checkpoint),
            EndOfPartition(channel),
        ]
    for event in events:
        yield Case(
            "threads",
            f"two threads, {channels} channels, {left} left, {event[-1]}",
            state,
            event,
            step_of("threads"),
            is_allowed(gate, event),
        )


def all_threads_cases() -> Iterator[Case]:
    """All cases of the published proofs."""
    for channels, left in ((1, 0), (1, 1), (1, 2), (2, 0)):
        yield from threads_cases(channels, left)
