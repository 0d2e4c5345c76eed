"""The symbolic cases of a gate with unaligned checkpoints, by shape (see `model.checker.shapes`).

Ids, options, timestamps, the time and the time-out are symbols. The cases enumerate the modes, and both
values of `counts_as_aligned`.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import z3

from model.checker.prove import Case
from model.checker.symbolic import bool_term, int_term, symbolic_like
from model.events import Advance, Event
from model.gate.alignment import ALIGNED, NO_OPTIONS, TIMED, UNALIGNED, Options
from model.gate.events import (
    Announce,
    Cancel,
    EndOfPartition,
    Inject,
    OptionedBarrier,
    ReceiveBarrier,
    RunMail,
)
from model.gate.profiles import NEWEST, PROFILES, Profile
from model.gate.unaligned import UnalignedGate, new_gate
from model.steps import step_of


def symbolic_gate(
    channels: int, *, alternating: bool, counts_as_aligned: bool, profile: Profile = NEWEST
) -> UnalignedGate:
    """A gate with `channels` channels in any state in which it has not failed."""
    gate: UnalignedGate = symbolic_like(new_gate(channels, True, alternating=False, timeout=0), "gate")
    gate = gate._replace(
        failed=False, alternating=alternating, counts_as_aligned=counts_as_aligned, profile=profile
    )
    if not alternating:
        gate = gate._replace(overtaking=True, announced=(False,) * channels)
    if not (profile.repeats_count or profile.overtaking_counts_repeats):
        gate = gate._replace(repeats=0)
    return gate if profile.times_from_first else gate._replace(since=0)


def unaligned_cases(
    channels: int, *, alternating: bool, counts_as_aligned: bool, profile: Profile = NEWEST
) -> Iterator[Case]:
    """A gate with `channels` channels in any state, and every event that may arrive."""
    gate = symbolic_gate(
        channels, alternating=alternating, counts_as_aligned=counts_as_aligned, profile=profile
    )
    mode = "alternating" if alternating else "unaligned"
    ends = "ends count" if counts_as_aligned else "ends abort"
    for event, label in _events(channels, injects=profile.ends_count):
        yield Case(
            "unaligned",
            f"{profile.name}, {mode}, {ends}, {channels} channels, {label}",
            gate,
            event,
            step_of("unaligned"),
            is_allowed(gate, event),
        )


def _events(channels: int, *, injects: bool) -> Iterator[tuple[Event, str]]:
    checkpoint = symbolic_like(0, "event.checkpoint")
    options = symbolic_like(NO_OPTIONS, "event")
    for channel in range(channels):
        yield OptionedBarrier(channel, checkpoint, *options), f"barrier on {channel}"
        yield Announce(channel, checkpoint, *options), f"announce on {channel}"
        yield Cancel(channel, checkpoint), f"cancel on {channel}"
        yield EndOfPartition(channel), f"end_of_partition on {channel}"
    if injects:
        yield Inject(checkpoint, *options), "inject"
    yield Advance(symbolic_like(0, "event.ms")), "advance"


def is_allowed(gate: UnalignedGate, event: Any) -> tuple[z3.BoolRef, ...]:  # noqa: ANN401 - an Event
    """The assumptions about an event: its channel is open, ids and times are not negative, options valid."""
    if type(event) is RunMail:
        return ()
    amounts = []
    assumptions: tuple[z3.BoolRef, ...] = ()
    if type(event) is Advance:
        amounts.append(event.ms)
    optioned = type(event) is OptionedBarrier or type(event) is ReceiveBarrier
    if optioned or type(event) is Announce or type(event) is Inject:
        amounts += [event.checkpoint, event.timestamp]
        assumptions = _are_options(Options(event.alignment, event.savepoint, event.timestamp))
    if type(event) is Cancel:
        amounts.append(event.checkpoint)
    opened = () if type(event) is Advance or type(event) is Inject else (gate.closed[event.channel],)
    return (
        *assumptions,
        *(int_term(amount) >= 0 for amount in amounts),
        *(z3.Not(bool_term(closed)) for closed in opened),
    )


def _are_options(options: Options) -> tuple[z3.BoolRef, ...]:
    """The alignment is one of the four kinds, and a savepoint is not unaligned."""
    alignment = int_term(options.alignment)
    overtakes = z3.And(bool_term(options.savepoint), alignment == UNALIGNED)
    return (alignment >= ALIGNED, alignment <= TIMED, z3.Not(overtakes))


OLDER = tuple(PROFILES[name] for name in ("flink-1.11", "flink-1.12", "flink-1.13"))
"""The generations with unaligned checkpoints in which the end of a channel aborts a checkpoint."""
IN_1_14 = PROFILES["flink-1.14.0"]


def all_unaligned_cases(channels: int) -> Iterator[Case]:
    """All cases of the published proofs: one and two channels in each mode and generation.

    1.14 differs from newer releases only in savepoints, which may also continue unaligned. One channel
    suffices for this difference.
    """
    for count, alternating in product(range(1, min(channels, 2) + 1), (True, False)):
        for counts in (True, False):
            yield from unaligned_cases(count, alternating=alternating, counts_as_aligned=counts)
        for profile in OLDER:
            yield from unaligned_cases(
                count, alternating=alternating, counts_as_aligned=False, profile=profile
            )
    yield from unaligned_cases(1, alternating=True, counts_as_aligned=True, profile=IN_1_14)


def thorough_unaligned_cases() -> Iterator[Case]:
    """Cases outside the published proofs: three channels in the newest generation, with time-outs."""
    yield from unaligned_cases(3, alternating=True, counts_as_aligned=True)
