"""Seats of a gate whose barriers overtake, or may: unaligned and alternating, by generation."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate

from conformance.adapters.protocol import Wire
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.vectors.tla.aligned_gates import ALLOWS, OBSERVED, Steps, gate_constants
from conformance.vectors.tla.binding import (
    NotInTlaError,
    Raw,
    Seat,
    Told,
    field,
    plain,
    rules_of,
    set_of,
    value,
)
from model.gate.profiles import NEWEST, Profile


def _nows(events: Sequence[Wire]) -> dict[int, int]:
    """The time at each event, by its identity: virtual time passes only by `advance`."""
    passed = accumulate((event.get("ms", 0) for event in events), initial=0)
    return {id(event): now for event, now in zip(events, passed, strict=False)}


def _optioned(nows: Mapping[int, int], event: Wire, edge: Edge) -> Told:
    if event["kind"] not in ("barrier", "announce", "inject"):
        return plain(event)
    options = {
        "alignment": event.get("alignment", "aligned"),
        "savepoint": event.get("savepoint", False),
        "timestamp": event.get("timestamp", nows[id(event)]),
    }
    return plain({**event, **options})


def _triggered(effect: Wire) -> Told:
    """A trigger without the flag is aligned; here it is a word of its own length."""
    return plain({name: one for name, one in effect.items() if name != "unaligned" or one})


def unaligned_steps(gate: str) -> Steps:
    """What a gate of 1.14, the expression `gate`, does with each event."""
    return {
        "barrier": f"OnBarrier({gate}, event[2], event[3], OptionsFrom(event, 4))",
        "announce": f"OnAnnounce({gate}, event[2], event[3], OptionsFrom(event, 4))",
        "inject": f"OnInject({gate}, event[2], OptionsFrom(event, 3))",
        "cancel": f"OnCancel({gate}, event[3])",
        "end_of_partition": f"OnEndOfPartition({gate}, event[2])",
        "record": f"OnRecord({gate}, event[2], event[3])",
        "advance": f"OnAdvance({gate}, event[2])",
    }


def unaligned_seat(divergence: Divergence) -> Seat:
    """Both modes from 1.14 on."""
    config = divergence.config
    constants = gate_constants(divergence, NEWEST)
    del constants["Switches"]
    return Seat(
        module="UnalignedModel",
        state="gate",
        constants={
            **constants,
            "Alternating": config["mode"] == "alternating",
            "Timeout": config.get("alignment_timeout_ms", 0),
            "Until": 1 + sum(event.get("ms", 0) for event in divergence.events),
            "Rare": True,
            "Announced": True,
            "Polled": False,
        },
        takes=unaligned_steps("gate"),
        shows=OBSERVED,
        rules=rules_of("unaligned_alternating_2_rare"),
        allows=ALLOWS,
        others="UNCHANGED last",
        prelude="""
OptionsFrom(event, i) ==
    [alignment |-> event[i], savepoint |-> event[i + 1], timestamp |-> event[i + 2]]
""",
        event=partial(_optioned, _nows(divergence.events)),
        effect=_triggered,
        failure=("fail", "barrier cannot become unaligned"),
    )


def _decided(event: Wire, edge: Edge) -> Told:
    """Of the options only these decide; the record is the module's own."""
    if event["kind"] not in ("barrier", "receive_barrier", "announce"):
        return plain(event)
    told = plain({name: event[name] for name in ("kind", "channel", "checkpoint")})
    alignment, savepoint = event.get("alignment", "aligned"), event.get("savepoint", False)
    return (*told, Raw(f"[alignment |-> {value(alignment)}, savepoint |-> {value(savepoint)}]"))


def _flagged(effect: Wire) -> Told:
    """Every trigger says whether barriers of it are still on their way."""
    flagged = {**effect, "unaligned": effect.get("unaligned", False)}
    return plain(flagged if effect["kind"] == "trigger" else effect)


def _read(gate: str) -> str:
    """What a record is, as module Unaligned says it."""
    return f'<<<<IF event[2] \\in Persisting({gate}) THEN "persist" ELSE "process", event[2], event[3]>>>>'


def deciding_steps(gate: str) -> Steps:
    """What a gate whose first barrier decides, the expression `gate`, does with each event."""
    silent = f"[gate |-> {gate}, out |-> <<>>]"
    return {
        "barrier": f"OnBarrier({gate}, event[2], event[3], event[4])",
        "cancel": f"OnCancel({gate}, event[3])",
        "end_of_partition": f"OnEndOfPartition({gate}, event[2])",
        "record": f"[gate |-> {gate}, out |-> {_read(gate)}]",
        "announce": silent,
        "advance": silent,
    }


def _without_after_finish(module: str, divergence: Divergence, profile: Profile) -> dict[str, object]:
    """The constants of a module that knows no checkpoints after tasks finish. Raises NotInTlaError."""
    constants = gate_constants(divergence, profile)
    if constants.pop("AfterFinish"):
        raise NotInTlaError(f"{module}.tla has no checkpoints after tasks have finished; leave them off")
    return constants


def deciding_seat(divergence: Divergence, profile: Profile) -> Seat:
    """Both modes of 1.12, and mode alternating of 1.11. Raises NotInTlaError."""
    constants = _without_after_finish("FirstDecides", divergence, profile)
    return Seat(
        module="FirstDecidesModel",
        state="gate",
        constants={**constants, "Alternating": divergence.config["mode"] == "alternating"},
        takes=deciding_steps("gate"),
        shows=OBSERVED,
        rules=rules_of("deciding_1_12"),
        allows=ALLOWS,
        others="UNCHANGED last",
        event=_decided,
        effect=_flagged,
    )


def threads_seat(divergence: Divergence, profile: Profile) -> Seat:
    """Mode unaligned of 1.11, with its two threads. Raises NotInTlaError."""
    constants = _without_after_finish("TwoThreads", divergence, profile)
    return Seat(
        module="TwoThreadsModel",
        state="threads",
        constants={**constants, "Alternating": False},
        takes={
            "receive_barrier": "Receive(threads, event[2], event[3], event[4])",
            "barrier": "ReadBarrier(threads, event[2], event[3], event[4])",
            "cancel": "ReadCancel(threads, event[3])",
            "end_of_partition": "ReadEnd(threads, event[2])",
            "mail": "Done(threads, RunMail(threads, mail), <<>>)",
            "advance": "Done(threads, <<>>, <<>>)",
            "record": f"Done(threads, {_read('threads.gate')}, <<>>)",
        },
        shows={
            "current": field("read"),
            "pending": field("reading"),
            "closed": field("gate.closed", set_of),
            "arrived": field("gate.arrived", set_of),
        },
        rules=rules_of("threads"),
        allows='event[1] \\in {"mail", "advance"} \\/ event[2] \\in Channels \\ threads.gate.closed',
        others="""LET event == Recorded[replayed + 1] IN
       mail' = IF event[1] = "mail" THEN <<>> ELSE mail \\o Expected(event).left
    /\\ UNCHANGED <<unread, last>>""",
        event=_decided,
        effect=_flagged,
    )
