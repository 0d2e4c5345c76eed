"""The dataflow closed by its environment: how many records, checkpoints, time-outs and failures.

Bounds are guards over the state itself, and the environment remembers nothing. Of the messages in
flight when an attempt fails at most `late` arrive afterwards, any of them.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from model.actions import (
    Deliver,
    Fail,
    Lose,
    Produce,
    Receive,
    ReceiveAtSink,
    Restart,
    StartCheckpoint,
    StoreWillFail,
    TimeOut,
    act,
    is_readable,
)
from model.closed.worlds import Environment, World
from model.coordinator_events import BEFORE, MAYBE
from model.coordinator_profiles import NEWEST_COORDINATOR, CoordinatorProfile
from model.dataflow import Channel, Dataflow, new_dataflow
from model.events import Event, Record
from model.messages import NOTIFICATIONS
from model.store import CHECKPOINT, SAVEPOINT


class Scope(NamedTuple):
    """How far an exploration goes."""

    records: int
    """Of each source."""
    checkpoints: int
    """The highest id."""
    max_concurrent: int
    failures: int
    time_outs: int
    late: int
    """Messages of an attempt that may outlive it, at most."""
    room: int
    """Records that a channel holds before its sender waits; barriers find room always."""
    in_flight: int
    """Messages; with so many under way only they move, so there may be as many more as one step sends."""
    sources: int = 2
    types: tuple[int, ...] = (CHECKPOINT,)
    """Of what is asked for; a savepoint starts whatever is pending."""
    faults: tuple[int, ...] = ()
    """How the store may fail, once."""
    takes_coordinator: bool = False
    """A failure takes the coordinator with it."""
    profile: CoordinatorProfile = NEWEST_COORDINATOR


def dataflow_world(scope: Scope) -> World:
    """All that may happen within `scope`."""

    def offers(dataflow: Dataflow) -> Iterator[tuple[str, Event]]:
        if dataflow.runs:
            if len(dataflow.messages) < scope.in_flight:
                yield from records_move(scope, dataflow)
                yield from time_passes(scope, dataflow)
            if dataflow.attempt <= scope.failures:
                for kept in range(scope.late + 1):
                    for late in combinations(dataflow.messages, kept):
                        yield "Fail", Fail(late, scope.takes_coordinator)
        else:
            yield "Restart", Restart()
        for message in dataflow.messages:
            yield "Deliver", Deliver(message)
            if message.kind in NOTIFICATIONS:
                yield "Lose", Lose(message)

    return World(
        f"dataflow of {scope.sources} sources, {scope.records} records each, ids to {scope.checkpoints}, "
        f"{scope.max_concurrent} at once, {scope.failures} failures, {scope.time_outs} time-outs, "
        f"{scope.late} late, room for {scope.room}, {scope.in_flight} in flight{_more(scope)}",
        "dataflow",
        new_dataflow(
            scope.sources,
            scope.records,
            max_concurrent=scope.max_concurrent,
            retain=1,
            profile=scope.profile,
        ),
        (),
        offers,
        _anything,
        act,
    )


def records_move(scope: Scope, dataflow: Dataflow) -> Iterator[tuple[str, Event]]:
    """A source reads, or a task takes what has come, where the next channel has room."""
    tasks = dataflow.tasks
    for source in range(scope.sources):
        if tasks.offsets[source] < scope.records and has_room(scope, tasks.inputs[source]):
            yield "Produce", Produce(source)
        if is_readable(tasks, source):
            is_record = type(tasks.inputs[source][0]) is Record
            if not is_record or has_room(scope, tasks.output):
                yield "Receive", Receive(source)
    if tasks.output:
        yield "ReceiveAtSink", ReceiveAtSink()


def has_room(scope: Scope, channel: Channel) -> bool:
    """One more record may be sent."""
    return sum(type(item) is Record for item in channel) < scope.room


def time_passes(scope: Scope, dataflow: Dataflow) -> Iterator[tuple[str, Event]]:
    """A checkpoint is due, or those that are pending expire."""
    coordinator = dataflow.coordinator
    pending = len(coordinator.pending)
    for kind in scope.types if coordinator.next_id <= scope.checkpoints else ():
        if kind != CHECKPOINT or pending < scope.max_concurrent:
            yield "StartCheckpoint", StartCheckpoint(kind)
    if not coordinator.fault and not coordinator.unseen:
        for when in scope.faults:
            yield "StoreWillFail", StoreWillFail(when)
    if pending and coordinator.now < scope.time_outs * coordinator.plan.timeout:
        yield "TimeOut", TimeOut()


def _more(scope: Scope) -> str:
    """What a scope has beside its numbers."""
    savepoints = ", savepoints" if len(scope.types) > 1 else ""
    faults = ", a store that fails" if scope.faults else ""
    replaced = ", a coordinator that is replaced" if scope.takes_coordinator else ""
    older = "" if scope.profile is NEWEST_COORDINATOR else f", {scope.profile.name}"
    return savepoints + faults + replaced + older


def _anything(environment: Environment, event: Event) -> Environment:
    return environment


REPLAY = Scope(
    records=2, checkpoints=2, max_concurrent=1, failures=1, time_outs=0, late=1, room=1, in_flight=2
)
"""Two checkpoints in turn, a failure anywhere, and what is replayed after it."""
TWICE = Scope(
    records=1, checkpoints=2, max_concurrent=1, failures=2, time_outs=0, late=1, room=1, in_flight=2
)
"""A restored job fails again."""
OVERTAKING = Scope(
    records=1, checkpoints=2, max_concurrent=2, failures=0, time_outs=0, late=0, room=1, in_flight=2
)
"""Two checkpoints at once: the newer overtakes the older at the gate and at the coordinator."""
EXPIRY = Scope(
    records=1, checkpoints=1, max_concurrent=1, failures=1, time_outs=1, late=1, room=1, in_flight=2
)
"""A checkpoint expires while its barriers are under way."""
BESIDE = Scope(
    records=1,
    checkpoints=2,
    max_concurrent=1,
    failures=0,
    time_outs=0,
    late=0,
    room=1,
    in_flight=2,
    types=(CHECKPOINT, SAVEPOINT),
)
"""Savepoints beside checkpoints: they complete in any order."""
REPLACED = Scope(
    records=1,
    checkpoints=1,
    max_concurrent=1,
    failures=1,
    time_outs=0,
    late=0,
    room=1,
    in_flight=2,
    faults=(BEFORE, MAYBE),
    takes_coordinator=True,
)
"""The store fails, and a failure takes the coordinator with it."""
SCOPES = (REPLAY, TWICE, OVERTAKING, EXPIRY, BESIDE, REPLACED)
"""What is published as explored, each in well under a minute."""
