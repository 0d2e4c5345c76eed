"""The sink with any number of pre-committed and committed transactions, and at most one snapshot.

The snapshot also holds any number of transactions. A predicate over ids represents the committed
transactions, because they ascend. The model inserts them one by one. `HELPERS` replaces this function by one
over ropes. A restore in which a commit throws ends early, so only `model.sink.proofs.sink` has cases for it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import z3

from model.checker.any_number.all_paths import disjunction
from model.checker.any_number.cases import RopeCase, start_case
from model.checker.any_number.frames import is_permitted
from model.checker.any_number.members import Behaviour, Group, Many
from model.checker.any_number.recompiled_model import Helpers, Reread
from model.checker.any_number.rope import Rope, cells_of
from model.checker.any_number.sequence_functions import any_
from model.checker.symbolic import SymbolicBool, SymbolicInt, bool_term, int_term, symbolic_like
from model.events import NONE, Event
from model.sink.events import FailingCompletion, FailingRestore, Restore, SnapshotRequest
from model.sink.proofs.sink import EVENTS, RESTORING
from model.sink.two_phase_commit import SinkProfile
from model.steps import name_of

FILED = Group("pre-committed transactions", distinct=True)
OF_SNAPSHOT = Group("transactions of the snapshot", distinct=True)
IDS = Group("ids of transactions", distinct=True)
"""The possible ids of transactions: from 1 up to a number that is larger than all used ids."""
SIZES = (FILED.size >= 0, OF_SNAPSHOT.size >= 0)


def with_committed(committed: tuple[int, ...], filed: tuple[Any, ...]) -> tuple[int, ...]:
    """`model.sink.two_phase_commit.with_committed` over ropes: the committed ids and the ids of `filed`."""
    before = [one.condition for cell in cells_of(committed) for one in cell.behaviours]
    index = IDS.variable
    added = any_(entry.transaction == SymbolicInt(index) for entry in filed)
    condition = disjunction([*before, bool_term(added)])
    return Rope((Many(IDS, index, [Behaviour(condition, (SymbolicInt(index),))], every=False),))


HELPERS: Mapping[str, Helpers] = {
    "model.event_frames": {"is_permitted": is_permitted},
    "model.sink.two_phase_commit": {"with_committed": with_committed},
}


def filed(reread: Reread, group: Group) -> Rope:
    """A rope with a pre-committed transaction and its checkpoint for each member of the group."""
    make = reread.module("model.sink.two_phase_commit").PreCommitted
    symbols: list[Callable[[z3.ArithRef], z3.ArithRef]] = [
        z3.Function(f"{part} of {group}", z3.IntSort(), z3.IntSort())
        for part in ("checkpoint", "transaction")
    ]
    value = make(*(SymbolicInt(symbol(group.variable)) for symbol in symbols))
    return Rope((Many(group, group.variable, [Behaviour(z3.BoolVal(True), (value,))], every=True),))


def committed_ids() -> Rope:
    """The committed transactions: a rope of the ids for which a predicate holds, ascending."""
    is_committed = z3.Function("is committed", z3.IntSort(), z3.BoolSort())
    case = Behaviour(is_committed(IDS.variable), (SymbolicInt(IDS.variable),))
    return Rope((Many(IDS, IDS.variable, [case], every=False),))


def sink_cases(reread: Reread, profile: SinkProfile) -> Iterator[RopeCase]:
    """Yields a new sink, and every event at a sink in any state: running, finished, and after its end."""
    sinks = reread.module("model.sink.two_phase_commit")
    finish = reread.module("model.sink.generations").finish
    properties = tuple(reread.module("model.sink.properties").SINK.properties)

    def step(state: Any, event: Event) -> Any:  # noqa: ANN401
        name = name_of(type(event))
        return finish(state) if name == "on_finish" else getattr(sinks, name)(state, *event[:-1])

    yield start_case("sink", sinks.new_sink(profile), properties, SIZES)
    snapshot = symbolic_like(sinks.SinkSnapshot(0, 0, ()), "snapshot")._replace(
        pending=filed(reread, OF_SNAPSHOT)
    )
    for running, finished in ((True, False), (True, True), (False, False)):
        for snapshots in ((), (snapshot,)):
            sink = symbolic_like(sinks.new_sink(profile), "sink")._replace(
                running=running,
                finished=finished,
                pending=filed(reread, FILED) if running else (),
                committed=committed_ids(),
                snapshots=snapshots,
            )
            enough = IDS.size > int_term(sink.next_transaction) + 1
            for event in EVENTS:
                symbolic = symbolic_like(event, "event")
                if _sends(running, finished, symbolic):
                    label = f"{profile!r}, {len(snapshots)} snapshots, {event[-1]}"
                    permitted = (enough, *SIZES, *_permitted(sink, symbolic))
                    yield RopeCase("sink", label, sink, symbolic, step, properties, permitted)


def _sends(running: bool, finished: bool, event: Event) -> bool:
    """Whether the environment may send the event. After the end of the task only a restore may follow.

    After the end of the input, no record and no second end may follow.
    """
    if type(event) is FailingRestore:
        return False
    if running is (type(event) in map(type, RESTORING)):
        return False
    return not (finished and name_of(type(event)) in ("on_write", "on_finish"))


def _permitted(sink: Any, event: Any) -> tuple[z3.BoolRef, ...]:  # noqa: ANN401
    """The assumptions about an event: see `model.sink.proofs.sink._permitted`."""
    taken = [int_term(snapshot.checkpoint) for snapshot in sink.snapshots]
    if type(event) is SnapshotRequest:
        return tuple(int_term(event.checkpoint) > before for before in taken)
    if type(event) is FailingCompletion:
        due = any_(
            SymbolicBool(
                z3.And(
                    int_term(one.checkpoint) <= int_term(event.checkpoint),
                    int_term(one.transaction) == int_term(event.fails),
                )
            )
            for one in sink.pending
        )
        return (bool_term(due),)
    if type(event) is not Restore:
        return ()
    restored = int_term(event.checkpoint)
    return (
        z3.Or(restored == NONE, *(restored == known for known in taken)),
        *(
            z3.Not(bool_term(any_(done == snapshot.open for done in sink.committed)))
            for snapshot in sink.snapshots
        ),
    )


def all_sink_cases(reread: Reread) -> Iterator[RopeCase]:
    """The sink in every generation."""
    for profile in reread.module("model.sink.two_phase_commit").SINK_PROFILES.values():
        yield from sink_cases(reread, profile)
