"""What is drawn: each part of the protocol with a few events, so that a person can read every state."""

from typing import Any

from conformance.adapters.protocol import Wire
from conformance.pictures.graph import Subject
from conformance.pictures.labels import named, say_id, two_lines
from conformance.pictures.operators import OPERATORS

LETTERS = {"barrier": "B", "cancel": "X", "end_of_partition": "E", "announce": "N"}
UNALIGNED = {"unaligned": "U", "timeout": "t"}


def _at_gate(kind: str, channel: int, **more: object) -> Wire:
    wire: dict[str, Any] = {"kind": kind, "channel": channel, **more}
    return wire if kind == "end_of_partition" else {**wire, "checkpoint": 1}


def _say_gate(event: Wire) -> str:
    if event["kind"] == "advance":
        return f"+{event['ms']} ms"
    letter = UNALIGNED.get(event.get("alignment", ""), LETTERS[event["kind"]])
    if event["kind"] == "announce":
        letter = LETTERS["announce"]
    return f"{letter}{event['channel']}"


def _show_gate(seen: dict[str, Any]) -> tuple[str, ...]:
    began = "nothing yet" if seen["current"] < 0 else "1 pending" if seen["pending"] else "1 over"
    return two_lines(
        began,
        named("blocked", seen["blocked"]),
        named("counts", seen.get("arrived", [])),
        named("ended", seen["closed"]),
    )


def _show_tracked(seen: dict[str, Any]) -> tuple[str, ...]:
    began = "nothing yet" if seen["current"] < 0 else "none tracked"
    for _, counted, aborted in seen["tracked"]:
        began = f"1 tracked: {','.join(map(str, counted))}" + (" (aborted)" if aborted else "")
    return two_lines(began, named("ended", seen["closed"]))


def _show_subtask(seen: dict[str, Any]) -> tuple[str, ...]:
    return two_lines(
        f"last {seen['last']}" if seen["last"] >= 0 else "nothing yet",
        named("runs", seen["running"]),
        named("aborted", seen["aborted"]),
        f"complete {seen['completed']}" if seen["completed"] >= 0 else "",
    )


def _say_coordinator(event: Wire) -> str:
    match event["kind"]:
        case "acknowledge":
            return f"ack {event['task'][0]}{event['checkpoint']}"
        case "advance":
            return "time-out"
        case "trigger":
            return str(event["type"])
        case _:
            return f"{event['kind']} {event.get('checkpoint', '')}".strip()


def _show_coordinator(seen: dict[str, Any]) -> tuple[str, ...]:
    pending = seen["pending"].items()
    waiting = [f"{number} awaits {','.join(task[0] for task in tasks)}" for number, tasks in pending]
    return two_lines(*(waiting or [f"next id {seen['next_id']}"]), named("kept", seen["completed"]))


def _say_store(event: Wire) -> str:
    return f"{event['type']} {event['checkpoint']}"


def _show_store(seen: dict[str, Any]) -> tuple[str, ...]:
    return (",".join(map(str, seen["completed"])) or "empty",)


_TASKS = [{"id": "source-0", "source": True}, {"id": "map-0", "source": False}]
_RUNNING: tuple[Wire, ...] = (
    {"kind": "job_status", "status": "RUNNING"},
    *({"kind": "task_status", "task": task["id"], "status": "RUNNING"} for task in _TASKS),
)
_IDS = 2
"""Checkpoints of the drawn coordinator."""
_ALIGNED = {"channels": 2, "mode": "exactly-once", "level": "handler"}

SUBJECTS = (
    Subject(
        "gate-exactly-once",
        "A gate of two channels, exactly-once: one checkpoint",
        "B0 is a barrier on channel 0, X0 a cancellation, E0 the end; the snapshot is taken where T1 stands.",
        "gate",
        _ALIGNED,
        (),
        [_at_gate(kind, channel) for kind in ("barrier", "cancel", "end_of_partition") for channel in (0, 1)],
        _show_gate,
        _say_gate,
    ),
    Subject(
        "gate-ends-abort",
        "The same gate up to 1.13, where an end aborts",
        "Compare E0 and E1 with the picture above: an end gives the pending checkpoint up.",
        "gate",
        {**_ALIGNED, "profile": "flink-1.13"},
        (),
        [_at_gate(kind, channel) for kind in ("barrier", "end_of_partition") for channel in (0, 1)],
        _show_gate,
        _say_gate,
    ),
    Subject(
        "gate-at-least-once",
        "A gate of two channels, at-least-once: one checkpoint",
        "Nothing blocks; the numbers are the channels that count for checkpoint 1.",
        "gate",
        {"channels": 2, "mode": "at-least-once", "level": "handler"},
        (),
        [
            *(_at_gate(kind, channel) for kind in ("barrier", "cancel") for channel in (0, 1)),
            _at_gate("end_of_partition", 0),
        ],
        _show_tracked,
        _say_gate,
    ),
    Subject(
        "gate-unaligned",
        "A gate of two channels, unaligned: one checkpoint",
        "U0 is an unaligned barrier: the first one triggers at once, the last one ends the collecting.",
        "gate",
        {"channels": 2, "mode": "unaligned", "level": "handler"},
        (),
        [
            *(_at_gate("barrier", channel, alignment="unaligned") for channel in (0, 1)),
            *(_at_gate(kind, channel) for kind in ("cancel", "end_of_partition") for channel in (0, 1)),
        ],
        _show_gate,
        _say_gate,
    ),
    Subject(
        "gate-alternating",
        "A gate of two channels, alternating: aligned, or given up for an unaligned barrier",
        "B0 aligns and blocks its channel, U0 gives the alignment up and triggers.",
        "gate",
        {"channels": 2, "mode": "alternating", "level": "handler"},
        (),
        [
            *(_at_gate("barrier", channel) for channel in (0, 1)),
            *(_at_gate("barrier", channel, alignment="unaligned") for channel in (0, 1)),
        ],
        _show_gate,
        _say_gate,
    ),
    Subject(
        "subtask",
        "The snapshot steps of a subtask: one checkpoint",
        "An abort may come before its trigger: then the trigger is answered with a cancellation.",
        "subtask",
        {},
        (),
        [
            {"kind": "checkpoint", "checkpoint": 1},
            {"kind": "async_done", "checkpoint": 1},
            {"kind": "async_failed", "checkpoint": 1},
            {"kind": "abort_notification", "checkpoint": 1, "completed": -1},
            {"kind": "complete_notification", "checkpoint": 1},
        ],
        _show_subtask,
        say_id,
    ),
    Subject(
        "coordinator",
        "A coordinator of a source and a map: two checkpoints at once",
        "'ack s1': the source acknowledges checkpoint 1; C1 completes it, A1 aborts it, as C2 does.",
        "coordinator",
        {"tasks": _TASKS, "timeout_ms": 100, "max_concurrent": 2, "retain": 1, "tolerable_failures": -1},
        _RUNNING,
        [
            {"kind": "trigger", "type": "checkpoint"},
            *(
                {"kind": "acknowledge", "task": task["id"], "checkpoint": number}
                for number in (1, 2)
                for task in _TASKS
            ),
            {"kind": "decline", "task": "map-0", "checkpoint": 1, "reason": "CHECKPOINT_DECLINED"},
        ],
        _show_coordinator,
        _say_coordinator,
        lambda seen, event: event["kind"] != "trigger" or seen["next_id"] <= _IDS,
    ),
    Subject(
        "store",
        "A store that retains one: savepoints do not evict the newest checkpoint",
        "A state is the list of what is kept; D1 deletes checkpoint 1.",
        "store",
        {"retain": 1},
        (),
        [
            {"kind": "add", "checkpoint": number, "type": kind}
            for number, kind in ((1, "checkpoint"), (2, "savepoint"), (3, "checkpoint"), (3, "stop"))
        ],
        _show_store,
        _say_store,
        lambda seen, event: event["checkpoint"] > max(seen["completed"], default=0),
    ),
    *OPERATORS,
)
"""In the order of the page."""
