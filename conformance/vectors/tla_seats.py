"""How a component of the wire stands in its module of TLA+: its variable, its steps, its words.

A component that is not here has no module into which any run of it fits: its closed model restricts what
may come, or leaves out what the wire has.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from conformance.adapters.protocol import Wire
from conformance.drive.lockstep import Divergence
from model.coordinator_profiles import COORDINATOR_PROFILES


class Seat(NamedTuple):
    """How a component of the wire stands in its module."""

    module: str
    model: str
    """Of the manifest: what it checks is checked here."""
    state: str
    """The variable that holds the component, and the field of a step that does."""
    others: str
    """What happens to the variables of the environment."""
    allows: str
    takes: Mapping[str, str]
    """By the event's kind, the step of the specification."""
    constants: Callable[[Divergence], Mapping[str, object]]
    fields: Callable[[Divergence, Wire], Mapping[str, str]]
    """What was observed after the last event, as fields of the state, or under `` as the whole of it."""


def event_of(component: str, event: Wire) -> tuple[Any, ...]:
    """As `out` of the modules has it: the kind, then the fields in the order of the actions."""
    order = {"gate": ("channel", "checkpoint"), "store": ("checkpoint", "type")}.get(
        component, ("checkpoint", "offsets")
    )
    return (event["kind"], *(event[name] for name in order if name in event))


def effect_of(effect: Wire) -> tuple[Any, ...]:
    """As `out` of the modules has it: the kind, then the fields."""
    return tuple(effect.values()) if next(iter(effect)) == "kind" else tuple(sorted(effect.values(), key=str))


def value(one: Any) -> str:  # noqa: ANN401 - any JSON value
    """A value in TLA+: lists and tuples are sequences."""
    if isinstance(one, bool):
        return str(one).upper()
    if isinstance(one, int):
        return str(one)
    if isinstance(one, list | tuple):
        return f"<<{', '.join(value(part) for part in one)}>>"
    told = "none" if one is None else str(one)
    return '"' + told.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _set(values: Sequence[int]) -> str:
    return "{" + ", ".join(value(one) for one in values) + "}"


def _highest(divergence: Divergence, field: str) -> int:
    return max([1, *(int(event[field]) for event in divergence.events if field in event)])


def _gate_constants(divergence: Divergence) -> Mapping[str, object]:
    config = divergence.config
    profile = str(config.get("profile", "flink-1.14"))
    after_finish = config.get("checkpoints_after_tasks_finish", profile == "flink-1.14")
    return {
        "N": config["channels"],
        "M": _highest(divergence, "checkpoint"),
        "AfterFinish": value(after_finish),
        "Polled": "FALSE",
        "Switches": profile.replace("flink-", "Flink_").replace(".", "_"),
    }


def _gate_fields(divergence: Divergence, seen: Wire) -> Mapping[str, str]:
    told = {"current": value, "pending": value, "blocked": _set, "closed": _set}
    return {name: spelled(seen[name]) for name, spelled in told.items() if name in seen}


def _store_constants(divergence: Divergence) -> Mapping[str, object]:
    names = list(COORDINATOR_PROFILES)
    last = names.index(
        "1.18"
    )  # in the modules the newest: what later ones differ in is no matter of the store
    profile = names[min(last, names.index(divergence.config.get("profile", names[-1])))]
    return {
        "Retain": divergence.config.get("retain", 1),
        "M": _highest(divergence, "checkpoint"),
        "CoordinatorSwitches": f"Coordinator_{profile.replace('.', '_')}",
    }


def _store_fields(divergence: Divergence, seen: Wire) -> Mapping[str, str]:
    types = {event["checkpoint"]: event["type"] for event in divergence.events if "type" in event}
    entries = [f"[id |-> {one}, type |-> {value(types.get(one, 'checkpoint'))}]" for one in seen["completed"]]
    return {"": f"<<{', '.join(entries)}>>"}


def _offsets_constants(divergence: Divergence) -> Mapping[str, object]:
    return {
        "Bound": divergence.config.get("remembered", 100),
        "M": _highest(divergence, "checkpoint"),
        "Offsets": _highest(divergence, "offsets") + 1,
    }


def _offsets_fields(divergence: Divergence, seen: Wire) -> Mapping[str, str]:
    told = {name: value(seen[name]) for name in ("remembered", "running") if name in seen}
    committed = {"committed": value(seen["committed"]) if seen.get("committed") else "Nothing"}
    return {**told, **(committed if "committed" in seen else {})}


SEATS: Mapping[str, Seat] = {
    "gate": Seat(
        "GateModel",
        "gate_injected_2",
        "gate",
        "UNCHANGED last",
        '~gate.failed /\\ (event[1] = "inject" \\/ event[2] \\notin gate.closed)',
        {
            "barrier": "OnBarrier(gate, event[2], event[3])",
            "cancel": "OnCancel(gate, event[3])",
            "end_of_partition": "OnEndOfPartition(gate, event[2])",
            "inject": "OnInject(gate, event[2])",
        },
        _gate_constants,
        _gate_fields,
    ),
    "store": Seat(
        "StoreModel",
        "store_1_11",
        "store",
        "added' = added \\cup {Recorded[step + 1][2]}",
        "~Holds(store, event[2])",
        {"add": "OnAdd(store, event[2], event[3])"},
        _store_constants,
        _store_fields,
    ),
    "offsets": Seat(
        "OffsetsModel",
        "offsets_bound_2",
        "reader",
        "TRUE",
        '(event[1] = "restore") # reader.running /\\ (event[1] = "snapshot" => event[2] > reader.newest)',
        {
            "snapshot": "OnSnapshot(reader, event[2], event[3])",
            "notify_complete": "OnNotifyComplete(reader, event[2])",
            "notify_abort": "OnNotifyAbort(reader, event[2])",
            "crash": "OnCrash(reader)",
            "restore": "OnRestore(reader, event[2])",
        },
        _offsets_constants,
        _offsets_fields,
    ),
}
