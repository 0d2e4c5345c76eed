"""How Hypothesis draws the events of each component, and when a draw makes sense.

Every event is drawn relative to the observable state, so that small draws mean telling events.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from hypothesis import strategies as st

from conformance.adapters.protocol import Wire
from conformance.cases.hypothesis_operator_events import OFFSETS, RESTORES, SINK, SOURCE
from conformance.generators.channel import CHANNEL_DRAWS
from conformance.generators.unaligned import MODES as UNALIGNED_MODES
from conformance.generators.unaligned import drawn_advance, drawn_barrier

Draw = Callable[[st.DataObject, Wire, Wire], Wire]
"""An event, given the draws, the configuration and the observable state."""


def _near(data: st.DataObject, around: int) -> int:
    return max(0, around + data.draw(st.integers(-2, 3), "distance"))


def one_of(data: st.DataObject, values: list[Any]) -> Any:  # noqa: ANN401 - whatever the list holds
    """One of the values, by its position."""
    return values[data.draw(st.integers(0, len(values) - 1), "position")]


def _channel(data: st.DataObject, config: Wire) -> int:
    return data.draw(st.integers(0, config["channels"] - 1), "channel")


def _at_gate(kind: str) -> Draw:
    def draw(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
        channel = _channel(data, config)
        return {"kind": kind, "channel": channel, "checkpoint": _near(data, seen["current"])}

    return draw


def _awaited(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    channels = [c for c in range(config["channels"]) if c not in seen["blocked"] and c not in seen["closed"]]
    channel = one_of(data, channels or [0])
    return {"kind": "barrier", "channel": channel, "checkpoint": seen["current"] + (not seen["pending"])}


def _tracked(kind: str) -> Draw:
    def draw(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
        channels = [channel for channel in range(config["channels"]) if channel not in seen["closed"]]
        channel = one_of(data, channels or [0])
        checkpoint = one_of(data, [entry[0] for entry in seen["tracked"]])
        return {"kind": kind, "channel": channel, "checkpoint": checkpoint}

    return draw


def _record(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    value = data.draw(st.integers(0, 9), "value")
    return {"kind": "record", "channel": _channel(data, config), "value": value}


def _inject(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    if config["mode"] in UNALIGNED_MODES:
        return drawn_barrier("inject", data, config, seen)
    return {"kind": "inject", "checkpoint": _near(data, seen["current"])}


def _end(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "end_of_partition", "channel": _channel(data, config)}


def _of_subtask(kind: str) -> Draw:
    def draw(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
        if seen["running"] and data.draw(st.booleans(), "running"):
            return {"kind": kind, "checkpoint": one_of(data, seen["running"])}
        return {"kind": kind, "checkpoint": _near(data, seen["last"])}

    return draw


def _trigger(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    ids = [*seen["aborted"], *(max(0, seen["last"] + distance) for distance in (1, 2, 0, -1))]
    return {"kind": "checkpoint", "checkpoint": one_of(data, ids)}


def _broken_trigger(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {**_trigger(data, config, seen), "fails": True}


def _async_cause(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {**_of_subtask("async_failed")(data, config, seen), "reason": "IO_EXCEPTION"}


def _abort_on_barrier(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    reason = one_of(data, ["SUBSUMED", "ON_CANCELLATION_BARRIER", "INPUT_END_OF_STREAM"])
    return {"kind": "abort_on_barrier", "checkpoint": _near(data, seen["last"]), "reason": reason}


def _abort_notification(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    ids = [max(0, seen["last"] + 1), *seen["running"], _near(data, seen["last"] + 2)]
    completed = max(-1, seen["completed"] + data.draw(st.integers(-1, 2), "completed"))
    return {"kind": "abort_notification", "checkpoint": one_of(data, ids), "completed": completed}


def _complete_notification(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "complete_notification", "checkpoint": _near(data, seen["completed"])}


def _status(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "status", "running": not data.draw(st.booleans(), "stops")}


def _task(data: st.DataObject, config: Wire) -> str:
    return str(one_of(data, [task["id"] for task in config["tasks"]]))


def _all_run(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "task_status", "task": _task(data, config), "status": "RUNNING"}


def _task_stops(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "task_status", "task": _task(data, config), "status": "FINISHED"}


def _job_status(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "job_status", "status": one_of(data, ["RUNNING", "RUNNING", "RESTARTING", "FAILING"])}


def _request(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "trigger", "type": one_of(data, ["checkpoint", "checkpoint", "savepoint"])}


def _pending(data: st.DataObject, seen: Wire) -> int:
    return int(one_of(data, [*seen["pending"], seen["next_id"], max(1, seen["next_id"] - 1)]))


def _acknowledge(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    checkpoint = _pending(data, seen)
    missing = seen["pending"].get(str(checkpoint), [])
    task = one_of(data, [*missing, _task(data, config), "stranger-0"])
    event: dict[str, object] = {"kind": "acknowledge", "task": task, "checkpoint": checkpoint}
    if data.draw(st.booleans(), "state"):
        event["state"] = f"{task}/{checkpoint}"
    return event


def _decline(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    checkpoint, task = _pending(data, seen), _task(data, config)
    return {"kind": "decline", "task": task, "checkpoint": checkpoint, "reason": "ASYNC_EXCEPTION"}


def _advance(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "advance", "ms": data.draw(st.integers(0, config["timeout_ms"] + 1), "ms")}


def _fail(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "fail_tasks", "tasks": [_task(data, config)]}


def _restore_job(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "restore"}  # refused while the job runs


def _add(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    kind = one_of(data, ["checkpoint", "checkpoint", "savepoint", "stop"])
    return {"kind": "add", "checkpoint": _near(data, max(seen["completed"], default=0)), "type": kind}


def _latest(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "latest"}


def _shutdown(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "shutdown", "discard": data.draw(st.booleans(), "discard")}


DRAWS: Mapping[str, Mapping[str, Draw]] = {
    "gate": {
        "awaited_barrier": _awaited,
        "barrier": _at_gate("barrier"),
        "cancel": _at_gate("cancel"),
        "record": _record,
        "end_of_partition": _end,
        "tracked_barrier": _tracked("barrier"),
        "tracked_cancel": _tracked("cancel"),
        "optioned_barrier": partial(drawn_barrier, "barrier"),
        "announce": partial(drawn_barrier, "announce"),
        "inject": _inject,
        "advance": drawn_advance,
    },
    "channel": CHANNEL_DRAWS,
    "subtask": {
        "checkpoint": _trigger,
        "abort_on_barrier": _abort_on_barrier,
        "abort_notification": _abort_notification,
        "complete_notification": _complete_notification,
        "async_done": _of_subtask("async_done"),
        "async_failed": _of_subtask("async_failed"),
        "async_cause": _async_cause,
        "broken_checkpoint": _broken_trigger,
        "subsumed_notification": _of_subtask("subsumed_notification"),
        "close": lambda data, config, seen: {"kind": "close"},
        "status": _status,
    },
    "coordinator": {
        "task_runs": _all_run,
        "job_status": _job_status,
        "trigger": _request,
        "acknowledge": _acknowledge,
        "acknowledge_more": _acknowledge,
        "decline": _decline,
        "advance": _advance,
        "task_stops": _task_stops,
        "fail_tasks": _fail,
        "restore": _restore_job,
    },
    "store": {"add": _add, "latest": _latest, "shutdown": _shutdown},
    "sink": SINK,
    "offsets": OFFSETS,
    "source": SOURCE,
}
"""For each component its machine's rules: how the event of a rule is drawn."""

POSSIBLE: Mapping[str, Callable[[Wire, Wire], bool]] = {
    **{
        f"{component}.{name}": lambda config, seen: bool(seen["running"])
        for component, names in {
            "sink": SINK,
            "offsets": OFFSETS,
        }.items()
        for name in names
        if name not in RESTORES
    },
    **{
        f"{component}.{name}": lambda config, seen: not seen["running"]
        for component in ("sink", "offsets")
        for name in RESTORES
    },
    **{
        f"gate.{name}": lambda config, seen: config["mode"] in UNALIGNED_MODES
        for name in ("optioned_barrier", "announce", "advance")
    },
    "source.induce": lambda config, seen: config["external"] != "no",
    "gate.inject": lambda config, seen: (
        config["mode"] != "at-least-once" and config["profile"] == "flink-1.14"
    ),
    **{
        f"gate.{name}": lambda config, seen: bool(seen.get("tracked"))
        for name in ("tracked_barrier", "tracked_cancel")
    },
    "gate.record": lambda config, seen: config["level"] == "polled",
    "subtask.broken_checkpoint": lambda config, seen: seen["last"] > 1 or config["profile"] == "1.9",
    "subtask.close": lambda config, seen: seen["last"] > 2,
    "subtask.status": lambda config, seen: not seen["running_task"] or seen["last"] > 0,
    "coordinator.restore": lambda config, seen: seen["status"] != "RUNNING",
    "coordinator.task_runs": lambda config, seen: not seen["pending"],
    "coordinator.acknowledge_more": lambda config, seen: bool(seen["pending"]),
}
"""When a machine's rule makes sense; the walks try what must be refused."""
