"""Seats of the store, of a reader of offsets, of the sink, of a subtask and of a source's task."""

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.adapters.protocol import Wire
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.vectors.tla.binding import (
    NotInTlaError,
    Raw,
    Seat,
    Told,
    field,
    highest,
    plain,
    rules_of,
    set_of,
    value,
)
from model.coordinator.profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR
from model.source.source_task import NEWEST_SOURCE
from model.subtask.profiles import NEWEST_TASK, TASK_PROFILES

_LAST_COORDINATOR = "1.18"
"""In the modules the newest; what later ones differ in is the scheduler's, which they do not have."""


def coordinator_switches(config: Wire) -> Raw:
    """The operator that stands for a generation of the coordinator and of its store."""
    names = list(COORDINATOR_PROFILES)
    asked = names.index(config.get("profile", NEWEST_COORDINATOR.name))
    return Raw(f"Coordinator_{names[min(names.index(_LAST_COORDINATOR), asked)]}".replace(".", "_"))


# ---------------------------------------------------------------- store


def store_seat(divergence: Divergence, edges: Sequence[Edge]) -> Seat:
    """The store of completed checkpoints; what is read from it is the last one."""
    if any(event["kind"] == "shutdown" for event in divergence.events):
        raise NotInTlaError("Store.tla has no event shutdown: how a job ends stands in JobLifecycle.tla")
    types = {event["checkpoint"]: event["type"] for event in divergence.events if event["kind"] == "add"}

    def completed(ids: Sequence[int]) -> Mapping[str, str]:
        kept = [Raw(f"[id |-> {one}, type |-> {value(types.get(one, 'checkpoint'))}]") for one in ids]
        return {"": value(kept)}

    return Seat(
        module="StoreModel",
        state="store",
        constants={
            "Retain": divergence.config.get("retain", 1),
            "M": highest(divergence.events, "checkpoint"),
            "CoordinatorSwitches": coordinator_switches(divergence.config),
        },
        takes={
            "add": "OnAdd(store, event[2], event[3])",
            "latest": '[store |-> store, out |-> <<<<"latest", Newest>>>>]',
        },
        shows={"completed": completed},
        rules=rules_of("store_1_11") if {event["kind"] for event in divergence.events} == {"add"} else (),
        allows='event[1] = "add" => ~Holds(store, event[2])',
        others="added' = added \\cup Adds(Recorded[replayed + 1])",
        prelude="""
Newest == IF store = <<>> THEN -1 ELSE LatestId(store)
Adds(event) == IF event[1] = "add" THEN {event[2]} ELSE {}
""",
    )


# ---------------------------------------------------------------- offsets


def offsets_seat(divergence: Divergence, edges: Sequence[Edge]) -> Seat:
    """A source that commits how far it has read."""

    def committed(seen: Any) -> Mapping[str, str]:  # noqa: ANN401 - a pair, or null
        return {"committed": value(seen) if seen else "Nothing"}

    return Seat(
        module="OffsetsModel",
        state="reader",
        constants={
            "Bound": divergence.config.get("remembered", 100),
            "M": highest(divergence.events, "checkpoint"),
            "Offsets": highest(divergence.events, "offsets") + 1,
        },
        takes={
            "snapshot": "OnSnapshot(reader, event[2], event[3])",
            "notify_complete": "OnNotifyComplete(reader, event[2])",
            "notify_abort": "OnNotifyAbort(reader, event[2])",
            "crash": "OnCrash(reader)",
            "restore": "OnRestore(reader, event[2])",
        },
        shows={"remembered": field("remembered"), "running": field("running"), "committed": committed},
        rules=rules_of("offsets_bound_2"),
        allows="""
    /\\ (event[1] = "restore") # reader.running
    /\\ event[1] = "snapshot" => event[2] > reader.newest""",
    )


# ---------------------------------------------------------------- sink


def _of_sink(event: Wire, edge: Edge) -> Told:
    """A commit that fails where its turn comes is an event of its own."""
    if any(effect["kind"] == "commit_failed" for effect in edge.effects):
        return (f"{event['kind']}_failing", event["checkpoint"], event["fails"])
    return plain({name: event[name] for name in ("kind", "checkpoint", "value") if name in event})


def sink_seat(divergence: Divergence, edges: Sequence[Edge]) -> Seat:
    """A sink that commits in two phases, and its snapshots.

    SINK-08 is not asked: that no transaction is committed and aborted needs a coordinator that restores what
    is newest, and here any snapshot may be restored.
    """
    restored = "IF event[2] = -1 THEN NothingHeld ELSE snapshots[event[2]]"
    waits = divergence.config.get("profile", "1.14") == "1.14"
    return Seat(
        module="SinkModel",
        state="sink",
        constants={
            "M": highest(divergence.events, "checkpoint"),
            "MaxCrashes": len(divergence.events),
            **({} if waits else {"WaitsAtTheEnd": Raw("Never")}),
        },
        takes={
            "write": "OnWrite(sink, event[2])",
            "snapshot": "OnSnapshot(sink, event[2])",
            "notify_complete": "OnNotifyComplete(sink, event[2])",
            "notify_complete_failing": "OnNotifyCompleteFailing(sink, event[2], event[3])",
            "notify_abort": "OnNotifyAbort(sink, event[2])",
            "finish": "OnFinish(sink)",
            "close": "OnSinkClose(sink)",
            "crash": "OnCrash(sink)",
            "restore": f"OnRestore(sink, {restored})",
            "restore_failing": f"OnRestoreFailing(sink, {restored}, event[3])",
        },
        shows={
            "open": lambda seen: {"open": value(seen or 0)},
            "pending": field("pending"),
            "committed": field("committed", set_of),
            "running": field("running"),
        },
        rules=rules_of("sink", "SINK_08"),
        allows="""
    CASE event[1] \\in {"restore", "restore_failing"} ->
            ~sink.running /\\ (event[2] = -1 \\/ event[2] \\in DOMAIN snapshots)
      [] event[1] = "write" -> sink.running /\\ ~sink.finished
      [] event[1] = "snapshot" -> sink.running /\\ \\A n \\in DOMAIN snapshots : event[2] > n
      [] OTHER -> sink.running""",
        others="""LET event == Recorded[replayed + 1] IN
       snapshots' = CASE event[1] = "snapshot" ->
                            [n \\in DOMAIN snapshots \\cup {event[2]} |->
                                IF n = event[2] THEN Held(sink') ELSE snapshots[n]]
                      [] event[1] = "restore" ->
                            [n \\in {n \\in DOMAIN snapshots : n <= event[2]} |-> snapshots[n]]
                      [] OTHER -> snapshots
    /\\ withdrawn' = withdrawn \\cup Aborted(Tail(out'))
    /\\ UNCHANGED <<completed, crashes>>""",
        event=_of_sink,
    )


# ---------------------------------------------------------------- subtask


_TASK_SWITCHES = ("1.9", "1.11", "1.14", "1.15", "1.17")
"""The releases since which a subtask is as a set of switches in SubtaskGenerations.tla says."""
_LEFT_OUT: Mapping[str, Wire] = {
    "checkpoint": {"fails": False},
    "abort_notification": {"completed": -1},
    "async_failed": {"reason": "ASYNC_EXCEPTION"},
}
"""What is left out of an event stands for this."""


def _switches_since(release: str) -> str:
    releases = list(TASK_PROFILES)
    since = [one for one in _TASK_SWITCHES if releases.index(one) <= releases.index(release)]
    return since[-1].replace(".", "_")


def subtask_seat(divergence: Divergence, edges: Sequence[Edge]) -> Seat:
    """The snapshot steps of a task."""
    config = divergence.config
    named = config.get("profile", NEWEST_TASK.name)
    profile = TASK_PROFILES[named]
    ids = highest(divergence.events, "checkpoint", "completed")
    return Seat(
        module="SubtaskModel",
        state="task",
        constants={
            "M": ids,
            "News": frozenset(range(1, ids + 1)),
            "MaxRemembered": profile.remembers or config.get("max_concurrent", 1),
            "TaskSwitches": Raw(f"Task_{_switches_since(named)}"),
        },
        takes={
            "checkpoint": "OnTrigger(task, event[2], event[3])",
            "abort_on_barrier": "OnAbortOnBarrier(task, event[2], event[3])",
            "abort_notification": "OnAbortNotification(task, event[2], event[3])",
            "complete_notification": "OnCompleteNotification(task, event[2])",
            "subsumed_notification": "OnSubsumedNotification(task, event[2])",
            "async_done": "OnAsyncDone(task, event[2])",
            "async_failed": "OnAsyncFailed(task, event[2], event[3])",
            "status": "OnStatus(task, event[2])",
            "close": "OnClose(task)",
        },
        shows={
            "running_task": field("runs"),
            "last": field("last"),
            "aborted": field("aborted"),
            "running": field("running", set_of),
            "completed": field("completed"),
            "highest_aborted": field("highest"),
        },
        rules=rules_of("subtask"),
        allows="""~task.failed
    /\\ event[1] = "checkpoint" => TaskHas("orders_triggers") \\/ event[2] \\notin task.running""",
        event=lambda event, edge: plain({**_LEFT_OUT.get(event["kind"], {}), **event}),
        failure=("fail", "snapshot"),
    )


# ---------------------------------------------------------------- source


def _of_source(event: Wire, edge: Edge) -> Told:
    if event["kind"] == "trigger":
        return ("trigger", event["checkpoint"], event.get("to", "here") == "here")
    return plain(event)


def source_seat(divergence: Divergence, edges: Sequence[Edge]) -> Seat:
    """What a source's task does with a trigger."""
    external = divergence.config.get("external", "no")
    newest = divergence.config.get("profile", NEWEST_SOURCE.name) == NEWEST_SOURCE.name
    return Seat(
        module="SourceModel",
        state="source",
        constants={
            "M": highest(divergence.events, "checkpoint"),
            "External": external != "no",
            "Pairs": external == "reader" and newest,
            "Declines": newest,
        },
        takes={
            "trigger": "OnTriggerArrives(source, event[2], event[3])",
            "induce": "OnInduce(source, event[2])",
            "ended": "OnEnded(source, event[2])",
            "status": "OnSourceStatus(source, event[2])",
        },
        shows={"running": field("running"), "told": field("told", set_of), "ahead": field("ahead", set_of)},
        rules=rules_of("source_reader"),
        allows='event[1] = "induce" => External',
        event=_of_source,
        failure=("fail", "CheckpointException"),
    )
