"""The gate in the adapter protocol: the configuration selects the mode, the generation and the level.

At level `handler` the gate takes every item at once. At level `polled` the items of a blocked channel wait in
the network or, up to Flink 1.10, in the gate's own store.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import cache
from itertools import compress, count
from typing import Any, NamedTuple

from model.component import Component
from model.events import Event, Step
from model.fields import Wire, WireError, Words
from model.gate import buffering, polled_gate, polled_unaligned_gate, tracking, two_threads
from model.gate.aligned import Gate
from model.gate.alignment import UNALIGNED
from model.gate.buffering import UNLIMITED, Buffer
from model.gate.events import EVENTS, Announce, Record
from model.gate.polled_gate import Inbox
from model.gate.polled_unaligned_gate import Passage
from model.gate.profiles import NEWEST, PROFILES, Profile
from model.gate.tracking import Tracked, Tracker
from model.gate.two_threads import Threads
from model.gate.unaligned import UnalignedGate, persisting
from model.steps import step_of
from spec.vocabulary import types

MODES: tuple[str, ...] = tuple(types()["gate_mode"]["enum"])
"""The names of the modes in the adapter protocol."""

At = Inbox | Buffer | Tracker | Passage | Threads


class GateSession(NamedTuple):
    """A gate in one of the modes, at one of the two levels."""

    mode: str
    polled: bool
    inbox: At
    """The gate with the items that wait for it. At level `handler` no item waits."""


@cache
def words_of(mode: str, profile: str = NEWEST.name, polled: bool = True) -> Words:
    """The options, events and effects of a gate in this mode, generation and level."""
    options = {"mode": mode, "profile": profile, "level": "polled" if polled else "handler"}
    return Words("gate", EVENTS, options=options)


@cache
def _options_of(mode: str) -> Words:
    return Words("gate", options={"mode": mode})


def new_gate(config: Wire) -> GateSession:
    """A gate in its initial state, from its configuration.

    Raises WireError if the configuration is not valid.
    """
    mode = config.get("mode", MODES[0])
    if mode not in MODES:
        raise WireError(f"mode: expected one of {', '.join(MODES)}, got {mode!r}")
    given = _options_of(mode).config(config)
    profile, polled = PROFILES[given["profile"]], given["level"] == "polled"
    after_finish = given["checkpoints_after_tasks_finish"]
    if after_finish is None:
        after_finish = profile.ends_count
    at = _NEW[mode](given, profile, after_finish)
    if mode == "exactly-once" and polled and profile.stores_blocked:
        at = buffering.new_buffer(given["channels"], after_finish, profile, given["alignment_limit_bytes"])
    return GateSession(mode, polled, at)


def _new_aligned(given: Wire, profile: Profile, after_finish: bool) -> At:
    limit = given["alignment_limit_bytes"]
    if limit == 0:
        raise WireError("alignment_limit_bytes: expected -1 (none) or an int from 1 on, got 0")
    if limit != UNLIMITED and not profile.stores_blocked:
        raise WireError(
            f"alignment_limit_bytes: the gate of {profile.name} stores no items; leave it out, or use "
            "the profile flink-1.7 or flink-1.9"
        )
    return polled_gate.new_inbox(given["channels"], after_finish, profile)


def _new_tracker(given: Wire, profile: Profile, after_finish: bool) -> At:
    if after_finish and profile.tracker_awaits_ended:
        raise WireError(
            f"checkpoints_after_tasks_finish: the tracker of {profile.name} does not have it; leave it out"
        )
    return tracking.new_tracker(given["channels"], after_finish, profile)


def _new_unaligned(given: Wire, profile: Profile, after_finish: bool) -> At:
    channels, timeout = given["channels"], given["alignment_timeout_ms"]
    alternating = given["mode"] == "alternating"
    if not profile.has_unaligned:
        raise WireError(f"profile {profile.name} has no unaligned checkpoints; they exist from flink-1.11 on")
    if profile.network_starts and not alternating:
        return two_threads.new_threads(channels, after_finish, profile, timeout)
    return polled_unaligned_gate.new_passage(
        channels, after_finish, profile, alternating=alternating, timeout=timeout
    )


_NEW: Mapping[str, Callable[[Wire, Profile, bool], At]] = {
    "exactly-once": _new_aligned,
    "at-least-once": _new_tracker,
    "unaligned": _new_unaligned,
    "alternating": _new_unaligned,
}


# ---------------------------------------------------------------- steps


def _gate_of(at: Any) -> Any:  # noqa: ANN401 - any gate, alone or with the items that wait for it
    return getattr(at, "gate", at)


def step_gate(session: GateSession, event: Wire) -> Step[GateSession]:
    """The step of one item, or of the passing of time. Raises WireError if the event is not legal."""
    at = session.inbox
    gate = _gate_of(at)
    given = words_of(session.mode, gate.profile.name, session.polled).read(
        event, timestamp=getattr(gate, "now", 0)
    )
    if not isinstance(at, Tracker | Threads) and gate.failed:
        raise WireError(f"the gate has failed; make a new one: {dict(event)}")
    if type(given) is Announce and not gate.profile.has_announcements:
        raise WireError(f"profile {gate.profile.name} has no announcements; send the barrier")
    if getattr(given, "savepoint", False) and getattr(given, "alignment", None) == UNALIGNED:
        raise WireError(f"a savepoint is never unaligned: {dict(event)}")
    channel = getattr(given, "channel", None)
    if channel is not None:
        if channel >= len(gate.closed):
            raise WireError(f"channel: expected an int from 0 to {len(gate.closed) - 1}, got {channel!r}")
        if _has_ended(at, channel):
            raise WireError(f"channel {channel} has ended; send no further item on it: {dict(event)}")
    after, effects, rules = _taken(at, given, session.polled)
    return Step(session._replace(inbox=after), effects, rules)


def _has_ended(at: At, channel: int) -> bool:
    if isinstance(at, Inbox):
        return polled_gate.has_ended(at, channel)
    if isinstance(at, Buffer):
        return buffering.has_ended(at, channel)
    if isinstance(at, Passage):
        return polled_unaligned_gate.has_ended(at, channel)
    ended: bool = _gate_of(at).closed[channel]
    return ended


_STEP_OF = {
    (at, polled): step_of(component)
    for at, polled, component in (
        (Inbox, True, "network"),
        (Inbox, False, "gate"),
        (Buffer, True, "buffer"),
        (Tracker, True, "tracker"),
        (Tracker, False, "tracker"),
        (Passage, True, "passage"),
        (Passage, False, "unaligned"),
        (Threads, True, "threads"),
        (Threads, False, "threads"),
    )
}


def _taken(at: At, event: Event, polled: bool) -> Step[Any]:
    step = _STEP_OF[type(at), polled]
    if isinstance(at, Inbox | Passage) and not polled:
        return _with_gate(at, step(at.gate, event))
    if isinstance(at, Threads) and type(event) is Record:
        return _with_gate(at, polled_unaligned_gate.at_gate(at.gate, event))
    return step(at, event)


def _with_gate(at: Inbox | Passage | Threads, step: Step[Any]) -> Step[Any]:
    return step._replace(state=at._replace(gate=step.state))


# ---------------------------------------------------------------- what is observed


def observe_gate(session: GateSession) -> dict[str, object]:
    """The observable state: `current`, `pending`, `blocked`, `closed`, and the fields of the mode."""
    at = session.inbox
    gate = _gate_of(at)
    seen: dict[str, object] = {"closed": channels_of(gate.closed)}
    if isinstance(at, Tracker):
        tracked = [
            [entry.checkpoint, counted_channels(entry, at.profile), entry.aborted] for entry in at.tracked
        ]
        return {"current": at.latest, "pending": bool(tracked), "blocked": [], **seen, "tracked": tracked}
    if isinstance(gate, UnalignedGate):
        seen |= {"arrived": channels_of(gate.arrived), "persisting": channels_of(persisting(gate))}
    if isinstance(at, Threads):  # only the ids that the task has read are observable
        return {"current": at.read, "pending": at.reading, "blocked": [], **seen}
    return {"current": gate.current, "pending": gate.pending, "blocked": channels_of(gate.blocked), **seen}


def channels_of(flags: tuple[bool, ...]) -> list[int]:
    """The channels whose flag is set, ascending."""
    return list(compress(count(), flags))


def counted_channels(entry: Tracked, profile: Profile) -> list[int] | int:
    """The channels that have counted, ascending. In generations that count barriers: the number of counts."""
    if profile.tracker_counts_repeats:
        return sum(entry.counted)
    return [channel for channel, times in enumerate(entry.counted) if times]


def key_of_gate(session: GateSession) -> Hashable:
    """The state as a key. While items wait, the key is text, because Python's values 1 and True are equal."""
    at = session.inbox
    waits = at.stored if isinstance(at, Buffer) else getattr(at, "waiting", ())
    return repr(session) if waits else session


# ---------------------------------------------------------------- closed models


def config_of_gate(at: Any) -> dict[str, Any]:  # noqa: ANN401 - any gate, alone or with its items
    """The configuration of a closed model's gate. Its level is `handler` if no items can wait."""
    gate = _gate_of(at)
    config: dict[str, Any] = {
        "channels": len(gate.closed),
        "level": "handler" if isinstance(at, Gate | UnalignedGate | Threads) else "polled",
        "checkpoints_after_tasks_finish": gate.counts_as_aligned,
        "profile": gate.profile.name,
    }
    if isinstance(at, Buffer):
        return config | {"alignment_limit_bytes": at.limit}
    if isinstance(at, Tracker):
        return config | {"mode": "at-least-once"}
    if isinstance(gate, UnalignedGate):
        mode = "alternating" if gate.alternating else "unaligned"
        return config | {"mode": mode, "alignment_timeout_ms": gate.timeout}
    return config


def opening_of_gate(at: Any) -> tuple[dict[str, Any], ...]:  # noqa: ANN401 - any gate, alone or with its items
    """The events that lead to the initial state: a barrier on each blocked channel of a storing gate."""
    if not isinstance(at, Buffer):
        return ()
    gate = at.gate
    return tuple(
        {"kind": "barrier", "channel": channel, "checkpoint": gate.current}
        for channel in channels_of(gate.blocked)
    )


COMPONENT = Component(
    "gate",
    Words("gate"),
    new_gate,
    step_gate,
    observe_gate,
    config_of_gate,
    key=key_of_gate,
    opening=opening_of_gate,
    closed_as=("network", "buffer", "tracker", "unaligned", "passage", "threads"),
)
