"""The binding of a coordinator's divergence to CoordinatorModel.tla, so that TLC can replay it.

The module describes requests and their queue, acknowledgements, declines, time-outs, statuses, the store and
its failures. Other modules describe the scheduler, the master phase, shared files and the end of the job
(Scheduler, Trigger, SharedState, JobLifecycle). A run that needs one of these cannot be replayed:
`bind_coordinator` raises NotInTlaError, and the error names the module.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import gcd
from typing import Any

from conformance.adapters.protocol import Wire
from conformance.components.coordinator.projection import EVENTS, event_of
from conformance.components.store import coordinator_switches
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.vectors.tla.binding import Binding, rules_of
from conformance.vectors.tla.text import NotInTlaError, Raw, Word, filled, plain, set_of, value
from model.coordinator.profiles import profile_of
from model.coordinator.state import RUNNING, UNLIMITED

_ELSEWHERE = {
    "interval_ms": "the scheduler, which Scheduler.tla describes",
    "operator_coordinators": "operator coordinators, which Trigger.tla describes",
    "hooks": "hooks, which Trigger.tla describes",
}


def bind_coordinator(divergence: Divergence, edges: Sequence[Edge]) -> Binding:
    """The binding for this divergence; `edges` are not used.

    Time is counted in units: the greatest common divisor of the time-out, the pause and every `advance`.
    Raises NotInTlaError if CoordinatorModel.tla does not describe an option or an event of the run.
    """
    config, events = divergence.config, divergence.events
    missing = [*_not_described_options(config), *(why for event in events for why in _not_described(event))]
    if missing:
        raise NotInTlaError(f"CoordinatorModel.tla does not have {missing[0]}")
    planned = [task["id"] for task in config["tasks"]]
    unplanned = [event["task"] for event in events if "task" in event]
    tasks = {name: number for number, name in enumerate(dict.fromkeys((*planned, *unplanned)))}
    pause, timeout = config.get("min_pause_ms", 0), config.get("timeout_ms", 600_000)
    advances = [event["ms"] for event in events if event["kind"] == "advance"]
    unit = gcd(timeout, pause, *advances)
    stated = {(event["task"], event["checkpoint"]) for event in events if event.get("state") is not None}
    all_stated = all("state" in event for event in events if event["kind"] == "acknowledge")
    handles = {event["state"]: event for event in events if event.get("state") is not None}
    return Binding(
        "coordinator",
        module="CoordinatorModel",
        state="coordinator",
        constants={
            "Tasks": frozenset(range(len(planned))),
            "Sources": frozenset(tasks[task["id"]] for task in config["tasks"] if task.get("source", False)),
            "MaxConcurrent": config.get("max_concurrent", 1),
            "Timeout": timeout // unit,
            "Retain": config.get("retain", 1),
            "M": len(events) + 1,
            "Savepoints": True,
            "MinPause": Raw("RecordedPause"),
            "Tolerable": Raw("RecordedTolerable"),
            "RestoredSavepoint": Raw("RecordedSavepoint"),
            "ClaimMode": Raw("RecordedClaimMode"),
            "SlowCleaning": Raw("Yes" if config.get("cleaning") == "slow" else "No"),
            "CoordinatorSwitches": coordinator_switches(config),
        },
        steps={
            "request": "OnRequest(k, [type |-> event[2], forced |-> event[3], periodic |-> event[4]])",
            "acknowledge": "OnlyReported(OnAcknowledge(k, event[2], event[3]))",
            "decline": "OnlyReported(OnDecline(k, event[2], event[3]))",
            "tick": "OnlyReported(OnTick(k))",
            "advance": "OnlyReported(Advanced(k, event[2], <<>>))",
            "job_status": "OnlyReported(OnJobStatus(k, event[2]))",
            "task_status": "OnTaskStatus(k, event[2], event[3])",
            "fail_tasks": "OnlyReported(OnFailTasks(k, event[2]))",
            "restore": "OnRestoreRequest(k)",
            "store_fails": "OnStoreFails(k, event[2])",
            "io_fails": "OnIoFails(k, event[2])",
            "deleted": "OnDeleted(k)",
            "coordinator_restart": "OnCoordinatorRestart(k)",
        },
        fields={
            "next_id": lambda seen: {"next": value(seen)},
            "status": lambda seen: {"running": value(seen == "RUNNING")},
        },
        rules=rules_of("coordinator_requests") if all_stated and all(one == unit for one in advances) else (),
        guard='event[1] = "restore" => ~k.running',
        initial="coordinator = [NewCoordinator EXCEPT !.running = FALSE, !.up = {}] /\\ out = <<>>",
        prelude=f"""
RecordedPause == {pause // unit}
RecordedTolerable == {config.get("tolerable_failures", UNLIMITED)}
RecordedSavepoint == {config.get("restored_savepoint", 0)}
RecordedClaimMode == {value(_claim_mode(config))}

Older(c, units) ==
    [c EXCEPT !.pending = [i \\in DOMAIN @ |-> [@[i] EXCEPT !.age = @ + units]],
              !.pause = IF @ > units THEN @ - units ELSE 0]

RECURSIVE Advanced(_, _, _)
Advanced(c, units, effects) ==
    IF units = 0 THEN CoordinatorStep(c, effects)
    ELSE LET left  == {{units - 1}} \\cup {{Timeout - 1 - c.pending[i].age : i \\in DOMAIN c.pending}}
             quiet == Least(left)                  \\* no time-out is due before
             step  == OnTick(Older(c, quiet))
         IN  Advanced(step.coordinator, units - quiet - 1, effects \\o step.out)

(* The task and checkpoint of each acknowledgement with a state; no other state can be discarded. *)
Reported == {set_of([Raw(value((tasks[task], checkpoint))) for task, checkpoint in sorted(stated)])}
OnlyReported(step) ==
    [step EXCEPT !.out = SelectSeq(@, LAMBDA e : e[1] # "discard_state" \\/ <<e[2], e[3]>> \\in Reported)]
""",
        event=partial(_event, tasks, unit, unaligned=config.get("unaligned", False)),
        effect=partial(_effect, tasks, handles),
        failure=None,
    )


def _claim_mode(config: Wire) -> str:
    """The claim mode of a restored savepoint; the default depends on the generation."""
    default = "NO_CLAIM" if profile_of(config.get("profile", "2.3")).has_claim_modes else "LEGACY"
    return str(config.get("claim_mode", default)) if "restored_savepoint" in config else "LEGACY"


def _not_described_options(config: Wire) -> Iterator[str]:
    yield from (why for name, why in _ELSEWHERE.items() if config.get(name))


def _not_described(event: Wire) -> Iterator[str]:
    """The parts of an event that the module does not describe; empty if TLC can replay the event."""
    kind = event["kind"]
    if kind not in EVENTS:
        yield f"an event {kind}"
    elif kind == "trigger" and event["type"] == "stop":
        yield "a stop, which JobLifecycle.tla describes"
    elif kind == "trigger" and event.get("periodic", False):
        yield "a periodic request without a scheduler"
    elif kind == "task_status" and event["status"] == "FINISHED":
        yield "a task that has finished"
    elif kind == "restore" and event.get("scope", "all") != "all":
        yield "a restore of a region"
    elif kind == "acknowledge" and event.get("attempt") is not None:
        yield "attempts"
    elif event.get("shared"):
        yield "shared files, which SharedState.tla describes"


def _event(tasks: Mapping[str, int], unit: int, event: Wire, edge: Edge, *, unaligned: bool) -> Word:
    kind, full = event["kind"], dict(filled("coordinator", event))
    if "task" in full:
        full["task"] = tasks[full["task"]]
    if kind == "advance" and full["ms"] != unit:
        return (kind, full["ms"] // unit)
    if kind in ("job_status", "task_status"):
        full["status"] = full["status"] == RUNNING
    if kind == "trigger":
        full["forced"] = full["forced"] or (full["type"] == "savepoint" and not unaligned)
    if kind == "fail_tasks":
        full["tasks"] = Raw(set_of(sorted(tasks[task] for task in full["tasks"])))
    return event_of(kind, full)


def _effect(tasks: Mapping[str, int], handles: Mapping[Any, Wire], effect: Wire) -> Word:
    """The effect in TLA+. A task is written as its number, a discarded state as its task and checkpoint.

    A restore without a checkpoint has the id 0.
    """
    kind = effect["kind"]
    if kind == "discard" and "state" in effect:
        brought = handles.get(effect["state"], {"task": None, "checkpoint": -1})
        return ("discard_state", tasks.get(brought["task"], -1), brought["checkpoint"])
    if kind == "restored":
        return (kind, effect["checkpoint"] or 0)
    numbered = {**effect, "task": tasks.get(effect["task"], -1)} if "task" in effect else effect
    return plain("coordinator", numbered)
