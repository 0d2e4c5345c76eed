"""The projections of the coordinator: CoordinatorModel.tla, FailuresModel.tla and SharedState.tla.

The operators that a TLC configuration replaces determine the closed model in Python: the requests, the
failures, the generation. z3 reads the relation of a model for the shapes that the model reaches
(`model.coordinator.proofs.reached_shapes`), if that takes seconds: 174 shapes and 846 paths for at most one
pending checkpoint and requests that need no sorting. Two pending checkpoints have 518 shapes and 3,872 paths,
and take five times as long; sorted requests take minutes. For such models the triangle compares only TLC and
the explorer; the proofs (`model.coordinator.proofs.coordinator`) execute the same step functions.
"""

from collections.abc import Mapping
from typing import Any

from conformance.adapters.protocol import Wire
from conformance.compare.projection import Given, Node, Projection, of_step
from conformance.components.store import ENTRIES
from conformance.components.tla_records import FLAGS, OR_ZERO, Record, Spelling, each, fields, words
from conformance.vectors.tla.text import Word, plain
from model.coordinator.environment.failure_count import CheckpointFails, CheckpointSucceeds, closed_failures
from model.coordinator.environment.relative_time import Request, Scope, closed_relative, handle_of
from model.coordinator.environment.shared_state import CompleteCheckpoint, Files, UseFiles, closed_files
from model.coordinator.events import FailTasks
from model.coordinator.failures import new_failures
from model.coordinator.pending import NO_STATE, Pending
from model.coordinator.requests import Request as Waiting
from model.coordinator.shared_state import DiscardState, Registered
from model.coordinator.state import (
    CLAIM,
    LEGACY,
    NO_CLAIM,
    RESTARTING,
    RUNNING,
    UNLIMITED,
    Coordinator,
    Io,
    Plan,
)
from model.coordinator.wire.coordinator import WORDS
from model.events import AFTER, BEFORE, ID, LOCATION, MAYBE, METADATA, Effect, Event
from model.store.store import CHECKPOINT, SAVEPOINT, Entry
from model.store.wire import TYPES
from spec.values import Function, State

IO_STEPS = {"metadata": METADATA, "location": LOCATION, "id": ID}
FAULTS = {"none": 0, "before": BEFORE, "after": AFTER, "maybe": MAYBE}
ALL_REQUESTS: tuple[Request, ...] = (
    (CHECKPOINT, False, True),
    (CHECKPOINT, False, False),
    (CHECKPOINT, True, False),
    (SAVEPOINT, False, False),
)
"""The requests of `OfAllKinds`; the first two are those of `Checkpoints`."""
_NUMBERS = {"One": 1, "Two": 2}
_CLAIM_MODES = {"Legacy": LEGACY, "Claims": CLAIM, "ClaimsNot": NO_CLAIM}
_LONG = 1_000
"""An interval that never passes in these models, so that only the environment requests checkpoints."""


# ---------------------------------------------------------------- the closed model of a configuration


def _tolerable(given: Given) -> int:
    picked = given.replaced.get("Tolerable")
    return UNLIMITED if picked is None else _NUMBERS[picked]


def _is_small(given: Given) -> bool:
    """Whether z3 reads the model in seconds: at most one pending checkpoint, and requests need no sorting."""
    return given.number("MaxConcurrent") == 1 and not (
        {"OfferedRequests", "Restarts", "SlowCleaning"} & given.replaced.keys()
    )


def _plan(given: Given) -> Plan:
    """The plan of the job. It is unaligned, so that savepoints are forced only if their request says so."""
    interval = _LONG if "OfferedRequests" in given.replaced else 0
    profile = given.coordinators
    return Plan(
        tuple(task in given.sets["Sources"] for task in given.sets["Tasks"]),
        timeout=given.number("Timeout"),
        max_concurrent=given.number("MaxConcurrent"),
        profile=profile,
        interval=interval,
        initial_delay=interval,
        min_pause=_NUMBERS.get(given.replaced.get("MinPause", ""), 0),
        tolerable_failures=_tolerable(given),
        unaligned=True,
        finished_tasks=profile.after_finish_by_default,
        slow_cleaning="SlowCleaning" in given.replaced,
        io_failures="IoFailures" in given.replaced,
        savepoint=(1,) if "RestoredSavepoint" in given.replaced else (),
        claim_mode=_CLAIM_MODES[given.replaced.get("ClaimMode", "Legacy")],
    )


def _scope(given: Given) -> Scope:
    """The events that the environment may choose."""
    replaced, (tasks, sources) = given.replaced, (given.sets["Tasks"], given.sets["Sources"])
    savepoint: tuple[Request, ...] = ((SAVEPOINT, True, False),) if given.flag("Savepoints") else ()
    others = tuple(task for task in tasks if task not in sources)
    return Scope(
        ids=given.number("M"),
        requests={
            "": ((CHECKPOINT, False, False), *savepoint),
            "OfAllKinds": ALL_REQUESTS,
            "Checkpoints": ALL_REQUESTS[:2],
        }[replaced.get("OfferedRequests", "")],
        reasons=() if "Reasons" in replaced else ("ASYNC_EXCEPTION",),
        failing={"": sources, "Nothing": (), "Others": others}[replaced.get("Failing", "")],
        job_restarts="JobRestarts" not in replaced,
        faults={"": (), "OnlyBefore": (BEFORE,), "AllFaults": (BEFORE, AFTER, MAYBE)}[
            replaced.get("StoreFaults", "")
        ],
        restarts="Restarts" in replaced,
        io={"": (), "OnlyMetadata": (METADATA,), "AllIo": (METADATA, LOCATION, ID)}[
            replaced.get("IoFailures", "")
        ],
        tasks_stop="TasksStop" in replaced,
    )


# ---------------------------------------------------------------- states

FAILURES = Record(
    *fields("counted", of=Spelling(lambda there, before: tuple(sorted(there)), frozenset)),
    *fields(of=OR_ZERO, highest="highest_success"),
)


def coordinator_record(start: Coordinator, *, with_states: bool = True) -> Record:
    """The record of a coordinator with the plan of `start`.

    `with_states`: an acknowledgement comes with the handle of its task's state.
    """
    tasks = range(len(start.plan.sources))

    def pending(entry: Mapping[str, Any]) -> Pending:
        kind = TYPES.index(entry["type"])
        acknowledged = tuple(task not in entry["missing"] for task in tasks)
        return Pending(
            checkpoint=entry["id"],
            type=kind,
            forced=kind != CHECKPOINT,
            deadline=start.plan.timeout - entry["age"],
            tasks=(True,) * len(tasks),
            acknowledged=acknowledged,
            states=tuple(
                handle_of(task, entry["id"]) if done and with_states else NO_STATE
                for task, done in zip(tasks, acknowledged, strict=True)
            ),
            shared=((),) * len(tasks),
            coordinators=(),
            hooks=(),
        )

    def waits(one: Pending) -> Function:
        missing = frozenset(task for task, done in zip(tasks, one.acknowledged, strict=True) if not done)
        return Function(
            id=one.checkpoint, type=TYPES[one.type], missing=missing, age=start.plan.timeout - one.deadline
        )

    requests = each(
        lambda one: Waiting(TYPES.index(one["type"]), one["forced"], one["periodic"], awaits_answer=True),
        lambda one: Function(type=TYPES[one.type], forced=one.forced, periodic=one.periodic),
    )
    runs = Spelling(
        lambda there, before: before._replace(runs=there and start.plan.interval > 0), lambda one: one.runs
    )
    entries = Spelling(
        lambda there, before: before._replace(entries=ENTRIES.read(there, ())),
        lambda store: ENTRIES.write(store.entries),
    )
    return Record(
        *fields(of=runs, running="scheduler"),
        *fields(of=words({True: RUNNING, False: RESTARTING}), running="status"),
        *fields(of=FLAGS, up="tasks_run"),
        *fields(next="next_id", pause="pause_ends"),
        *fields("pending", of=each(pending, waits)),
        *fields(of=requests, queue="queue"),
        *fields("failures", of=FAILURES.nested(new_failures())),
        *fields("store", of=entries),
        *fields("fault", of=words(FAULTS)),
        *fields("deletions"),
        *fields("io", of=Spelling(lambda there, _: Io(*(step in there for step in IO_STEPS)), _failing)),
        *fields("unseen", of=Spelling(lambda there, _: tuple(sorted(ENTRIES.read(there, ()))), _as_set)),
    )


def _failing(io: Io) -> frozenset[str]:
    return frozenset(step for step, fails in zip(IO_STEPS, io, strict=True) if fails)


def _as_set(entries: tuple[Entry, ...]) -> frozenset[Function]:
    return frozenset(ENTRIES.write(entries))


# ---------------------------------------------------------------- events and effects

EVENTS: Mapping[str, tuple[str, ...]] = {
    "trigger": ("request", "type", "forced", "periodic"),
    "acknowledge": ("acknowledge", "task", "checkpoint"),
    "decline": ("decline", "checkpoint", "reason"),
    "advance": ("tick",),
    "job_status": ("job_status", "status"),
    "task_status": ("task_status", "task", "status"),
    "fail_tasks": ("fail_tasks", "tasks"),
    "restore": ("restore",),
    "store_fails": ("store_fails", "when"),
    "io_fails": ("io_fails", "what"),
    "deleted": ("deleted",),
    "coordinator_restart": ("coordinator_restart",),
}
"""For each kind of event in the protocol: its name in CoordinatorModel.tla, and the fields after the name."""


def event_of(kind: str, given: Wire) -> Word:
    """An event in the form of the TLA+ module, from its fields in wire form."""
    word, *names = EVENTS[kind]
    return (word, *(given[name] for name in names))


def _event(event: Event) -> Word:
    if isinstance(event, CheckpointFails):
        return ("fail", event.checkpoint, TYPES[event.type], event.reason, event.by_task)
    if isinstance(event, CheckpointSucceeds):
        return ("succeed", event.checkpoint)
    wire = WORDS.write(event)
    if isinstance(event, FailTasks):
        wire["tasks"] = event.failed.index(True)
    if wire["kind"] in ("job_status", "task_status"):
        wire["status"] = wire["status"] == RUNNING
    return event_of(str(wire["kind"]), wire)


def _effect(effect: Effect) -> Word:
    if isinstance(effect, DiscardState):
        checkpoint, place = divmod(effect.handle, 10)
        return ("discard_state", place - 1, checkpoint)
    wire = WORDS.write_effect(effect)
    if wire["kind"] == "restored":
        return ("restored", wire["checkpoint"] or 0)
    return plain("coordinator", wire)


# ---------------------------------------------------------------- projections


def project_coordinator(given: Given) -> Projection:
    """Pairs CoordinatorModel.tla with the closed model of the coordinator, which has relative times."""
    from model.coordinator.proofs.reached_shapes import reached_cases

    closed = closed_relative(_plan(given), given.number("Retain"), _scope(given))
    reached = (True,) * len(closed.state.plan.sources)
    start, record = closed.state._replace(tasks_reached=reached), coordinator_record(closed.state)

    def node(state: State) -> Node:
        return record.read(state["coordinator"], start), (), state["out"]

    cases = (lambda: list(reached_cases(closed))) if _is_small(given) else None
    return Projection(closed, node, of_step(_event, _effect), cases)


def project_failures(given: Given) -> Projection:
    """Pairs FailuresModel.tla with the closed model that counts failures."""
    ids = given.number("M")
    reasons = (
        "CHECKPOINT_DECLINED",
        "ASYNC_EXCEPTION",
        "CHECKPOINT_EXPIRED",
        "IO_EXCEPTION",
        "FINALIZE_CHECKPOINT_FAILURE",
        "CHECKPOINT_SUBSUMED",
    )
    closed = closed_failures(given.coordinators, _tolerable(given), ids, reasons)

    def node(state: State) -> Node:
        succeeded = tuple(int(checkpoint in state["succeeded"]) for checkpoint in range(1, ids + 1))
        return FAILURES.read(state["failures"], new_failures()), succeeded, state["out"]

    return Projection(closed, node, of_step(_event, _effect))


def project_files(given: Given) -> Projection:
    """Pairs SharedState.tla with the closed model of the registry of shared files."""
    closed = closed_files(given.sets["Files"], given.number("M"), given.number("Retain"))
    rest: Files = closed.state
    ids = range(1, len(rest.done) + 1)

    def node(state: State) -> Node:
        known = state["files"]
        registered = tuple(
            Registered(file, newest, 0) for file, newest in enumerate(known["last"], start=1) if newest
        )
        there = rest.coordinator
        store = there.store._replace(entries=tuple(Entry(stored, CHECKPOINT) for stored in known["store"]))
        files = Files(
            there._replace(store=store, shared=there.shared._replace(registered=registered)),
            tuple(tuple(sorted(used)) for used in known["uses"]),
            tuple(checkpoint in state["done"] for checkpoint in ids),
            tuple(sorted(state["gone"])),
        )
        words = tuple(
            (*word[:2], tuple(sorted(word[2]))) if word[0] == "use" else word for word in state["out"]
        )
        return files, (), words

    def step_words(event: Event, effects: tuple[Effect, ...]) -> tuple[Word, ...]:
        assert isinstance(event, UseFiles | CompleteCheckpoint)
        deleted = tuple(("delete", effect.handle) for effect in effects if isinstance(effect, DiscardState))
        return ((event[-1], *event[:-1]), *deleted)

    return Projection(closed, node, step_words)
