"""The seat of a channel between two tasks.

ChannelModel.tla puts the channel between a sender and a receiver that keep books; here nobody does, and
anything may be said at any time. So only those of its rules are checked that ask no book.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.adapters.protocol import Wire
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.vectors.tla.binding import (
    Seat,
    Told,
    field,
    highest,
    plain,
    record_text,
    records_text,
    value,
)
from model.channel.channel import CHANNEL_PROFILES, NEWEST_CHANNEL

_OF_THE_CHANNEL_ALONE = ("UNAL_32", "UNAL_34")


def _of_channel(event: Wire, edge: Edge) -> Told:
    if event["kind"] == "emit":
        return ("emit", record_text(event["value"]))
    if event["kind"] == "restore":
        return ("restore", records_text(event["input"]), records_text(event["output"]))
    return plain({**({"alignment": "aligned"} if event["kind"] == "send_barrier" else {}), **event})


def _queue(items: Sequence[Sequence[Any]]) -> str:
    return value([(item[0], record_text(item[1])) if item[0] == "record" else tuple(item) for item in items])


def _persisting(awaited: int | None) -> Mapping[str, str]:
    if awaited is None:
        return {"phase": value("idle")}
    return {"phase": value("awaited"), "seen": value(awaited)}


def channel_seat(divergence: Divergence, edges: Sequence[Edge]) -> Seat:
    """A channel, from the sender's queue to the receiver's."""
    profile = CHANNEL_PROFILES[divergence.config.get("profile", NEWEST_CHANNEL.name)]
    hears, times_out, passes = (bool(switch) for switch in profile[1:])
    return Seat(
        module="ChannelModel",
        state="channel",
        constants={
            "Hears": hears,
            "TimesOut": times_out,
            "Passes": passes,
            "R": 1,
            "M": highest(divergence.events, "checkpoint"),
            "F": 1,
        },
        takes={
            "emit": "OnEmit(channel, event[2])",
            "send_barrier": "OnSendBarrier(channel, event[2], event[3])",
            "time_out": "OnTimeOut(channel, event[2])",
            "abort": "OnAbortAtSender(channel, event[2])",
            "transfer": "OnTransfer(channel)",
            "take": "OnTake(channel)",
            "start_persisting": "OnStartPersisting(channel, event[2])",
            "stop_persisting": "OnStopPersisting(channel, event[2])",
            "prioritise": "OnPrioritise(channel, event[2])",
            "resume": "OnResume(channel)",
            "restore": "[channel |-> OnRestore(event[2], event[3]), out |-> <<>>]",
        },
        shows={
            "output": field("output", _queue),
            "input": field("input", _queue),
            "blocked": field("blocked"),
            "promised": field("promised"),
            "persisting": _persisting,
            "recovering": field("restored"),
        },
        rules=_OF_THE_CHANNEL_ALONE,
        allows="""
    CASE event[1] = "resume" -> channel.blocked
      [] event[1] = "prioritise" -> MayPrioritise(channel, event[2])
      [] OTHER -> TRUE""",
        others="UNCHANGED <<sent, read, begun, books, failed>>",
        event=_of_channel,
    )
