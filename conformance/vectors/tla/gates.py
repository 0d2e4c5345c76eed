"""The seat of a gate, by its mode, generation and level.

At the polled level what comes on a held channel waits (module PolledGate). Where nothing has waited in a run
the gate alone is enough, and the rules of its model are checked; where something has, several events are
one step, and only the comparison tells.
"""

from collections.abc import Sequence

from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.vectors.tla.aligned_gates import (
    CALLS,
    IS_CALL,
    Steps,
    aligned_seat,
    aligned_steps,
    storing_seat,
    tracker_seat,
)
from conformance.vectors.tla.binding import NotInTlaError, Seat
from conformance.vectors.tla.unaligned_gates import (
    deciding_seat,
    deciding_steps,
    threads_seat,
    unaligned_seat,
    unaligned_steps,
)
from model.gate.profiles import NEWEST, PROFILES

_OBEYED = "Obeyed(before, said)"


def gate_seat(divergence: Divergence, edges: Sequence[Edge]) -> Seat:
    """The seat of a gate in its mode, generation and level. Raises NotInTlaError."""
    config = divergence.config
    profile = PROFILES[config.get("profile", NEWEST.name)]
    mode = config.get("mode", "exactly-once")
    polled = config.get("level", "polled") == "polled"
    if mode == "at-least-once":
        return _only(tracker_seat(divergence, profile), polled)
    if mode == "exactly-once":
        if polled and profile.stores_blocked:
            return storing_seat(divergence, profile)
        seat, steps, holds = aligned_seat(divergence, profile), aligned_steps("g"), "g.blocked"
    elif profile.network_starts and mode == "unaligned":
        return _only(threads_seat(divergence, profile), polled)
    elif profile.first_decides:
        seat, steps, holds = deciding_seat(divergence, profile), deciding_steps("g"), _OBEYED
    elif profile.ends_count:
        seat, steps, holds = unaligned_seat(divergence), unaligned_steps("g"), _OBEYED
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
        *(() if profile.has_announcements else ("announce",)),
    )
    return _behind_network(seat, steps, holds) if polled and _has_waited(edges) else seat


def _only(seat: Seat, polled: bool, *unknown: str) -> Seat:
    """Without the events that this level or generation does not have."""
    gone = (*unknown, *(() if polled else ("record",)))
    return seat._replace(takes={kind: step for kind, step in seat.takes.items() if kind not in gone})


def _has_waited(edges: Sequence[Edge]) -> bool:
    """Some item was held back: only this rule fired, and nothing was said."""
    return any(edge.rules in (("ALIGN-17",), ("UNAL-24",)) and not edge.effects for edge in edges)


def _behind_network(seat: Seat, steps: Steps, holds: str) -> Seat:
    """The same gate behind a network.

    `steps`: those of a gate `g`; `holds`: the channels that are held after one, of `g`, `before` and `said`.
    """
    inner = "\n      [] ".join(f'event[1] = "{kind}" -> {steps[kind]}' for kind in seat.takes)
    arrives = "Arrives(AtGate, Holds, gate, waiting, held, event)"
    called = "HandOn(AtGate, Holds, AtGate(gate, event), waiting, held)"
    return seat._replace(
        takes={kind: called if kind in CALLS else arrives for kind in seat.takes},
        rules=(),
        allows=f"({seat.allows}) /\\ ({IS_CALL} \\/ ~HasEnded(waiting, event[2]))",
        carried={"waiting": "<<>>", "held": "{}"},
        prelude=f"""{seat.prelude}
AtGate(g, event) ==
    CASE {inner}

Holds(g, before, said) == {holds}
""",
        extends="PolledGate",
    )
