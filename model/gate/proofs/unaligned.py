"""The shapes over which the proofs of unaligned checkpoints range (see `model.checker.shapes`).

Ids, options, timestamps, the time and the time-out are symbols. The proofs enumerate the modes and whether
ends count.
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
    gate: UnalignedGate = symbolic_like(new_gate(channels, True), "gate")
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
    """The event's channel is open; ids and times are not negative; options are known ones."""
    amounts = [gate.first.timestamp]
    assumptions = _are_options(gate.first)
    if type(event) is Advance:
        amounts.append(event.ms)
    if type(event) is RunMail:
        return assumptions
    optioned = type(event) is OptionedBarrier or type(event) is ReceiveBarrier
    if optioned or type(event) is Announce or type(event) is Inject:
        amounts += [event.checkpoint, event.timestamp]
        assumptions += _are_options(Options(event.alignment, event.savepoint, event.timestamp))
    if type(event) is Cancel:
        amounts.append(event.checkpoint)
    opened = () if type(event) is Advance or type(event) is Inject else (gate.closed[event.channel],)
    return (
        *assumptions,
        *(int_term(amount) >= 0 for amount in amounts),
        *(z3.Not(bool_term(closed)) for closed in opened),
    )


def _are_options(options: Options) -> tuple[z3.BoolRef, ...]:
    """One of the four alignments; a savepoint is never unaligned."""
    alignment = int_term(options.alignment)
    overtakes = z3.And(bool_term(options.savepoint), alignment == UNALIGNED)
    return (alignment >= ALIGNED, alignment <= TIMED, z3.Not(overtakes))


DECIDING = (PROFILES["flink-1.11"], PROFILES["flink-1.12"])
"""The generations in which the first barrier of a checkpoint decides."""
OLDER = (*DECIDING, PROFILES["flink-1.13"])
"""The older generations that have unaligned checkpoints."""


def all_unaligned_cases(channels: int) -> Iterator[Case]:
    """All cases of the published proofs.

    Every one of one channel. Of two channels, those of a job with time-outs, and those of 1.11 and 1.12.
    """
    for alternating, counts in product((True, False), (True, False)):
        yield from unaligned_cases(1, alternating=alternating, counts_as_aligned=counts)
    for profile, alternating in product(OLDER, (True, False)):
        yield from unaligned_cases(1, alternating=alternating, counts_as_aligned=False, profile=profile)
    if channels > 1:
        yield from _of_two_in_time()
        for profile, alternating in product(DECIDING, (True, False)):
            yield from unaligned_cases(2, alternating=alternating, counts_as_aligned=False, profile=profile)


def _of_two_in_time() -> Iterator[Case]:
    for case in unaligned_cases(2, alternating=True, counts_as_aligned=True):
        if case.event[-1] not in ("announce", "inject"):
            yield case


def thorough_unaligned_cases() -> Iterator[Case]:
    """Cases outside the published proofs: all others of two channels. They take minutes."""
    known = {case.label for case in _of_two_in_time()}
    for alternating, counts in product((True, False), (True, False)):
        for case in unaligned_cases(2, alternating=alternating, counts_as_aligned=counts):
            if case.label not in known:
                yield case
    for alternating in (True, False):
        yield from unaligned_cases(2, alternating=alternating, counts_as_aligned=False, profile=OLDER[-1])
