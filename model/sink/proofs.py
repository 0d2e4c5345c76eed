"""The symbolic cases of the sink: any ids, by the numbers of transactions and snapshots.

The numbers have no bound in the protocol. Every step within `is_within` leads to a shape of these cases.
"""

from collections.abc import Iterator
from itertools import product

import z3

from model.checker.prove import Case
from model.checker.symbolic import bool_term, int_term, symbolic_like
from model.events import NONE, Close, Crash, Event
from model.sink import two_phase_commit
from model.sink.events import (
    AbortNotification,
    CompleteNotification,
    FailingCompletion,
    FailingRestore,
    Finish,
    Restore,
    SnapshotRequest,
    WriteRequest,
)
from model.sink.two_phase_commit import NEWEST_SINK, SINK_PROFILES, Filed, Sink, SinkProfile, SinkSnapshot
from model.steps import step_of

RUNNING = (
    WriteRequest(0),
    SnapshotRequest(0),
    CompleteNotification(0),
    FailingCompletion(0, 0),
    AbortNotification(0),
    Finish(),
    Close(),
    Crash(),
)
RESTORING = (Restore(0), FailingRestore(0, 0))
Shape = tuple[int, int, tuple[int, ...]]
"""The numbers of filed and of committed transactions, and for each snapshot that of filed ones."""
LARGER: tuple[Shape, ...] = ((2, 2, ()), (0, 2, (2,)), (0, 1, (0, 1)))
"""Shapes beyond the sizes within which every step leads to a shape of these proofs."""


def all_sink_cases() -> Iterator[Case]:
    """Each event in each shape; the older generation knows no snapshot here."""
    for profile in SINK_PROFILES.values():
        taken: tuple[tuple[int, ...], ...] = ((), (0,), (1,)) if profile is NEWEST_SINK else ((),)
        for filed, committed, snapshots in product(range(3), range(3), taken):
            if filed + committed <= 2:
                yield from sink_cases(profile, (filed, committed, snapshots), RUNNING)
                if not filed:
                    yield from sink_cases(profile, (filed, committed, snapshots), RESTORING)
    for shape in LARGER:
        yield from sink_cases(NEWEST_SINK, shape, RESTORING if shape[2] else RUNNING)


def is_within(sink: Sink) -> bool:
    """Whether the numbers are those of the shapes above."""
    most = 1 if sink.profile is NEWEST_SINK else 0
    filed = all(len(taken.pending) <= 1 for taken in sink.snapshots)
    return len(sink.pending) + len(sink.committed) <= 2 and len(sink.snapshots) <= most and filed


def sink_cases(profile: SinkProfile, shape: Shape, events: tuple[Event, ...]) -> Iterator[Case]:
    """The events on a sink with as many transactions and snapshots."""
    pending, committed, snapshots = shape
    filed = Filed(0, 0)
    example = two_phase_commit.new_sink(profile)._replace(
        pending=(filed,) * pending,
        committed=(0,) * committed,
        snapshots=tuple(SinkSnapshot(0, 0, (filed,) * number) for number in snapshots),
    )
    state = symbolic_like(example, "sink")._replace(running=events is not RESTORING)
    for event in events:
        symbolic = symbolic_like(event, "event")
        yield Case(
            "sink",
            f"{profile!r}, {pending} filed, {committed} committed, snapshots with {snapshots}, {event[-1]}",
            state,
            symbolic,
            step_of("sink"),
            _permitted(state, symbolic),
        )


def _permitted(sink: Sink, event: Event) -> tuple[z3.BoolRef, ...]:
    """What the environment guarantees: ids of snapshots grow, and a commit that throws is due.

    A restore is of the newest completed checkpoint: a transaction that was open in it is not committed.
    """
    unfinished = z3.Not(bool_term(sink.finished))
    taken = [int_term(snapshot.checkpoint) for snapshot in sink.snapshots]
    if type(event) is WriteRequest or type(event) is Finish:
        return (unfinished,)
    if type(event) is SnapshotRequest:
        return tuple(int_term(event.checkpoint) > before for before in taken)
    if type(event) is FailingCompletion:
        return (z3.Or(*(_fails(event, filed) for filed in sink.pending)),)
    if type(event) is FailingRestore:
        return (
            z3.Or(
                *(
                    z3.And(
                        int_term(event.checkpoint) == int_term(snapshot.checkpoint),
                        int_term(event.fails) == int_term(filed.transaction),
                    )
                    for snapshot in sink.snapshots
                    for filed in snapshot.pending
                )
            ),
        )
    if type(event) is not Restore:
        return ()
    restored = int_term(event.checkpoint)
    return (
        z3.Or(restored == NONE, *(restored == known for known in taken)),
        *(
            z3.Implies(restored == int_term(snapshot.checkpoint), int_term(snapshot.open) != int_term(done))
            for snapshot in sink.snapshots
            for done in sink.committed
        ),
    )


def _fails(event: FailingCompletion, filed: Filed) -> z3.BoolRef:
    due = int_term(filed.checkpoint) <= int_term(event.checkpoint)
    return z3.And(due, int_term(event.fails) == int_term(filed.transaction))
