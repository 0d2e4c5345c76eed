"""The shapes of the reader that commits offsets: every number of snapshots up to the bound, any ids."""

from collections.abc import Iterator

import z3

from model.checker.prove import Case
from model.checker.symbolic import int_term, symbolic_like
from model.events import Crash
from model.offsets import offsets
from model.offsets.events import AbortNotification, CompleteNotification, RestoreOffsets, SnapshotOffsets
from model.offsets.offsets import Remembered
from model.steps import step_of

EVENTS = (
    SnapshotOffsets(0, 0),
    CompleteNotification(0),
    AbortNotification(0),
    Crash(),
    RestoreOffsets(0),
)


def offsets_cases(bound: int) -> Iterator[Case]:
    """A reader of this bound with every number of snapshots that it can remember, and any event."""
    for size in range(bound + 1):
        shape = offsets.new_reader(bound)._replace(remembered=(Remembered(0, 0),) * size)
        state = symbolic_like(shape, "reader")._replace(remembered_at_most=bound)
        for event in EVENTS:
            is_restore = type(event) is RestoreOffsets
            if is_restore and size:
                continue  # a crashed reader remembers no offsets (OFFSET-02)
            symbolic = symbolic_like(event, "event")
            promise: tuple[z3.BoolRef, ...] = (int_term(state.committed.checkpoint) >= -1,)
            if type(symbolic) is SnapshotOffsets:  # ids of a job only grow
                promise += (int_term(symbolic.checkpoint) > int_term(state.newest),)
            yield Case(
                "offsets",
                f"bound {bound}, {size} remembered, {event.kind}",
                state._replace(running=not is_restore),
                symbolic,
                step_of("offsets"),
                promise,
            )


def all_offsets_cases() -> Iterator[Case]:
    """All cases of the published proofs."""
    for bound in (1, 2, 3):
        yield from offsets_cases(bound)
