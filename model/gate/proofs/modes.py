"""The cases of gates in all modules except `aligned`."""

from collections.abc import Iterator

from model.checker.prove import Case
from model.gate.proofs.buffering import all_buffer_cases
from model.gate.proofs.passage import all_passage_cases
from model.gate.proofs.tracking import all_tracker_cases
from model.gate.proofs.two_threads import all_threads_cases
from model.gate.proofs.unaligned import all_unaligned_cases


def mode_cases(channels: int) -> Iterator[Case]:
    """All cases of the published proofs. `channels`: maximum for trackers and unaligned gates only."""
    yield from all_buffer_cases()
    yield from all_tracker_cases(channels)
    yield from all_unaligned_cases(channels)
    yield from all_passage_cases()
    yield from all_threads_cases()
