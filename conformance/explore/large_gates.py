"""Searches gates with far more ids than the explorer can search, by kernels that agree with it on few ids.

With ids up to UP_TO a kernel must count as many states and transitions as the explorer. The same kernel then
searches with all ids. The kernels use numpy: numba searches faster, but needs seconds to compile each kernel
that is not in its cache, which pays off only for larger models.
"""

from functools import partial
from typing import NamedTuple

from model.checker.bounds import Bounded, bounded_gate
from model.checker.closed_model import ClosedModel
from model.checker.compiled.columns import explore_columns
from model.checker.compiled.moves import program_of
from model.checker.explore import Violation, explore
from model.gate.profiles import NEWEST, PROFILES, Profile
from model.properties import Property

UP_TO = 3
"""The highest id of the small models."""


class LargeGate(NamedTuple):
    """A closed model in two sizes."""

    small: ClosedModel
    """The model with ids up to UP_TO."""
    large: Bounded


class Searched(NamedTuple):
    """The result of the kernel with all ids."""

    states: int
    transitions: int
    violation: Violation | None
    disagreement: str
    """The results of explorer and kernel for the small model, if they differ; else empty."""


def large_gate_models() -> tuple[LargeGate, ...]:
    """The models that a verification searches."""
    return (
        _gate(3, 30),
        _gate(3, 16, injects=True),
        *(
            _gate(3, 30, ends_count=False, polled=False, profile=PROFILES[name])
            for name in ("flink-1.9", "flink-1.13")
        ),
    )


def _gate(
    channels: int,
    ids: int,
    *,
    ends_count: bool = True,
    polled: bool = True,
    profile: Profile = NEWEST,
    injects: bool = False,
) -> LargeGate:
    sized = partial(
        bounded_gate, channels, counts_as_aligned=ends_count, polled=polled, profile=profile, injects=injects
    )
    return LargeGate(sized(UP_TO).closed, sized(ids))


def searched(one: LargeGate, properties: tuple[Property, ...]) -> Searched:
    """Compare explorer and kernel on the small model, and search the large model with the kernel."""
    program = program_of(*one.large, properties)
    graph = explore(one.small, properties, keep_transitions=False)
    few = explore_columns(program, UP_TO)
    expected = _counts(len(graph.nodes), graph.transition_count, graph.violation)
    counted = _counts(few.states, few.transitions, few.violation)
    disagreement = (
        "" if counted == expected else f"with ids up to {UP_TO} explorer: {expected}, kernel: {counted}"
    )
    found = explore_columns(program)
    return Searched(found.states, found.transitions, found.violation, disagreement)


def _counts(states: int, transitions: int, violation: Violation | None) -> str:
    """The counts of a search; or, if a property is broken, the number of events after which it ended."""
    if violation is not None:
        return f"{', '.join(violation.rules)} broken after {len(violation.run)} events"
    return f"{states:,} states and {transitions:,} transitions"
