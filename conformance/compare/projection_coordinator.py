"""The declared projections of the coordinator: CoordinatorModel.tla and FailuresModel.tla.

What a configuration puts in the place of an operator makes the Python closed model: who is asked for what,
who fails, which generation it is. The z3 relation is made for the shapes that a model meets
(`model.coordinator.proofs.reached`), where that takes seconds: 174 shapes and 846 paths for one pending
checkpoint at a time and requests of one rank. Two at a time are 518 shapes and 3,872 paths already, five
times as long, and requests that are put in their order take minutes; there TLC and the explorer alone are
compared, and the proofs (`model.coordinator.proofs.coordinator`) ask the same step functions.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from model.coordinator.environment.relative import (
    CheckpointFails,
    CheckpointSucceeds,
    Request,
    Scope,
    closed_failures,
    closed_relative,
    handle_of,
)
from model.coordinator.events import (
    AFTER,
    BEFORE,
    MAYBE,
    Acknowledged,
    AcknowledgeMessage,
    Complete,
    CoordinatorRestart,
    DeclineMessage,
    DiscardCheckpoint,
    DiscardState,
    FailJob,
    FailTasks,
    JobStatus,
    Rejected,
    Restored,
    RestoreRequest,
    StoreFails,
    TaskStatus,
    TriggerRequest,
    TriggerTask,
)
from model.coordinator.failures import Failures
from model.coordinator.pending import NO_STATE, Pending
from model.coordinator.profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR, CoordinatorProfile
from model.coordinator.requests import Request as Waiting
from model.coordinator.state import RESTARTING, RUNNING, UNLIMITED, Coordinator, Plan
from model.events import NONE, Advance, Effect, Event, Fail, NotifyAbort, NotifyComplete, NotifySubsumed
from model.gate.events import Abort
from model.store.store import CHECKPOINT, SAVEPOINT, Entry
from model.store.wire import TYPES

Said = tuple[tuple[Any, ...], ...]

FAULTS = {"none": 0, "before": BEFORE, "after": AFTER, "maybe": MAYBE}
_FAULT_NAMES = {code: name for name, code in FAULTS.items()}
ALL_KINDS: tuple[Request, ...] = (
    (CHECKPOINT, False, True),
    (CHECKPOINT, False, False),
    (CHECKPOINT, True, False),
    (SAVEPOINT, False, False),
)
_NUMBERS = {"One": 1}
_LONG = 1_000
"""An interval so long that it is the environment that asks."""


class Configuration(NamedTuple):
    """What a configuration of CoordinatorModel.tla gives and puts in the place of operators."""

    numbers: Mapping[str, int | bool]
    sets: Mapping[str, tuple[int, ...]]
    replaced: Mapping[str, str]

    @property
    def profile(self) -> CoordinatorProfile:
        """The generation; the newest if none is picked."""
        picked = self.replaced.get("CoordinatorSwitches")
        if picked is None:
            return NEWEST_COORDINATOR
        return COORDINATOR_PROFILES[picked.removeprefix("Coordinator_").replace("_", ".")]

    @property
    def tolerable(self) -> int:
        """How many failures are tolerated."""
        picked = self.replaced.get("Tolerable")
        return UNLIMITED if picked is None else _NUMBERS[picked]

    def is_small(self) -> bool:
        """One pending checkpoint at most and requests of one rank: few shapes, each of few paths."""
        return self.numbers["MaxConcurrent"] == 1 and not {"Asked", "Restarts"} & self.replaced.keys()

    def plan(self) -> Plan:
        """The job; whether a savepoint is forced, each request says itself."""
        tasks, sources = self.sets["Tasks"], self.sets["Sources"]
        interval = _LONG if "Asked" in self.replaced else 0
        profile = self.profile
        return Plan(
            tuple(task in sources for task in tasks),
            timeout=int(self.numbers["Timeout"]),
            max_concurrent=int(self.numbers["MaxConcurrent"]),
            profile=profile,
            interval=interval,
            initial_delay=interval,
            min_pause=_NUMBERS.get(self.replaced.get("MinPause", ""), 0),
            tolerable_failures=self.tolerable,
            unaligned=True,
            finished_tasks=profile.goes_on_after_finished_tasks,
        )

    def scope(self) -> Scope:
        """What the environment may do."""
        tasks, sources = self.sets["Tasks"], self.sets["Sources"]
        by_hand: tuple[Request, ...] = ((CHECKPOINT, False, False),)
        if self.numbers["Savepoints"]:
            by_hand = (*by_hand, (SAVEPOINT, True, False))
        failing = {
            "": sources,
            "Nobody": (),
            "Others": tuple(task for task in tasks if task not in sources),
        }
        return Scope(
            ids=int(self.numbers["M"]),
            requests=ALL_KINDS if "Asked" in self.replaced else by_hand,
            reasons=() if "Reasons" in self.replaced else ("ASYNC_EXCEPTION",),
            failing=failing[self.replaced.get("Failing", "")],
            job_restarts="JobRestarts" not in self.replaced,
            faults=(BEFORE, AFTER, MAYBE) if "StoreFaults" in self.replaced else (),
            restarts="Restarts" in self.replaced,
        )


def coordinator_of(there: Coordinator, k: Any, *, with_states: bool = True) -> Coordinator:  # noqa: ANN401
    """The record of the model that the TLA+ coordinator `k` is; `there` knows what does not change.

    `with_states`: an acknowledgement comes with the handle of its task's state.
    """
    plan = there.plan
    tasks = range(len(plan.sources))
    scheduler = there.scheduler._replace(runs=k["running"] and plan.interval > 0)
    return there._replace(
        status=RUNNING if k["running"] else RESTARTING,
        tasks_run=tuple(task in k["up"] for task in tasks),
        tasks_reached=tuple(True for _ in tasks),
        next_id=k["next"],
        pending=tuple(_pending(there, entry, with_states) for entry in k["pending"]),
        queue=tuple(
            Waiting(TYPES.index(r["type"]), r["forced"], r["periodic"], awaits_answer=True)
            for r in k["queue"]
        ),
        scheduler=scheduler,
        pause_ends=k["pause"],
        failures=failures_of(k["failures"]),
        store=there.store._replace(entries=_entries(k["store"])),
        fault=FAULTS[k["fault"]],
        unseen=tuple(sorted(_entries(k["unseen"]))),
    )


def _pending(there: Coordinator, entry: Any, with_states: bool) -> Pending:  # noqa: ANN401 - of TLA+
    tasks = range(len(there.plan.sources))
    kind = TYPES.index(entry["type"])
    acknowledged = tuple(task not in entry["missing"] for task in tasks)
    return Pending(
        checkpoint=entry["id"],
        type=kind,
        forced=kind != CHECKPOINT,
        deadline=there.plan.timeout - entry["age"],
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


def _entries(stored: Any) -> tuple[Entry, ...]:  # noqa: ANN401 - a value of TLA+
    return tuple(Entry(entry["id"], TYPES.index(entry["type"])) for entry in stored)


def failures_of(f: Any) -> Failures:  # noqa: ANN401 - a value of TLA+
    """The record of the model that a TLA+ count of failures is; TLA+ has 0 where the model has -1."""
    return Failures(tuple(sorted(f["counted"])), f["highest"] or NONE)


# ---------------------------------------------------------------- words


def said(event: Event, effects: tuple[Effect, ...]) -> Said:
    """The words of one step of the coordinator, as TLA+ has them."""
    return (_event(event), *(_effect(effect) for effect in effects))


def _event(event: Event) -> tuple[Any, ...]:
    match event:
        case TriggerRequest():
            return ("request", TYPES[event.type], event.forced, event.periodic)
        case AcknowledgeMessage():
            return ("acknowledge", event.task, event.checkpoint)
        case DeclineMessage():
            return ("decline", event.checkpoint, event.reason)
        case Advance():
            return ("tick",)
        case JobStatus():
            return ("job_status", event.status == RUNNING)
        case TaskStatus():
            return ("task_status", event.task)
        case FailTasks():
            return ("fail_tasks", event.failed.index(True))
        case RestoreRequest():
            return ("restore",)
        case StoreFails():
            return ("store_fails", _FAULT_NAMES[event.when])
        case CoordinatorRestart():
            return ("coordinator_restart",)
        case CheckpointFails():
            return ("fail", event.checkpoint, TYPES[event.type], event.reason, event.by_task)
        case CheckpointSucceeds():
            return ("succeed", event.checkpoint)
        case _:
            raise TypeError(f"expected an event of the TLA+ models, got {event}; name it there and here")


def _effect(effect: Effect) -> tuple[Any, ...]:
    match effect:
        case TriggerTask():
            return ("trigger_task", effect.task, effect.checkpoint, TYPES[effect.type])
        case Rejected():
            return ("rejected", TYPES[effect.type], effect.reason)
        case Acknowledged():
            return ("acknowledged", effect.task, effect.checkpoint, effect.result)
        case Complete():
            return ("complete", effect.checkpoint)
        case Abort():
            return ("abort", effect.checkpoint, effect.reason)
        case DiscardCheckpoint():
            return ("discard", effect.checkpoint)
        case DiscardState():
            checkpoint, place = divmod(effect.handle, 10)
            return ("discard_state", place - 1, checkpoint)
        case NotifyComplete() | NotifyAbort() | NotifySubsumed():
            return (effect.kind, effect.task, effect.checkpoint)
        case Restored():
            return ("restored", max(effect.checkpoint, 0))
        case FailJob():
            return ("fail_job", effect.reason)
        case Fail():
            return ("fail", effect.error)
        case _:
            raise TypeError(f"expected an effect of the TLA+ models, got {effect}; name it there and here")


__all__ = [
    "Configuration",
    "closed_failures",
    "closed_relative",
    "coordinator_of",
    "failures_of",
    "said",
]
