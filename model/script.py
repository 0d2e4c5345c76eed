"""Runs of the closed models in wire form: configuration, opening, events.

A tour or a directed case of a closed model can so be sent to any implementation. The opening brings a fresh
component to the initial state of the closed model.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from model.channel.events import RestoreChannel, SendBarrier
from model.checker.closed_model import ClosedModel
from model.coordinator.events import TaskStatus
from model.coordinator.wire.script import (
    coordinator_config,
    coordinator_event,
    coordinator_opening,
    task_name,
)
from model.events import NONE, Event
from model.gate.unaligned import UnalignedGate
from model.gate.unaligned_events import Announce, Inject, OptionedBarrier, ReceiveBarrier
from model.gate.wire.unaligned import ALIGNMENTS as CODES
from model.sink.events import FailingRestore, Restore
from model.source.events import TriggerArrives
from model.source.wire import ELSEWHERE, EXTERNAL
from model.store.events import Add
from model.store.wire import TYPES

ALIGNMENTS = {code: name for name, code in CODES.items()}
WireObject = dict[str, Any]

_KINDS = {
    "acknowledge_message": "acknowledge",
    "decline_message": "decline",
    "failing_completion": "notify_complete",
    "failing_restore": "restore",
    "latest_request": "latest",
    "restore_offsets": "restore",
    "restore_request": "restore",
    "snapshot_offsets": "snapshot",
    "snapshot_request": "snapshot",
    "write_request": "write",
}
_OPERATOR_KINDS = {"complete_notification": "notify_complete", "abort_notification": "notify_abort"}

_OPERATORS = ("sink", "offsets")
"""The components that receive notifications like an operator."""
_OF_GATE = ("gate", "network", "buffer", "tracker", "unaligned", "passage", "threads")


def component_on_wire(component: str) -> str:
    """The wire component of which a closed model's component is a mode or a level."""
    return "gate" if component in _OF_GATE else component


class Script(NamedTuple):
    """One run of a closed model, ready to be sent."""

    component: str
    config: WireObject
    opening: tuple[WireObject, ...]
    events: tuple[WireObject, ...]


def script(closed: ClosedModel, run: Iterable[Event]) -> Script:
    """The run in wire form."""
    component = component_on_wire(closed.component)
    opening, config = _opening(closed)
    tasks = len(closed.state.plan.sources) if component == "coordinator" else 1
    events = tuple(wire_event(component, event, f"state-{place}", tasks) for place, event in enumerate(run))
    return Script(component, config, opening, events)


def _opening(closed: ClosedModel) -> tuple[tuple[WireObject, ...], WireObject]:
    state = closed.state
    if closed.component in ("gate", "network"):
        gate = state if closed.component == "gate" else state.gate
        level = "handler" if closed.component == "gate" else "polled"
        return (), {
            "channels": len(gate.blocked),
            "level": level,
            "checkpoints_after_tasks_finish": gate.counts_as_aligned,
            "profile": gate.profile.name,
        }
    if closed.component in ("unaligned", "passage"):
        return (), unaligned_config(
            state if closed.component == "unaligned" else state.gate, closed.component
        )
    if closed.component == "threads":
        return (), unaligned_config(state.gate, "unaligned")
    if closed.component == "buffer":
        barriers = tuple(
            {"kind": "barrier", "channel": channel, "checkpoint": state.gate.current}
            for channel, blocked in enumerate(state.gate.blocked)
            if blocked
        )
        return barriers, {
            "channels": len(state.gate.blocked),
            "level": "polled",
            "checkpoints_after_tasks_finish": state.gate.counts_as_aligned,
            "profile": state.gate.profile.name,
            "alignment_limit_bytes": state.limit,
        }
    if closed.component == "tracker":
        return (), {
            "channels": len(state.closed),
            "mode": "at-least-once",
            "level": "polled",
            "checkpoints_after_tasks_finish": state.counts_as_aligned,
            "profile": state.profile.name,
        }
    if closed.component == "channel":
        return (), {"profile": state.profile.name}
    if closed.component == "subtask":
        return (), {"profile": state.profile.name, "max_concurrent": state.remembered_at_most}
    if closed.component == "store":
        return (), {"retain": state.retain, "profile": state.profile.name}
    if closed.component == "sink":
        return (), {"profile": state.profile.name}
    if closed.component == "source":
        return (), {"profile": state.profile.name, "external": EXTERNAL[state.external]}
    if closed.component == "offsets":
        return (), {"remembered": state.remembered_at_most}
    return coordinator_opening(state), coordinator_config(state)


def unaligned_config(gate: UnalignedGate, component: str) -> WireObject:
    """The configuration of an unaligned or alternating gate, alone or polled."""
    return {
        "channels": len(gate.closed),
        "mode": "alternating" if gate.alternating else "unaligned",
        "level": "handler" if component == "unaligned" else "polled",
        "checkpoints_after_tasks_finish": gate.counts_as_aligned,
        "profile": gate.profile.name,
        "alignment_timeout_ms": gate.timeout,
    }


def wire_event(component: str, event: Event, handle: str, tasks: int = 1) -> WireObject:
    """One event of a job of `tasks` tasks; an acknowledgement with a state gets `handle` for it."""
    if component == "coordinator":
        own = coordinator_event(event, handle, tasks)
        if own is not None:
            return own
    kind = str(event[-1])
    if component in _OPERATORS:
        kind = _OPERATOR_KINDS.get(kind, kind)
    wire: WireObject = {"kind": _KINDS.get(kind, kind)}
    if (
        type(event) is OptionedBarrier
        or type(event) is Announce
        or type(event) is Inject
        or type(event) is ReceiveBarrier
    ):
        return {"kind": kind, **event._asdict(), "alignment": ALIGNMENTS[event.alignment]}
    if type(event) is SendBarrier:
        return {"kind": kind, "checkpoint": event.checkpoint, "alignment": ALIGNMENTS[event.alignment]}
    if type(event) is RestoreChannel:
        return {"kind": kind, "input": list(event.input), "output": list(event.output)}
    if type(event) is TriggerArrives:
        own_task = {} if event.here else {"to": ELSEWHERE}
        return {"kind": "trigger", "checkpoint": event.checkpoint, **own_task}
    if type(event) is Add:
        return {"kind": "add", "checkpoint": event.checkpoint, "type": TYPES[event.type]}
    if type(event) is Restore or type(event) is FailingRestore:
        restored = {"kind": "restore", "checkpoint": None if event.checkpoint == NONE else event.checkpoint}
        return restored | ({"fails": event.fails} if type(event) is FailingRestore else {})
    if type(event) is TaskStatus:
        return {"kind": "task_status", "task": task_name(event.task), "status": event.status}
    fields: dict[str, Any] = event._asdict()  # type: ignore[attr-defined]
    fields.pop("kind")
    if "task" in fields:
        fields["task"] = task_name(fields["task"])
    if component in _OPERATORS:
        fields.pop("completed", None)
    return wire | fields
