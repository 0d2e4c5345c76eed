"""The symbolic cases of the reader that commits its offsets, with any ids and up to three snapshots.

`model.checker.prove` proves rules OFFSET-01 to OFFSET-07 on them.
"""

from collections.abc import Iterator

import z3

from model.checker.induction import Size
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


SIZE = Size(
    {"remembered snapshots": lambda reader: reader.remembered_at_most},
    {},
    sends=lambda reader, event: reader.running is not (type(event) is RestoreOffsets),
    new=lambda reader: offsets.new_reader(reader.remembered_at_most),
)
"""The proofs cover every number of remembered snapshots within the bounds of the cases."""


def offsets_cases(bound: int) -> Iterator[Case]:
    """Yields each class of event at a reader that remembers 0 to `bound` snapshots, its maximum."""
    for size in range(bound + 1):
        shape = offsets.new_reader(bound)._replace(remembered=(Remembered(0, 0),) * size)
        state = symbolic_like(shape, "reader")._replace(remembered_at_most=bound)
        for event in EVENTS:
            is_restore = type(event) is RestoreOffsets
            if is_restore and size:
                continue  # a crashed reader remembers no offsets (OFFSET-02)
            symbolic = symbolic_like(event, "event")
            assumptions: tuple[z3.BoolRef, ...] = ()
            if type(symbolic) is SnapshotOffsets:  # ids of a job only grow
                assumptions = (int_term(symbolic.checkpoint) > int_term(state.newest),)
            yield Case(
                "offsets",
                f"bound {bound}, {size} remembered, {event.kind}",
                state._replace(running=not is_restore),
                symbolic,
                step_of("offsets"),
                assumptions,
            )


def all_offsets_cases() -> Iterator[Case]:
    """The cases of a reader with bounds 1 to 3."""
    for bound in (1, 2, 3):
        yield from offsets_cases(bound)
