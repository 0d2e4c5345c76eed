"""The proofs of the modes beside exactly-once: each mode has a room of its own."""

from collections.abc import Iterator

from model.cases.buffer import all_buffer_cases
from model.cases.overtaking import all_unaligned_cases
from model.cases.threads import all_threads_cases
from model.cases.tracking import all_tracker_cases
from model.engines.prove import Case


def mode_cases(channels: int) -> Iterator[Case]:
    """Every case of the published proofs, with at most so many channels."""
    yield from all_buffer_cases()
    yield from all_tracker_cases(channels)
    yield from all_unaligned_cases(channels)
    yield from all_threads_cases()
