"""The closed models of the dataflow, with bounds on records, checkpoints, time-outs and failures.

The bounds are guards over the state. The environment stores only the number of snapshots that could not be
written. Actions have the same names as in spec/dataflow/Dataflow.tla. There channels and messages have no
bound, and a lost message stays in flight. Here they may have a bound, and a lost message is removed.
"""

from functools import partial
from typing import NamedTuple

from model.checker.closed_model import ClosedModel, Environment, Offered, Offers, Portions
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
from model.events import BEFORE, MAYBE, NONE, Event
from model.gate.events import Record
from model.store.store import CHECKPOINT, SAVEPOINT

UNBOUNDED = 1_000_000


MEMBERS = ("offsets", "inputs", "counted", "subtasks", "sunk", "records", "state.committed")
"""The collections of a dataflow with a fixed length."""


class Scope(NamedTuple):
    """The bounds of an exploration."""

    records: int
    """Number of records of each source."""
    checkpoints: int
    """The highest id."""
    max_concurrent: int
    failures: int
    time_outs: int
    zombies: bool = False
    """Whether items and messages of an attempt may arrive after its end."""
    capacity: int = 1
    """Number of records that a channel holds before its sender waits. Barriers do not count."""
    in_flight: int = 2
    """With this number of messages in flight, only three actions occur: arrival, loss, and failure."""
    sources: int = 2
    types: tuple[int, ...] = (CHECKPOINT,)
    """The types of requested checkpoints. A savepoint may start while `max_concurrent` others are pending."""
    faults: tuple[int, ...] = ()
    """The ways in which an addition to the store may fail."""
    takes_coordinator: bool = False
    """Whether the coordinator fails with the tasks."""
    declines: int = 0
    """Number of snapshots that cannot be written."""
    loses: bool = True
    """Whether notifications may be lost."""
    wires: Wires | None = None
    """The connections between tasks and the coordinator. None: those of `new_dataflow`."""
    profile: CoordinatorProfile = NEWEST_COORDINATOR


def closed_dataflow(scope: Scope) -> ClosedModel:
    """The closed model of all actions within `scope`."""

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
        f"room for {scope.capacity}, {scope.in_flight} in flight{_more(scope)}",
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
    """The functions that offer actions. Each respects the bound on messages in flight."""
    moving = (
        *(partial(move, scope, source) for source in range(scope.sources) for move in (emits, taken)),
        *(partial(move, scope) for move in (taken_by_sink, requested, declined, unstored, timed_out)),
    )
    if scope.in_flight != UNBOUNDED:
        moving = tuple(partial(unless_crowded, scope, offers) for offers in moving)
    return (*moving, partial(failed, scope), partial(arriving, scope))


def unless_crowded(scope: Scope, offers: Offers, dataflow: Dataflow) -> Offered:
    """The actions of `offers`, unless the number of messages in flight has reached its bound."""
    if len(dataflow.messages) < scope.in_flight:
        yield from offers(dataflow)


def emits(scope: Scope, source: int, dataflow: Dataflow) -> Offered:
    """A source reads a record if its channel has capacity."""
    tasks = dataflow.tasks
    if tasks.offsets[source] < scope.records and has_capacity(scope, tasks.inputs[source]):
        yield "Emit", Produce(source)


def taken(scope: Scope, source: int, dataflow: Dataflow) -> Offered:
    """The operator reads an item of a source's channel if its own channel has capacity."""
    tasks = dataflow.tasks
    if is_readable(tasks, source):
        attempt, item = tasks.inputs[source][0]
        if attempt != dataflow.attempt:
            yield "DropStale", Receive(source)
        elif type(item) is not Record:
            yield "OperatorAligns", Receive(source)
        elif has_capacity(scope, tasks.output):
            yield "OperatorCounts", Receive(source)


def taken_by_sink(scope: Scope, dataflow: Dataflow) -> Offered:
    """The sink reads an item."""
    if dataflow.tasks.output:
        attempt, item = dataflow.tasks.output[0]
        taken = "SinkWrites" if type(item) is Record else "SinkSnapshots"
        yield taken if attempt == dataflow.attempt else "DropStale", ReceiveAtSink()


def requested(scope: Scope, dataflow: Dataflow) -> Offered:
    """A checkpoint is due, or a user requests a savepoint."""
    coordinator = dataflow.coordinator
    may_request = coordinator.next_id <= scope.checkpoints and not coordinator.queue
    for kind in scope.types if may_request else ():
        if kind != CHECKPOINT or len(coordinator.pending) < scope.max_concurrent:
            yield "Request", StartCheckpoint(kind)


def declined(scope: Scope, dataflow: Dataflow) -> Offered:
    """A snapshot cannot be written."""
    if scope.declines and dataflow.coordinator.pending:
        yield "Decline", SnapshotFails()


def unstored(scope: Scope, dataflow: Dataflow) -> Offered:
    """The next addition to the store fails."""
    coordinator = dataflow.coordinator
    if scope.faults and not coordinator.fault and not coordinator.unseen:
        for when in scope.faults:
            yield "StoreFails", StoreWillFail(when)


def timed_out(scope: Scope, dataflow: Dataflow) -> Offered:
    """The pending checkpoints expire."""
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
    """The name of the action that delivers a message."""
    if message.attempt != dataflow.attempt:
        return "DropStale"
    if message.kind == TRIGGER:
        return "SourceTriggered"
    return "TaskReceives" if message.kind in TO_TASKS else "CoordinatorReceives"


def has_capacity(scope: Scope, channel: Channel) -> bool:
    """The channel can hold one more record."""
    return scope.capacity == UNBOUNDED or sum(type(sent.item) is Record for sent in channel) < scope.capacity


def _more(scope: Scope) -> str:
    """The end of the closed model's name: the parts of the scope that differ from the default."""
    savepoints = ", savepoints" if len(scope.types) > 1 else ""
    faults = ", a store that fails" if scope.faults else ""
    replaced = ", a coordinator that is replaced" if scope.takes_coordinator else ""
    zombies = ", what is in flight outlives a failure" if scope.failures and scope.zombies else ""
    declines = f", {scope.declines} declines" if scope.declines else ""
    older = "" if scope.profile is NEWEST_COORDINATOR else f", {scope.profile.name}"
    return savepoints + faults + replaced + zombies + declines + older


REPLAY = Scope(records=2, checkpoints=2, max_concurrent=1, failures=1, time_outs=0)
"""Two checkpoints, one after the other, a failure at any point, and the replay after the failure."""
TWICE = Scope(records=1, checkpoints=2, max_concurrent=1, failures=2, time_outs=0)
"""A job fails, is restored, and fails again."""
ZOMBIES = Scope(records=1, checkpoints=1, max_concurrent=1, failures=1, time_outs=0, zombies=True)
"""Items that a failed attempt has sent arrive in the next one."""
OVERTAKING = Scope(records=1, checkpoints=2, max_concurrent=2, failures=0, time_outs=0)
"""Two concurrent checkpoints. The newer one subsumes the older one at the gate and at the coordinator."""
EXPIRY = Scope(records=1, checkpoints=1, max_concurrent=1, failures=1, time_outs=1)
"""A checkpoint expires while its barriers are in flight."""
BESIDE = Scope(
    records=1, checkpoints=2, max_concurrent=1, failures=0, time_outs=0, types=(CHECKPOINT, SAVEPOINT)
)
"""Savepoints and checkpoints are pending at the same time, and complete in any order."""
REPLACED = Scope(
    records=1,
    checkpoints=1,
    max_concurrent=1,
    failures=1,
    time_outs=0,
    faults=(BEFORE, MAYBE),
    takes_coordinator=True,
)
"""The store fails, and the coordinator fails with the tasks."""
DECLINED = Scope(
    records=1,
    checkpoints=2,
    max_concurrent=1,
    failures=0,
    time_outs=0,
    in_flight=1,
    sources=1,
    types=(CHECKPOINT, SAVEPOINT),
    declines=1,
)
"""A snapshot cannot be written, while a savepoint may be pending."""
UNSEEN = Scope(
    records=1,
    checkpoints=1,
    max_concurrent=1,
    failures=1,
    time_outs=0,
    in_flight=1,
    sources=1,
    faults=(MAYBE,),
)
"""The store has perhaps stored a checkpoint, and then only the tasks fail."""
SHORT = (TWICE, ZOMBIES, EXPIRY, REPLACED, DECLINED, UNSEEN)
"""The scopes that every verification explores."""
SCOPES = (*SHORT, REPLAY, OVERTAKING, BESIDE)
"""The scopes that a thorough verification explores, each in less than a minute."""
