"""The symbolic cases of all proofs, by shape: channels, tasks and collections of declared sizes.

Ids, offsets, handles and times are symbols and represent every value. A shape fixes only their numbers.
Fields that a job never changes (the number of retained and of concurrent checkpoints) are concrete values,
which the cases enumerate. The *published proofs* are those of `all_cases`. Every verification runs them.
"""

from collections.abc import Iterable, Iterator

from model.channel.proofs import all_channel_cases, thorough_channel_cases
from model.checker.prove import Case, start_case
from model.checker.symbolic import formula
from model.component_modules import PROVED, part_of
from model.coordinator.proofs.claim_modes import all_claim_cases
from model.coordinator.proofs.cleaning import all_cleaning_cases
from model.coordinator.proofs.closed import closed_coordinators, outside
from model.coordinator.proofs.coordinator import all_coordinator_cases, thorough_coordinator_cases
from model.coordinator.proofs.failures_and_ends import ending_cases, thorough_ending_cases
from model.coordinator.proofs.shared_state import all_file_cases, thorough_file_cases
from model.coordinator.proofs.trigger import beginning_cases, thorough_beginning_cases
from model.dataflow.proofs import all_dataflow_cases
from model.gate.profiles import NEWEST, PROFILES
from model.gate.proofs.aligned import blocked_again_cases, gate_cases, history_cases, network_cases
from model.gate.proofs.modes import mode_cases
from model.gate.proofs.passage import thorough_passage_cases
from model.gate.proofs.unaligned import thorough_unaligned_cases
from model.sink.proofs.sink import all_sink_cases
from model.sizes import SIZES
from model.source.proofs import all_source_cases
from model.store.proofs.store import all_store_cases
from model.subtask.proofs.subtask import all_subtask_cases


def all_cases(*, channels: int = 4) -> Iterator[Case]:
    """Yields the cases of the published proofs: first new components, then steps."""
    cases = tuple(step_cases(channels))
    yield from start_cases(cases)
    yield from all_dataflow_cases()
    yield from cases


def start_cases(cases: Iterable[Case]) -> Iterator[Case]:
    """Yields a new component for each size and configuration of the cases. These begin the induction."""
    seen: set[str] = set()
    for case in cases:
        size = SIZES[case.component]
        start, permits = size.new(case.state), size.permits
        if (shape := f"{case.component} {start!r}") not in seen:
            seen.add(shape)
            bounds = () if permits is None else (formula(lambda: permits(start)),)  # noqa: B023 - called here
            yield start_case(case.component, start, *bounds)


def step_cases(channels: int) -> Iterator[Case]:
    """Yields a case for each class of event in each shape. `channels`: the maximum number of channels."""
    for count in range(1, channels + 1):
        yield from gate_cases(count)
    for profile in PROFILES.values():
        if profile is not NEWEST:
            for count in range(1, min(channels, 3) + 1):
                yield from gate_cases(count, profile)
    for count, waiting in ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (4, 0), (4, 1)):
        yield from network_cases(count, waiting)
    yield from blocked_again_cases()
    for profile in PROFILES.values():
        for count in range(1, min(channels, 3) + 1):
            yield from history_cases(count, profile)
    yield from mode_cases(channels)
    yield from all_channel_cases()
    yield from all_store_cases()
    yield from all_subtask_cases()
    yield from all_source_cases()
    yield from all_sink_cases()
    for closed in closed_coordinators():
        yield from closed.cases()
    for family in (
        *(all_coordinator_cases, ending_cases, beginning_cases, all_file_cases),
        *(all_cleaning_cases, all_claim_cases),
    ):
        yield from outside(family())
    for name in PROVED:
        yield from part_of(name, "proofs", f"all_{name}_cases")()


def thorough_cases() -> Iterator[Case]:
    """Yields the additional cases of a thorough verification: larger shapes. New components come first."""
    cases = tuple(thorough_step_cases())
    yield from start_cases(cases)
    yield from cases


def thorough_step_cases() -> Iterator[Case]:
    """Yields a case for each class of event in each larger shape."""
    yield from thorough_unaligned_cases()
    yield from thorough_passage_cases()
    yield from thorough_channel_cases()
    yield from thorough_coordinator_cases()
    yield from thorough_ending_cases()
    yield from thorough_beginning_cases()
    yield from thorough_file_cases()
