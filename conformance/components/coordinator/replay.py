"""The replay of a coordinator's divergence, as far as CoordinatorModel.tla describes it.

The module has requests and their queue, acknowledgements, declines, time-outs, statuses, the store and its
failures. It has no scheduler, no master phase, no shared files and no end of the job: these are in modules of
their own (Scheduler, Trigger, SharedState, JobLifecycle), each apart from the others. A run that needs one of
them has no replay, and the error names it.
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
from model.coordinator.state import RUNNING, UNLIMITED

_ELSEWHERE = {
    "interval_ms": "the scheduler, which is Scheduler.tla's",
    "operator_coordinators": "operator coordinators, which are Trigger.tla's",
    "hooks": "hooks, which are Trigger.tla's",
}


def bind_coordinator(divergence: Divergence, edges: Sequence[Edge]) -> Binding:
    """The checkpoint coordinator. Raises NotInTlaError."""
    config, events = divergence.config, divergence.events
    met = [*_beyond_config(config), *(why for event in events for why in _beyond(event))]
    if met:
        raise NotInTlaError(f"CoordinatorModel.tla does not have {met[0]}")
    planned = [task["id"] for task in config["tasks"]]
    strangers = [event["task"] for event in events if "task" in event]
    tasks = {name: number for number, name in enumerate(dict.fromkeys((*planned, *strangers)))}
    pause, timeout = config.get("min_pause_ms", 0), config.get("timeout_ms", 600_000)
    passes = [event["ms"] for event in events if event["kind"] == "advance"]
    unit = gcd(timeout, pause, *passes)
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
            "CoordinatorSwitches": coordinator_switches(config),
        },
        takes={
            "request": "OnRequest(k, [type |-> event[2], forced |-> event[3], periodic |-> event[4]])",
            "acknowledge": "Heard(OnAcknowledge(k, event[2], event[3]))",
            "decline": "Heard(OnDecline(k, event[2], event[3]))",
            "tick": "Heard(OnTick(k))",
            "advance": "Heard(Ticks(k, event[2], <<>>))",
            "job_status": "Heard(OnJobStatus(k, event[2]))",
            "task_status": "OnTaskStatus(k, event[2], event[3])",
            "fail_tasks": "Heard(OnFailTasks(k, event[2]))",
            "restore": "OnRestoreRequest(k)",
            "store_fails": "OnStoreFails(k, event[2])",
            "coordinator_restart": "OnCoordinatorRestart(k)",
        },
        shows={
            "next_id": lambda seen: {"next": value(seen)},
            "status": lambda seen: {"running": value(seen == "RUNNING")},
        },
        rules=rules_of("coordinator_requests") if all_stated and all(one == unit for one in passes) else (),
        allows='event[1] = "restore" => ~k.running',
        begins="coordinator = [NewCoordinator EXCEPT !.running = FALSE, !.up = {}] /\\ out = <<>>",
        prelude=f"""
RecordedPause == {pause // unit}
RecordedTolerable == {config.get("tolerable_failures", UNLIMITED)}

Later(c, units) ==
    [c EXCEPT !.pending = [i \\in DOMAIN @ |-> [@[i] EXCEPT !.age = @ + units]],
              !.pause = IF @ > units THEN @ - units ELSE 0]

RECURSIVE Ticks(_, _, _)
Ticks(c, units, said) ==
    IF units = 0 THEN CoordinatorStep(c, said)
    ELSE LET left  == {{units - 1}} \\cup {{Timeout - 1 - c.pending[i].age : i \\in DOMAIN c.pending}}
             quiet == Least(left)                  \\* nothing is due so long
             step  == OnTick(Later(c, quiet))
         IN  Ticks(step.coordinator, units - quiet - 1, said \\o step.out)

(* Only these acknowledgements have brought a state that could be discarded. *)
Stated == {set_of([Raw(value((tasks[task], checkpoint))) for task, checkpoint in sorted(stated)])}
Heard(step) ==
    [step EXCEPT !.out = SelectSeq(@, LAMBDA e : e[1] # "discard_state" \\/ <<e[2], e[3]>> \\in Stated)]
""",
        event=partial(_event, tasks, unit, unaligned=config.get("unaligned", False)),
        effect=partial(_effect, tasks, handles),
        failure=None,
    )


def _beyond_config(config: Wire) -> Iterator[str]:
    yield from (why for name, why in _ELSEWHERE.items() if config.get(name))


def _beyond(event: Wire) -> Iterator[str]:
    """What of an event the module does not have."""
    kind = event["kind"]
    if kind not in EVENTS:
        yield f"an event {kind}"
    elif kind == "trigger" and event["type"] == "stop":
        yield "a stop, which is JobLifecycle.tla's"
    elif kind == "trigger" and event.get("periodic", False):
        yield "a periodic request without a scheduler"
    elif kind == "task_status" and event["status"] == "FINISHED":
        yield "a task that has finished"
    elif kind == "restore" and event.get("scope", "all") != "all":
        yield "a restore of a region"
    elif kind == "acknowledge" and event.get("attempt") is not None:
        yield "attempts"
    elif event.get("shared"):
        yield "shared files, which are SharedState.tla's"


def _event(tasks: Mapping[str, int], unit: int, event: Wire, edge: Edge, *, unaligned: bool) -> Word:
    kind, full = event["kind"], dict(filled("coordinator", event))
    if "task" in full:
        full["task"] = tasks[full["task"]]
    if kind == "task_status":
        return (kind, full["task"], full["status"] == RUNNING)
    if kind == "advance" and full["ms"] != unit:
        return (kind, full["ms"] // unit)
    if kind == "job_status":
        full["status"] = full["status"] == RUNNING
    if kind == "trigger":
        full["forced"] = full["forced"] or (full["type"] == "savepoint" and not unaligned)
    if kind == "fail_tasks":
        full["tasks"] = Raw(set_of(sorted(tasks[task] for task in full["tasks"])))
    return event_of(kind, full)


def _effect(tasks: Mapping[str, int], handles: Mapping[Any, Wire], effect: Wire) -> Word:
    """An effect: tasks by their numbers, a state by its acknowledgement, 0 for the initial state."""
    kind = effect["kind"]
    if kind == "discard" and "state" in effect:
        brought = handles.get(effect["state"], {"task": None, "checkpoint": -1})
        return ("discard_state", tasks.get(brought["task"], -1), brought["checkpoint"])
    if kind == "restored":
        return (kind, effect["checkpoint"] or 0)
    numbered = {**effect, "task": tasks.get(effect["task"], -1)} if "task" in effect else effect
    return plain("coordinator", numbered)
