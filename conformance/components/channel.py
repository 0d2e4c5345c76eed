"""The channel in the suite: its configurations and random events, and its binding to TLA+.

ChannelModel.tla puts the channel between a sender and a receiver, and records their checkpoints. A replay has
no sender and receiver, and any event may come at any time. So a replay checks only the rules of the channel.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

from conformance.adapters.protocol import Wire
from conformance.compare.projection import Given, Node, Projection, of_step, plain_effect, plain_event
from conformance.components.component import Component
from conformance.components.tla_records import Record, each, field, fields, words
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.generators.chooser import STRAY, Chooser
from conformance.suites.components import channel_alphabets
from conformance.vectors.tla.binding import Binding, highest
from conformance.vectors.tla.text import filled, plain, record_text, steps, value
from model.channel.channel import ARRIVED, AWAITED, CHANNEL_PROFILES, IDLE, NEWEST_CHANNEL
from model.channel.environment import closed_exchange
from model.channel.exchange import DONE, GIVEN_UP, NOT_STARTED, OPEN, Exchange
from model.channel.items import Datum, Item, Mark, Notice
from model.channel.wire import COMPONENT as ON_WIRE
from model.fields import names_of
from spec.values import State

if TYPE_CHECKING:
    from model.checker.prove import Case

_ALIGNMENTS = names_of("alignment")
_CODES = {name: code for code, name in _ALIGNMENTS.items()}


def _item(there: tuple[Any, ...]) -> Item:
    if there[0] == "record":
        return Datum(there[1])
    return Mark(there[1], _CODES[there[2]]) if there[0] == "barrier" else Notice(there[1])


def _written(item: Item) -> tuple[Any, ...]:
    if isinstance(item, Mark):
        return (item.kind, item.checkpoint, _ALIGNMENTS[item.alignment])
    return (item.kind, item[0])


CHANNEL = Record(
    *fields("blocked", "promised", "restored", "seen", "last", "before"),
    *fields("output", "input", of=each(_item, _written)),
    *fields("phase", of=words({"idle": IDLE, "awaited": AWAITED, "arrived": ARRIVED})),
)
_STORED = Record(
    *fields("sent", "output", "owed", "read", "input"),
    *fields("receiver", of=words({"open": OPEN, "done": DONE, "given up": GIVEN_UP})),
)


def project_channel(given: Given) -> Projection:
    """Pairs ChannelModel.tla with the closed model of a channel between two tasks."""
    switches = tuple(given.flag(name) for name in ("CountsInOrder", "TimesOutAtSender", "PassesBlock"))
    profile = next(profile for profile in CHANNEL_PROFILES.values() if profile[1:] == switches)
    closed = closed_exchange(given.number("R"), given.number("M"), given.number("F"), profile)

    def node(state: State) -> Node:
        stored = state["stored"].values() if isinstance(state["stored"], Mapping) else state["stored"]
        exchange = Exchange(
            CHANNEL.read(state["channel"], closed.state.channel),
            state["sent"],
            state["read"],
            state["begun"],
            tuple(_STORED.read(one, NOT_STARTED) for one in stored),
        )
        return exchange, (state["failed"],), state["out"]

    return Projection(closed, node, of_step(plain_event(ON_WIRE), plain_effect(ON_WIRE)))


def _queue(items: Sequence[Sequence[Any]]) -> str:
    return value([(item[0], record_text(item[1])) if item[0] == "record" else tuple(item) for item in items])


def _persisting(awaited: int | None) -> Mapping[str, str]:
    if awaited is None:
        return {"phase": value("idle")}
    return {"phase": value("awaited"), "seen": value(awaited)}


def bind_channel(divergence: Divergence, edges: Sequence[Edge]) -> Binding:
    """The binding of a channel, from the sender's queue to the receiver's."""
    profile = CHANNEL_PROFILES[divergence.config.get("profile", NEWEST_CHANNEL.name)]
    counts_in_order, times_out_at_sender, passes_block = (bool(switch) for switch in profile[1:])
    return Binding(
        "channel",
        module="ChannelModel",
        state="channel",
        constants={
            "CountsInOrder": counts_in_order,
            "TimesOutAtSender": times_out_at_sender,
            "PassesBlock": passes_block,
            "R": 1,
            "M": highest(divergence.events, "checkpoint"),
            "F": 1,
        },
        steps=steps(
            "channel",
            "channel",
            abort="OnAbortAtSender(channel, event[2])",
            restore="[channel |-> OnRestore(event[2], event[3]), out |-> <<>>]",
        ),
        fields=CHANNEL.shows(
            "channel",
            output=field("output", _queue),
            input=field("input", _queue),
            persisting=_persisting,
            recovering=field("restored"),
        ),
        rules=("UNAL_32", "UNAL_34"),
        guard="""
    CASE event[1] = "resume" -> channel.blocked
      [] event[1] = "prioritise" -> MayPrioritise(channel, event[2])
      [] OTHER -> TRUE""",
        environment="UNCHANGED <<sent, read, begun, stored, failed>>",
        event=_event,
    )


def _event(event: Wire, edge: Edge) -> tuple[Any, ...]:
    return plain("channel", filled("channel", event))


# ---------------------------------------------------------------- random events

CONFIGS: list[Wire] = [
    {"profile": profile} for profile in ("flink-2.3", "flink-1.16", "flink-1.13", "flink-1.12")
]

_SENT = ("unaligned", "timeout", "timeout", "aligned", "forced-aligned")
_MOST_IN_FLIGHT = 6
"""The number of items in flight above which a walk sends no further items."""


def walk_channel(config: Wire, rng: Random, injects: bool) -> Chooser:
    """Events of both ends and of the network, in any order; checkpoint ids mostly grow."""
    draw = rng.random
    newest = 0
    numbers = 0
    overtakes = draw()

    def near() -> int:
        return max(0, newest + (0, 0, 0, 0, 1, -1, -2)[int(draw() * 7)])

    def choose(observed: Wire) -> Wire:
        nonlocal newest, numbers
        luck = draw()
        if luck < STRAY:
            return _stray(draw(), newest)
        unread = [item[1] for item in observed["input"] if item[0] == "announce"]
        waiting = [
            item
            for item in observed["input"]
            if item[0] == "barrier" and item[2] == "timeout" and (item[1] not in unread or draw() < 0.1)
        ]
        if waiting and draw() < 0.3:
            return {"kind": "prioritise", "checkpoint": waiting[int(draw() * len(waiting))][1]}
        if observed["promised"] is not None and draw() < 0.3:
            return {"kind": "abort" if draw() < 0.2 else "time_out", "checkpoint": observed["promised"]}
        luck = draw()
        full = len(observed["output"]) + len(observed["input"]) > _MOST_IN_FLIGHT
        if luck < 0.24 and not full:
            numbers += 1
            return {"kind": "emit", "value": numbers}
        if luck < 0.5:
            return {"kind": "transfer"}
        if luck < 0.66 or full:
            return {"kind": "take"}
        if luck < 0.76:
            newest = newest + 1 if draw() < 0.9 else near()
            alignment = _SENT[int(draw() ** (0.5 + overtakes) * len(_SENT))]
            return {"kind": "send_barrier", "checkpoint": newest, "alignment": alignment}
        if luck < 0.86:
            return {"kind": "start_persisting", "checkpoint": near()}
        if luck < 0.91:
            return {"kind": "stop_persisting", "checkpoint": near()}
        if luck < 0.95:
            return {"kind": "resume" if observed["blocked"] or draw() < 0.1 else "transfer"}
        if luck < 0.98:
            return {"kind": "time_out" if draw() < 0.6 else "abort", "checkpoint": near()}
        parts = [[100 + place for place in range(int(draw() * 4))] for _ in range(2)]
        return {"kind": "restore", "input": parts[0], "output": parts[1]}

    return choose


def _stray(luck: float, newest: int) -> Wire:
    if luck < 0.4:
        return {"kind": "prioritise", "checkpoint": newest + 100}
    if luck < 0.7:
        return {"kind": "send_barrier", "checkpoint": newest, "alignment": "sideways"}
    return {"kind": "no_such_event"}


def directed_channel() -> "Iterator[Case]":
    """The symbolic cases of a channel with at most one item at each end, in each phase."""
    from model.channel.proofs import channel_cases

    for items, phase in product((0, 1, 2), (IDLE, AWAITED, ARRIVED)):
        for case in channel_cases(items):
            if len(case.state.output) < 2 and len(case.state.input) < 2:
                yield case._replace(state=case.state._replace(phase=phase))


COMPONENT = Component(
    alphabets=channel_alphabets,
    configs=CONFIGS,
    paths_hit=377,
    walk=walk_channel,
    cases=directed_channel,
    projections={"ChannelModel": project_channel},
    bind=bind_channel,
)
