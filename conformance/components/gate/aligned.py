"""The TLA+ side of gates of mode at-least-once, and of mode exactly-once with and without stored items.

The parts that all gates share are here too: constants, observed fields, the events that may be sent.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from conformance.compare.projection import (
    Given,
    Projection,
    by_channel,
    of_step,
    plain_effect,
    plain_event,
    projected,
)
from conformance.components.tla_records import FLAGS, Record, each, field, fields
from conformance.divergence import Divergence
from conformance.vectors.tla.binding import Binding, highest, rules_of
from conformance.vectors.tla.text import NotInTlaError, Raw, Word, set_of, steps, value
from model.gate.buffering import PAGE_BYTES, UNLIMITED
from model.gate.environment.aligned import closed_gate
from model.gate.environment.buffering import OF_RECORDS, closed_buffer
from model.gate.environment.tracking import closed_tracker
from model.gate.events import Barrier, Cancel, EndOfPartition
from model.gate.events import Record as DataRecord
from model.gate.polled_gate import Item
from model.gate.profiles import Profile
from model.gate.tracking import Tracked
from model.gate.wire import COMPONENT as ON_WIRE
from spec.values import Function

if TYPE_CHECKING:
    from model.checker.prove import Case

TRACKED_AT_MOST = 50
"""The number of checkpoints that a gate of mode at-least-once keeps. No option of the protocol changes it."""

GATE = Record(*fields("current", "pending", "repeats", "failed"), *fields("blocked", "closed", of=FLAGS))

CALLS = ("inject", "advance")
"""Events that do not arrive on a channel."""
IS_CALL = f"event[1] \\in {set_of(CALLS)}"
ALLOWS = f"~gate.failed /\\ ({IS_CALL} \\/ event[2] \\in Channels \\ gate.closed)"
"""The events that the environment may send to a gate."""

Steps = Mapping[str, str]
"""The TLA+ expression of the gate's step, by kind of event."""


def gate_constants(divergence: Divergence, profile: Profile) -> dict[str, object]:
    """The constants that all modules of gates have: channels, ids, checkpoints after finish, generation."""
    config = divergence.config
    return {
        "N": config["channels"],
        "M": highest(divergence.events, "checkpoint"),
        "AfterFinish": config.get("checkpoints_after_tasks_finish", profile.ends_count),
        "Switches": Raw(profile.name.replace("flink-", "Flink_").replace(".", "_")),
    }


_PROCESS = '<<<<"process", event[2], event[3]>>>>'


# ---------------------------------------------------------------- exactly-once


def project_gate(given: Given) -> Projection:
    """Pairs AlignedModel.tla with the closed model of the gate."""
    from model.gate.proofs.aligned import gate_cases

    channels, profile = given.number("N"), given.gates
    closed = closed_gate(
        channels,
        given.number("M"),
        counts_as_aligned=given.flag("AfterFinish"),
        polled=given.flag("Polled"),
        profile=profile,
        injects=given.replaced.get("Injects") == "Yes",
    )
    return projected(
        closed,
        "gate",
        ("gate", GATE),
        beside=by_channel(channels),
        cases=lambda: list(gate_cases(channels, profile)),
    )


def aligned_steps(gate: str) -> Steps:
    """For each event, the step of an aligning gate; `gate` is the TLA+ expression of its state."""
    return steps(
        "gate",
        gate,
        ("end_of_partition",),
        barrier=f"OnBarrier({gate}, event[2], event[3])",
        cancel=f"OnCancel({gate}, event[3])",
        record=f"[gate |-> {gate}, out |-> {_PROCESS}]",
        inject=f"OnInject({gate}, event[2])",
    )


def bind_aligned(divergence: Divergence, profile: Profile) -> Binding:
    """The binding for mode exactly-once, if the network keeps the items of blocked channels."""
    return Binding(
        "gate",
        module="AlignedModel",
        state="gate",
        constants={**gate_constants(divergence, profile), "Polled": False},
        steps=aligned_steps("gate"),
        fields=GATE.shows("gate"),
        rules=rules_of("gate_injected_2"),
        guard=ALLOWS,
        environment="UNCHANGED last",
        failure=("fail", "repeated barrier"),
    )


# ---------------------------------------------------------------- exactly-once with a store of its own

_ITEMS: Mapping[str, Callable[..., Item]] = {
    "barrier": Barrier,
    "cancel": Cancel,
    "end_of_partition": EndOfPartition,
    "record": lambda channel: DataRecord(channel, OF_RECORDS),
}


def _item(there: tuple[object, ...]) -> Item:
    return _ITEMS[str(there[0])](*there[1:])


def _written(item: Item) -> Word:
    """An item in the form of TLA+: the kind, then the fields, without the value of a record."""
    return (item.kind, *item[: 1 if isinstance(item, DataRecord) else -1])


def project_storing(given: Given) -> Projection:
    """Pairs BufferingModel.tla with the closed gate that stores items; TLA+ has no values of records."""
    channels, limit = given.number("N"), given.number("Limit") or UNLIMITED
    closed = closed_buffer(channels, given.number("M"), given.number("Room"), limit)
    buffer = Record(
        *fields("stored", of=each(_item, _written)), *fields("gate", of=GATE.nested(closed.state.gate))
    )
    projection = projected(closed, "gate", ("buffer", buffer), beside=by_channel(channels))

    def without_value(word: Word) -> Word:
        return word[:2] if word[0] in ("record", "process") else word

    event, effect = plain_event(ON_WIRE), plain_effect(ON_WIRE)
    return projection._replace(
        words=of_step(lambda one: without_value(event(one)), lambda one: without_value(effect(one)))
    )


def bind_storing(divergence: Divergence, profile: Profile) -> Binding:
    """The binding for mode exactly-once up to 1.10 at the polled level: the gate itself stores items.

    Raises NotInTlaError if the limit is smaller than one item.
    """
    limit = divergence.config.get("alignment_limit_bytes", UNLIMITED)
    if 0 < limit < PAGE_BYTES:
        raise NotInTlaError(
            f"Buffering.tla counts whole items of {PAGE_BYTES} bytes, and a limit of {limit} is below one"
        )
    return Binding(
        "gate",
        module="BufferingModel",
        state="buffer",
        constants={
            **gate_constants(divergence, profile),
            "Limit": 0 if limit == UNLIMITED else limit // PAGE_BYTES,
            "Room": len(divergence.events),
        },
        steps=dict.fromkeys(("barrier", "cancel", "end_of_partition", "record"), "OnArrival(buffer, event)"),
        fields=GATE.shows("gate", "gate."),
        rules=rules_of("storing_2"),
        guard="~buffer.gate.failed /\\ event[2] \\in Channels /\\ ~Ended(event[2])",
        environment="UNCHANGED last",
        failure=("fail", "repeated barrier"),
    )


# ---------------------------------------------------------------- at-least-once


def _tracker(channels: int) -> Record:
    def read(entry: Mapping[str, object]) -> Tracked:
        counted: Mapping[int, int] = entry["counted"]  # type: ignore[assignment]
        times = tuple(counted[channel] for channel in range(channels))
        return Tracked(entry["id"], times, entry["needed"], entry["aborted"])  # type: ignore[arg-type]

    def written(entry: Tracked) -> Function:
        return Function(
            id=entry.checkpoint,
            counted=Function(enumerate(entry.counted)),
            needed=entry.needed,
            aborted=entry.aborted,
        )

    return Record(*fields("latest"), *fields("closed", of=FLAGS), *fields("tracked", of=each(read, written)))


def project_tracker(given: Given) -> Projection:
    """Pairs TrackingModel.tla with the closed model of the tracker."""
    from model.gate.proofs.tracking import tracker_cases

    channels, bound, profile = given.number("N"), given.number("Bound"), given.gates
    after_finish = given.flag("AfterFinish")
    closed = closed_tracker(
        channels, given.number("M"), counts_as_aligned=after_finish, tracked_at_most=bound, profile=profile
    )

    def cases() -> "list[Case]":
        return [
            case
            for tracked in range(bound + 1)
            for case in tracker_cases(
                channels, tracked, bound, counts_as_aligned=after_finish, profile=profile
            )
        ]

    return projected(
        closed, "gate", ("tracker", _tracker(channels)), beside=by_channel(channels), cases=cases
    )


def bind_tracker(divergence: Divergence, profile: Profile) -> Binding:
    """The binding for mode at-least-once, whose gate (the tracker) blocks no channel."""
    return Binding(
        "gate",
        module="TrackingModel",
        state="tracker",
        constants={**gate_constants(divergence, profile), "Bound": TRACKED_AT_MOST},
        steps={
            "barrier": "TrackBarrier(tracker, event[2], event[3])",
            "cancel": "TrackCancel(tracker, event[2], event[3])",
            "end_of_partition": "TrackEndOfPartition(tracker, event[2])",
            "record": f"[tracker |-> tracker, out |-> {_PROCESS}]",
        },
        fields={
            "current": field("latest"),
            "closed": field("closed", set_of),
            "tracked": field("tracked", _tracked),
        },
        rules=rules_of("tracker_2"),
        guard="event[2] \\in Channels \\ tracker.closed",
        environment="UNCHANGED last",
    )


def _tracked(entries: Sequence[Sequence[object]]) -> str:
    """The TLA+ text of tracked checkpoints. `needed` is an expression, because an observed entry lacks it."""
    return value([Raw(_entry(*entry)) for entry in entries])


def _entry(checkpoint: object, counted: object, aborted: object) -> str:
    times = (
        f"[d \\in Channels |-> IF d = 0 THEN {counted} ELSE 0]"
        if isinstance(counted, int)
        else f"[d \\in Channels |-> IF d \\in {set_of(counted)} THEN 1 ELSE 0]"  # type: ignore[arg-type]
    )
    needed = "Needed(tracker)"
    return f"[id |-> {checkpoint}, counted |-> {times}, needed |-> {needed}, aborted |-> {value(aborted)}]"
