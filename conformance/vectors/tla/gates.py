"""Seats of the gate: exactly-once, at-least-once, unaligned and alternating, at both levels.

At the polled level what comes on a held channel waits (module Network). Where nothing has waited in a run
the gate alone is enough, and the rules of its model are checked; where something has, several events are
one step, and only the comparison tells.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate

from conformance.adapters.protocol import Wire
from conformance.drive.lockstep import Divergence
from conformance.drive.oracle import Edge
from conformance.vectors.tla.seat import (
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
from model.buffering import PAGE_BYTES, UNLIMITED
from model.profiles import NEWEST, PROFILES, Profile

TRACKED_AT_MOST = 50
_SETS = {name: field(name, set_of) for name in ("blocked", "closed", "arrived")}
_PLAIN = {"current": field("current"), "pending": field("pending"), **_SETS}


def gate_seat(divergence: Divergence, edges: Sequence[Edge]) -> Seat:
    """The seat of a gate in its mode, generation and level. Raises NotInTlaError."""
    config = divergence.config
    profile = PROFILES[config.get("profile", NEWEST.name)]
    mode = config.get("mode", "exactly-once")
    polled = config.get("level", "polled") == "polled"
    if mode == "at-least-once":
        return _only(_tracker(divergence, profile), polled)
    if mode == "exactly-once":
        if polled and profile.stores_blocked:
            return _storing(divergence, profile)
        seat, steps, holds = _aligned(divergence, profile), _aligned_steps("g"), "g.blocked"
    elif profile.network_starts and mode == "unaligned":
        return _only(_threads(divergence, profile), polled)
    elif profile.first_decides:
        seat, steps, holds = _deciding(divergence, profile), _deciding_steps("g"), _OBEYED
    elif profile.ends_count:
        seat, steps, holds = _unaligned(divergence), _unaligned_steps("g"), _OBEYED
    else:
        raise NotInTlaError(
            f"gates of mode {mode} stand in TLA+ as they are in flink-1.11, flink-1.12 and flink-1.14; in "
            f"{profile.name} savepoints overtake and a time-out counts from the first barrier, which no "
            "module describes"
        )
    seat = _only(
        seat,
        polled,
        *(() if profile.ends_count else ("inject",)),
        *(() if profile.hears_announcements else ("announce",)),
    )
    return _behind_network(seat, steps, holds) if polled and _has_waited(edges) else seat


def _only(seat: Seat, polled: bool, *unknown: str) -> Seat:
    """Without the events that this level or generation does not have."""
    gone = (*unknown, *(() if polled else ("record",)))
    return seat._replace(takes={kind: step for kind, step in seat.takes.items() if kind not in gone})


def _has_waited(edges: Sequence[Edge]) -> bool:
    """Some item was held back: only this rule fired, and nothing was said."""
    return any(edge.rules in (("ALIGN-17",), ("UNAL-24",)) and not edge.effects for edge in edges)


_CALLS = ("inject", "advance")
"""Events that wait for no channel."""
_IS_CALL = f"event[1] \\in {set_of(_CALLS)}"
_ALLOWS = f"~gate.failed /\\ ({_IS_CALL} \\/ event[2] \\in Channels \\ gate.closed)"


_OBEYED = "Obeyed(before, said)"

Steps = Mapping[str, str]
"""By the event's kind, what the gate becomes and says."""


def _constants(divergence: Divergence, profile: Profile) -> dict[str, object]:
    config = divergence.config
    return {
        "N": config["channels"],
        "M": highest(divergence.events, "checkpoint"),
        "AfterFinish": config.get("checkpoints_after_tasks_finish", profile.ends_count),
        "Switches": Raw(profile.name.replace("flink-", "Flink_").replace(".", "_")),
    }


# ---------------------------------------------------------------- exactly-once


_PROCESS = '<<<<"process", event[2], event[3]>>>>'


def _aligned_steps(gate: str) -> Steps:
    return {
        "barrier": f"OnBarrier({gate}, event[2], event[3])",
        "cancel": f"OnCancel({gate}, event[3])",
        "end_of_partition": f"OnEndOfPartition({gate}, event[2])",
        "record": f"[gate |-> {gate}, out |-> {_PROCESS}]",
        "inject": f"OnInject({gate}, event[2])",
    }


def _aligned(divergence: Divergence, profile: Profile) -> Seat:
    return Seat(
        module="GateModel",
        state="gate",
        constants={**_constants(divergence, profile), "Polled": False},
        takes=_aligned_steps("gate"),
        shows=_PLAIN,
        rules=rules_of("gate_injected_2"),
        allows=_ALLOWS,
        others="UNCHANGED last",
        failure=("fail", "repeated barrier"),
    )


def _storing(divergence: Divergence, profile: Profile) -> Seat:
    limit = divergence.config.get("alignment_limit_bytes", UNLIMITED)
    if 0 < limit < PAGE_BYTES:
        raise NotInTlaError(
            f"Storing.tla counts whole items of {PAGE_BYTES} bytes, and a limit of {limit} bytes is below one"
        )
    inner = {name: f"gate.{name}" for name in ("current", "pending", "blocked", "closed")}
    return Seat(
        module="StoringModel",
        state="buffer",
        constants={
            **_constants(divergence, profile),
            "Limit": 0 if limit == UNLIMITED else limit // PAGE_BYTES,
            "Room": len(divergence.events),
        },
        takes=dict.fromkeys(("barrier", "cancel", "end_of_partition", "record"), "OnArrival(buffer, event)"),
        shows={
            name: field(path, set_of if name in ("blocked", "closed") else value)
            for name, path in inner.items()
        },
        rules=rules_of("storing_2"),
        allows="~buffer.gate.failed /\\ event[2] \\in Channels /\\ ~Ended(event[2])",
        others="UNCHANGED last",
        failure=("fail", "repeated barrier"),
    )


# ---------------------------------------------------------------- at-least-once


def _tracker(divergence: Divergence, profile: Profile) -> Seat:
    return Seat(
        module="TrackerModel",
        state="tracker",
        constants={**_constants(divergence, profile), "Bound": TRACKED_AT_MOST},
        takes={
            "barrier": "TrackBarrier(tracker, event[2], event[3])",
            "cancel": "TrackCancel(tracker, event[2], event[3])",
            "end_of_partition": "TrackEndOfPartition(tracker, event[2])",
            "record": f"[tracker |-> tracker, out |-> {_PROCESS}]",
        },
        shows={
            "current": field("latest"),
            "closed": _SETS["closed"],
            "tracked": field("tracked", _tracked),
        },
        rules=rules_of("tracker_2"),
        allows="event[2] \\in Channels \\ tracker.closed",
        others="UNCHANGED last",
    )


def _tracked(entries: Sequence[Sequence[object]]) -> str:
    """What an entry needs is not observed; the module's own count of open channels stands for it."""
    return value([Raw(_entry(*entry)) for entry in entries])


def _entry(checkpoint: object, counted: object, aborted: object) -> str:
    times = (
        f"[d \\in Channels |-> IF d = 0 THEN {counted} ELSE 0]"
        if isinstance(counted, int)
        else f"[d \\in Channels |-> IF d \\in {set_of(counted)} THEN 1 ELSE 0]"  # type: ignore[arg-type]
    )
    needed = "Needed(tracker)"
    return f"[id |-> {checkpoint}, counted |-> {times}, needed |-> {needed}, aborted |-> {value(aborted)}]"


# ---------------------------------------------------------------- unaligned and alternating


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


def _unaligned_steps(gate: str) -> Steps:
    return {
        "barrier": f"OnBarrier({gate}, event[2], event[3], OptionsFrom(event, 4))",
        "announce": f"OnAnnounce({gate}, event[2], event[3], OptionsFrom(event, 4))",
        "inject": f"OnInject({gate}, event[2], OptionsFrom(event, 3))",
        "cancel": f"OnCancel({gate}, event[3])",
        "end_of_partition": f"OnEndOfPartition({gate}, event[2])",
        "record": f"OnRecord({gate}, event[2], event[3])",
        "advance": f"OnAdvance({gate}, event[2])",
    }


def _unaligned(divergence: Divergence) -> Seat:
    config = divergence.config
    constants = _constants(divergence, NEWEST)
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
        takes=_unaligned_steps("gate"),
        shows=_PLAIN,
        rules=rules_of("unaligned_alternating_2_rare"),
        allows=_ALLOWS,
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


def _deciding_steps(gate: str) -> Steps:
    silent = f"[gate |-> {gate}, out |-> <<>>]"
    return {
        "barrier": f"OnBarrier({gate}, event[2], event[3], event[4])",
        "cancel": f"OnCancel({gate}, event[3])",
        "end_of_partition": f"OnEndOfPartition({gate}, event[2])",
        "record": f"[gate |-> {gate}, out |-> {_read(gate)}]",
        "announce": silent,
        "advance": silent,
    }


def _deciding(divergence: Divergence, profile: Profile) -> Seat:
    constants = _constants(divergence, profile)
    if constants.pop("AfterFinish"):
        raise NotInTlaError("Deciding.tla has no checkpoints after tasks have finished; leave them off")
    return Seat(
        module="DecidingModel",
        state="gate",
        constants={**constants, "Alternating": divergence.config["mode"] == "alternating"},
        takes=_deciding_steps("gate"),
        shows=_PLAIN,
        rules=rules_of("deciding_1_12"),
        allows=_ALLOWS,
        others="UNCHANGED last",
        event=_decided,
        effect=_flagged,
    )


def _threads(divergence: Divergence, profile: Profile) -> Seat:
    constants = _constants(divergence, profile)
    if constants.pop("AfterFinish"):
        raise NotInTlaError("Threads.tla has no checkpoints after tasks have finished; leave them off")
    return Seat(
        module="ThreadsModel",
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


# ---------------------------------------------------------------- the polled level


def _behind_network(seat: Seat, steps: Steps, holds: str) -> Seat:
    """The same gate behind a network.

    `steps`: those of a gate `g`; `holds`: the channels that are held after one, of `g`, `before` and `said`.
    """
    inner = "\n      [] ".join(f'event[1] = "{kind}" -> {steps[kind]}' for kind in seat.takes)
    arrives = "Arrives(AtGate, Holds, gate, waiting, held, event)"
    called = "HandOn(AtGate, Holds, AtGate(gate, event), waiting, held)"
    return seat._replace(
        takes={kind: called if kind in _CALLS else arrives for kind in seat.takes},
        rules=(),
        allows=f"({seat.allows}) /\\ ({_IS_CALL} \\/ ~HasEnded(waiting, event[2]))",
        carried={"waiting": "<<>>", "held": "{}"},
        prelude=f"""{seat.prelude}
AtGate(g, event) ==
    CASE {inner}

Holds(g, before, said) == {holds}
""",
        extends="Network",
    )
