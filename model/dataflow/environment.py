"""The dataflow closed by its environment: how many records, checkpoints, time-outs and failures.

Bounds are guards over the state itself; the environment remembers how many snapshots could not be
written. Actions have the names that they have in spec/Dataflow.tla, where channels and messages have no
bound and a message that is lost is one that stays in flight; with a bound it has to go.
"""

from functools import partial
from typing import NamedTuple

from model.checker.closed_model import ClosedModel, Environment, Offered, Offers, Portions
from model.coordinator.events import BEFORE, MAYBE
from model.coordinator.profiles import NEWEST_COORDINATOR, CoordinatorProfile
from model.dataflow.actions import (
    Deliver,
    Fail,
    Lose,
    Produce,
    Receive,
    ReceiveAtSink,
    SnapshotFails,
    StartCheckpoint,
    StoreWillFail,
    TimeOut,
    act,
    is_readable,
)
from model.dataflow.dataflow import Channel, Content, Dataflow, Wires, beginning, new_dataflow
from model.dataflow.messages import NOTIFICATIONS, TO_TASKS, TRIGGER, Message
from model.events import NONE, Event
from model.gate.events import Record
from model.store.store import CHECKPOINT, SAVEPOINT

UNBOUNDED = 1_000_000


MEMBERS = ("offsets", "inputs", "counted", "subtasks", "sunk", "records", "state.committed")
"""Collections of a dataflow that are never longer or shorter."""


class Scope(NamedTuple):
    """How far an exploration goes."""

    records: int
    """Of each source."""
    checkpoints: int
    """The highest id."""
    max_concurrent: int
    failures: int
    time_outs: int
    zombies: bool = False
    """What an attempt has sent outlives it."""
    room: int = 1
    """Records that a channel holds before its sender waits; barriers find room always."""
    in_flight: int = 2
    """Messages; with so many under way only they move, so there may be as many more as one step sends."""
    sources: int = 2
    types: tuple[int, ...] = (CHECKPOINT,)
    """Of what is asked for; a savepoint starts whatever is pending."""
    faults: tuple[int, ...] = ()
    """How the store may fail, once."""
    takes_coordinator: bool = False
    """A failure takes the coordinator with it."""
    declines: int = 0
    """Snapshots that cannot be written."""
    loses: bool = True
    """Notifications may be lost."""
    wires: Wires | None = None
    """Who hears of what, and when; None as `new_dataflow` has it."""
    profile: CoordinatorProfile = NEWEST_COORDINATOR


def closed_dataflow(scope: Scope) -> ClosedModel:
    """All that may happen within `scope`."""

    movers = movers_of(scope)
    cut = beginning(scope.sources, scope.records)
    growing = {"inputs.*": None, "output": None, "cuts": cut, "contents": Content(NONE, cut.sunk)}

    def offers(dataflow: Dataflow) -> Offered:
        for offered in movers:
            yield from offered(dataflow)

    def allows(declined: Environment, event: Event) -> Environment | None:
        if type(event) is not SnapshotFails:
            return declined
        return (declined[0] + 1,) if declined[0] < scope.declines else None

    return ClosedModel(
        f"dataflow of {scope.sources} sources, {scope.records} records each, ids to {scope.checkpoints}, "
        f"{scope.max_concurrent} at once, {scope.failures} failures, {scope.time_outs} time-outs, "
        f"room for {scope.room}, {scope.in_flight} in flight{_more(scope)}",
        "dataflow",
        new_dataflow(
            scope.sources,
            scope.records,
            max_concurrent=scope.max_concurrent,
            retain=1,
            profile=scope.profile,
            wires=scope.wires,
        ),
        (0,),
        offers,
        allows,
        act,
        portions=Portions(movers, MEMBERS, growing),
    )


def movers_of(scope: Scope) -> tuple[Offers, ...]:
    """Everything that may move, each by itself; with too many messages under way only they do."""
    moving = (
        *(partial(move, scope, source) for source in range(scope.sources) for move in (emits, taken)),
        *(partial(move, scope) for move in (taken_by_sink, requested, declined, unstored, timed_out)),
    )
    if scope.in_flight != UNBOUNDED:
        moving = tuple(partial(unless_crowded, scope, offers) for offers in moving)
    return (*moving, partial(failed, scope), partial(arriving, scope))


def unless_crowded(scope: Scope, offers: Offers, dataflow: Dataflow) -> Offered:
    """It waits while there is no room for the messages that a step may send."""
    if len(dataflow.messages) < scope.in_flight:
        yield from offers(dataflow)


def emits(scope: Scope, source: int, dataflow: Dataflow) -> Offered:
    """A source reads, where its channel has room."""
    tasks = dataflow.tasks
    if tasks.offsets[source] < scope.records and has_room(scope, tasks.inputs[source]):
        yield "Emit", Produce(source)


def taken(scope: Scope, source: int, dataflow: Dataflow) -> Offered:
    """The operator takes what has come from a source, where its own channel has room."""
    tasks = dataflow.tasks
    if is_readable(tasks, source):
        attempt, item = tasks.inputs[source][0]
        if attempt != dataflow.attempt:
            yield "DropStale", Receive(source)
        elif type(item) is not Record:
            yield "OperatorAligns", Receive(source)
        elif has_room(scope, tasks.output):
            yield "OperatorCounts", Receive(source)


def taken_by_sink(scope: Scope, dataflow: Dataflow) -> Offered:
    """The sink takes what has come."""
    if dataflow.tasks.output:
        attempt, item = dataflow.tasks.output[0]
        taken = "SinkWrites" if type(item) is Record else "SinkSnapshots"
        yield taken if attempt == dataflow.attempt else "DropStale", ReceiveAtSink()


def requested(scope: Scope, dataflow: Dataflow) -> Offered:
    """A checkpoint is due, or a savepoint is asked for."""
    coordinator = dataflow.coordinator
    may_ask = coordinator.next_id <= scope.checkpoints and not coordinator.queue
    for kind in scope.types if may_ask else ():
        if kind != CHECKPOINT or len(coordinator.pending) < scope.max_concurrent:
            yield "Request", StartCheckpoint(kind)


def declined(scope: Scope, dataflow: Dataflow) -> Offered:
    """A snapshot cannot be written."""
    if scope.declines and dataflow.coordinator.pending:
        yield "Decline", SnapshotFails()


def unstored(scope: Scope, dataflow: Dataflow) -> Offered:
    """The store is about to fail."""
    coordinator = dataflow.coordinator
    if scope.faults and not coordinator.fault and not coordinator.unseen:
        for when in scope.faults:
            yield "StoreFails", StoreWillFail(when)


def timed_out(scope: Scope, dataflow: Dataflow) -> Offered:
    """The checkpoints that are pending expire."""
    coordinator = dataflow.coordinator
    if coordinator.pending and coordinator.now < scope.time_outs * coordinator.plan.timeout:
        yield "TimeOut", TimeOut()


def failed(scope: Scope, dataflow: Dataflow) -> Offered:
    """The attempt fails."""
    if dataflow.attempt <= scope.failures:
        yield "Fail", Fail(scope.zombies, scope.takes_coordinator)


def arriving(scope: Scope, dataflow: Dataflow) -> Offered:
    """A message arrives, or is lost."""
    for message in dataflow.messages:
        yield arrival(dataflow, message), Deliver(message)
        if scope.loses and message.kind in NOTIFICATIONS:
            yield "Lose", Lose(message)


def arrival(dataflow: Dataflow, message: Message) -> str:
    """What the arrival of a message is called."""
    if message.attempt != dataflow.attempt:
        return "DropStale"
    if message.kind == TRIGGER:
        return "SourceTriggered"
    return "TaskHears" if message.kind in TO_TASKS else "CoordinatorHears"


def has_room(scope: Scope, channel: Channel) -> bool:
    """One more record may be sent."""
    return scope.room == UNBOUNDED or sum(type(sent.item) is Record for sent in channel) < scope.room


def _more(scope: Scope) -> str:
    """What a scope has beside its numbers."""
    savepoints = ", savepoints" if len(scope.types) > 1 else ""
    faults = ", a store that fails" if scope.faults else ""
    replaced = ", a coordinator that is replaced" if scope.takes_coordinator else ""
    zombies = ", what is in flight outlives a failure" if scope.failures and scope.zombies else ""
    declines = f", {scope.declines} declines" if scope.declines else ""
    older = "" if scope.profile is NEWEST_COORDINATOR else f", {scope.profile.name}"
    return savepoints + faults + replaced + zombies + declines + older


REPLAY = Scope(records=2, checkpoints=2, max_concurrent=1, failures=1, time_outs=0)
"""Two checkpoints in turn, a failure anywhere, and what is replayed after it."""
TWICE = Scope(records=1, checkpoints=2, max_concurrent=1, failures=2, time_outs=0)
"""A restored job fails again."""
ZOMBIES = Scope(records=1, checkpoints=1, max_concurrent=1, failures=1, time_outs=0, zombies=True)
"""What a failed attempt has sent arrives in the next one."""
OVERTAKING = Scope(records=1, checkpoints=2, max_concurrent=2, failures=0, time_outs=0)
"""Two checkpoints at once: the newer overtakes the older at the gate and at the coordinator."""
EXPIRY = Scope(records=1, checkpoints=1, max_concurrent=1, failures=1, time_outs=1)
"""A checkpoint expires while its barriers are under way."""
BESIDE = Scope(
    records=1,
    checkpoints=2,
    max_concurrent=1,
    failures=0,
    time_outs=0,
    types=(CHECKPOINT, SAVEPOINT),
)
"""Savepoints beside checkpoints: they complete in any order."""
REPLACED = Scope(
    records=1,
    checkpoints=1,
    max_concurrent=1,
    failures=1,
    time_outs=0,
    faults=(BEFORE, MAYBE),
    takes_coordinator=True,
)
"""The store fails, and a failure takes the coordinator with it."""
SHORT = (TWICE, ZOMBIES, EXPIRY)
"""Explored in every verification."""
SCOPES = (*SHORT, REPLACED, REPLAY, OVERTAKING, BESIDE)
"""Explored in a thorough one, each in well under a minute."""
