"""Gates with any number of channels in the modes unaligned and alternating, in each generation that has them.

There are no cases for an injection, because its step is a loop over states: it counts a barrier on each open
channel in turn. `model.gate.proofs.unaligned` has such cases, for stated numbers of channels.
"""

from collections.abc import Iterator
from typing import Any

from model.checker.any_number.cases import RopeCase, start_case, step_by
from model.checker.any_number.recompiled_model import Reread
from model.checker.symbolic import symbolic_like
from model.events import Advance
from model.gate.alignment import NO_OPTIONS
from model.gate.events import Announce, Cancel, EndOfPartition, OptionedBarrier
from model.gate.profiles import NEWEST, PROFILES, Profile
from model.gate.proofs.any_number.channels import OWN, SIZES, by_channel, number_of
from model.gate.proofs.unaligned import is_allowed

FLAGS = ("arrived", "blocked", "announced", "closed")


def symbolic_gate(
    reread: Reread, profile: Profile, *, own: bool, alternating: bool, counts_as_aligned: bool
) -> Any:  # noqa: ANN401 - an UnalignedGate of the reread module
    """A gate in any state in which it has not failed."""
    flags = {name: by_channel(name, own=own) for name in FLAGS}
    empty = reread.module("model.gate.unaligned").new_gate(0, True, alternating=False, timeout=0)
    gate = symbolic_like(empty, "gate")._replace(
        **flags, failed=False, alternating=alternating, counts_as_aligned=counts_as_aligned, profile=profile
    )
    if not alternating:
        gate = gate._replace(overtaking=True, announced=(False,) * number_of(gate.closed))
    if not (profile.repeats_count or profile.overtaking_counts_repeats):
        gate = gate._replace(repeats=0)
    return gate if profile.times_from_first else gate._replace(since=0)


def unaligned_cases(
    reread: Reread, profile: Profile = NEWEST, *, alternating: bool = True, counts_as_aligned: bool = True
) -> Iterator[RopeCase]:
    """Yields a new gate, and every event except an injection at a gate in any state."""
    registry = reread.module("model.gate.properties.alternating").UNALIGNED_GATE
    properties = tuple(registry.properties)
    step = step_by(reread.module("model.gate.unaligned_generations").unaligned_steps)
    new = reread.module("model.gate.unaligned").new_gate
    timeout = symbolic_like(0, "gate.timeout")
    channels = number_of(by_channel("closed", own=True))
    started = new(channels, counts_as_aligned, profile, alternating=alternating, timeout=timeout)
    yield start_case("unaligned", started, properties, (*SIZES, timeout.term >= 0))
    checkpoint, options = symbolic_like(0, "event.checkpoint"), symbolic_like(NO_OPTIONS, "event")
    mode = "alternating" if alternating else "unaligned"
    ends = "ends count" if counts_as_aligned else "ends abort"
    for event in (
        OptionedBarrier(OWN, checkpoint, *options),
        Announce(OWN, checkpoint, *options),
        Cancel(OWN, checkpoint),
        EndOfPartition(OWN),
        Advance(symbolic_like(0, "event.ms")),
    ):
        gate = symbolic_gate(
            reread,
            profile,
            own=hasattr(event, "channel"),
            alternating=alternating,
            counts_as_aligned=counts_as_aligned,
        )
        label = f"{profile.name}, {mode}, {ends}, {event.kind}"
        yield RopeCase("unaligned", label, gate, event, step, properties, (*SIZES, *is_allowed(gate, event)))


def all_unaligned_cases(reread: Reread) -> Iterator[RopeCase]:
    """Both modes in every generation that has unaligned checkpoints."""
    for profile in PROFILES.values():
        if profile.has_unaligned:
            for counts in (True, False) if profile.ends_count else (False,):
                for alternating in (True, False):
                    yield from unaligned_cases(
                        reread, profile, alternating=alternating, counts_as_aligned=counts
                    )
