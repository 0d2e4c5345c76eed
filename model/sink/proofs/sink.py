"""The symbolic cases of the sink, with any ids, by the numbers of transactions and snapshots.

The numbers have no bound in the protocol. A step from a sink within `is_within` leads to a shape of these
cases.
"""

from collections.abc import Iterator
from itertools import product

import z3

from model.checker.prove import Case
from model.checker.symbolic import int_term, symbolic_like
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
from model.sink.two_phase_commit import (
    NEWEST_SINK,
    SINK_PROFILES,
    PreCommitted,
    Sink,
    SinkProfile,
    SinkSnapshot,
)
from model.steps import step_of

ENDING = (Close(), Crash())
NOTIFIED = (CompleteNotification(0), FailingCompletion(0, 0), AbortNotification(0))
OF_THE_INPUT = (WriteRequest(0), Finish())
"""The events that must not follow the end of the input."""
RESTORING = (Restore(0), FailingRestore(0, 0))
"""The events of a sink whose task has ended. Only these sinks are restored."""
EVENTS: tuple[Event, ...] = (SnapshotRequest(0), *NOTIFIED, *ENDING, *OF_THE_INPUT, *RESTORING)
Shape = tuple[int, int, tuple[int, ...]]
"""The numbers of pre-committed and committed transactions, and of pre-committed ones for each snapshot."""
SHAPES: tuple[Shape, ...] = tuple(
    (filed, committed, snapshots)
    for filed, committed, snapshots in product(range(3), range(3), ((), (0,), (1,)))
    if filed + committed <= 2
)
LARGER: tuple[Shape, ...] = ((2, 2, ()), (0, 2, (2,)), (0, 1, (0, 1)))
"""Additional shapes: more transactions that one event commits, and an older snapshot."""


def all_sink_cases() -> Iterator[Case]:
    """Yields each event that `sends` permits, in each shape of each generation."""
    for profile in SINK_PROFILES.values():
        for shape in SHAPES:
            yield from sink_cases(profile, shape)
    for shape in LARGER:
        yield from sink_cases(NEWEST_SINK, shape)


def is_within(sink: Sink) -> bool:
    """Whether `SHAPES` contains the numbers of this sink."""
    filed = all(len(taken.pending) <= 1 for taken in sink.snapshots)
    return len(sink.pending) + len(sink.committed) <= 2 and len(sink.snapshots) <= 1 and filed


def sends(sink: Sink, event: Event) -> bool:
    """Whether the environment may send the event. No property of states implies this condition.

    After the end of the task, only a restore may follow. A commit may throw only if it is due.
    """
    if type(event) is FailingCompletion and not sink.pending:
        return False
    if type(event) is FailingRestore and not any(taken.pending for taken in sink.snapshots):
        return False
    ends = type(event) in map(type, OF_THE_INPUT) and sink.finished
    return not ends and sink.running is not (type(event) in map(type, RESTORING))


def sink_cases(profile: SinkProfile, shape: Shape) -> Iterator[Case]:
    """Yields the events at a sink with these numbers of transactions and snapshots, also after its end."""
    pending, committed, snapshots = shape
    filed = PreCommitted(0, 0)
    example = two_phase_commit.new_sink(profile)._replace(
        pending=(filed,) * pending,
        committed=(0,) * committed,
        snapshots=tuple(SinkSnapshot(0, 0, (filed,) * number) for number in snapshots),
    )
    for running, finished in ((True, False), (True, True), (False, False)):
        state = symbolic_like(example, "sink")._replace(running=running, finished=finished)
        for event in EVENTS:
            symbolic = symbolic_like(event, "event")
            if (running or not pending) and sends(state, symbolic):
                label = (
                    f"{pending} pre-committed, {committed} committed, snapshots with {snapshots}, {event[-1]}"
                )
                permitted = _permitted(state, symbolic)
                yield Case("sink", f"{profile!r}, {label}", state, symbolic, step_of("sink"), permitted)


def _permitted(sink: Sink, event: Event) -> tuple[z3.BoolRef, ...]:
    """The assumptions about an event: ids of snapshots grow, and the commit that throws is attempted.

    A restore takes the newest completed checkpoint. A transaction that was open in its snapshot is not
    committed.
    """
    taken = [int_term(snapshot.checkpoint) for snapshot in sink.snapshots]
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


def _fails(event: FailingCompletion, filed: PreCommitted) -> z3.BoolRef:
    due = int_term(filed.checkpoint) <= int_term(event.checkpoint)
    return z3.And(due, int_term(event.fails) == int_term(filed.transaction))
