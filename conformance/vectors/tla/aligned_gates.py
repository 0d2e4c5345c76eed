"""Seats of a gate that aligns or tracks: exactly-once, exactly-once with a store of its own, at-least-once.

What every gate has in common stands here too: its constants, what is observed of it, what it may be sent.
"""

from collections.abc import Mapping, Sequence

from conformance.divergence import Divergence
from conformance.vectors.tla.binding import NotInTlaError, Raw, Seat, field, highest, rules_of, set_of, value
from model.gate.buffering import PAGE_BYTES, UNLIMITED
from model.gate.profiles import Profile

TRACKED_AT_MOST = 50
"""As many checkpoints as a tracker keeps; the wire has no other bound."""
SETS = {name: field(name, set_of) for name in ("blocked", "closed", "arrived")}
OBSERVED = {"current": field("current"), "pending": field("pending"), **SETS}
"""What every gate shows of itself, as fields of its record."""

CALLS = ("inject", "advance")
"""Events that wait for no channel."""
IS_CALL = f"event[1] \\in {set_of(CALLS)}"
ALLOWS = f"~gate.failed /\\ ({IS_CALL} \\/ event[2] \\in Channels \\ gate.closed)"
"""What a gate may be sent."""

Steps = Mapping[str, str]
"""By the event's kind, what the gate becomes and says."""


def gate_constants(divergence: Divergence, profile: Profile) -> dict[str, object]:
    """Channels, ids, after-finish and generation, as the modules of every gate have them."""
    config = divergence.config
    return {
        "N": config["channels"],
        "M": highest(divergence.events, "checkpoint"),
        "AfterFinish": config.get("checkpoints_after_tasks_finish", profile.ends_count),
        "Switches": Raw(profile.name.replace("flink-", "Flink_").replace(".", "_")),
    }


_PROCESS = '<<<<"process", event[2], event[3]>>>>'


def aligned_steps(gate: str) -> Steps:
    """What an aligning gate, the expression `gate`, does with each event."""
    return {
        "barrier": f"OnBarrier({gate}, event[2], event[3])",
        "cancel": f"OnCancel({gate}, event[3])",
        "end_of_partition": f"OnEndOfPartition({gate}, event[2])",
        "record": f"[gate |-> {gate}, out |-> {_PROCESS}]",
        "inject": f"OnInject({gate}, event[2])",
    }


def aligned_seat(divergence: Divergence, profile: Profile) -> Seat:
    """Mode exactly-once, where the network holds back what is blocked."""
    return Seat(
        module="AlignedModel",
        state="gate",
        constants={**gate_constants(divergence, profile), "Polled": False},
        takes=aligned_steps("gate"),
        shows=OBSERVED,
        rules=rules_of("gate_injected_2"),
        allows=ALLOWS,
        others="UNCHANGED last",
        failure=("fail", "repeated barrier"),
    )


def storing_seat(divergence: Divergence, profile: Profile) -> Seat:
    """Mode exactly-once up to 1.10 at the polled level: the gate itself stores. Raises NotInTlaError."""
    limit = divergence.config.get("alignment_limit_bytes", UNLIMITED)
    if 0 < limit < PAGE_BYTES:
        raise NotInTlaError(
            f"Buffering.tla counts items of {PAGE_BYTES} bytes, and a limit of {limit} bytes is below one"
        )
    inner = {name: f"gate.{name}" for name in ("current", "pending", "blocked", "closed")}
    return Seat(
        module="BufferingModel",
        state="buffer",
        constants={
            **gate_constants(divergence, profile),
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


def tracker_seat(divergence: Divergence, profile: Profile) -> Seat:
    """Mode at-least-once: the tracker, which holds nothing back."""
    return Seat(
        module="TrackingModel",
        state="tracker",
        constants={**gate_constants(divergence, profile), "Bound": TRACKED_AT_MOST},
        takes={
            "barrier": "TrackBarrier(tracker, event[2], event[3])",
            "cancel": "TrackCancel(tracker, event[2], event[3])",
            "end_of_partition": "TrackEndOfPartition(tracker, event[2])",
            "record": f"[tracker |-> tracker, out |-> {_PROCESS}]",
        },
        shows={
            "current": field("latest"),
            "closed": SETS["closed"],
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
