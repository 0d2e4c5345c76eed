"""The TLA+ side of gates of modes unaligned and alternating, in which barriers may overtake records."""

from itertools import accumulate
from typing import TYPE_CHECKING

from conformance.adapters.protocol import Wire
from conformance.compare.projection import (
    Given,
    Node,
    Projection,
    by_channel,
    of_step,
    plain_effect,
    plain_event,
    projected,
)
from conformance.components.gate.aligned import ALLOWS, Steps, gate_constants
from conformance.components.tla_records import FLAGS, Record, each, field, fields, words
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.vectors.tla.binding import Binding, rules_of
from conformance.vectors.tla.text import NotInTlaError, Word, filled, plain, set_of, steps
from model.checker.closed_model import forgetting
from model.components import COMPONENTS
from model.fields import names_of
from model.gate.alignment import NO_OPTIONS
from model.gate.environment.two_threads import closed_threads
from model.gate.environment.unaligned import PLAIN, RARE, GateBounds, closed_first_decides, closed_unaligned
from model.gate.profiles import Profile
from model.gate.two_threads import Left, Threads
from spec.values import Function, State

if TYPE_CHECKING:
    from model.checker.prove import Case

_OPTIONS = Record(
    *fields("savepoint", "timestamp"),
    *fields("alignment", of=words({name: code for code, name in names_of("alignment").items()})),
)
UNALIGNED = Record(
    *fields("current", "pending", "begun", "overtaking", "now", "timer", "failed"),
    *fields("arrived", "blocked", "announced", "closed", of=FLAGS),
    *fields("first", of=_OPTIONS.nested(NO_OPTIONS)),
)
DECIDING = Record(
    *fields(pending="begun"),
    *fields("current", "pending", "overtaking", "repeats", "failed"),
    *fields("arrived", "blocked", "closed", of=FLAGS),
)
"""`pending` in TLA+ is both `pending` and `begun` in the model: a read barrier begins the checkpoint."""


# ---------------------------------------------------------------- from 1.13 on


def _effect(effect: Wire) -> Word:
    """An effect in the form of TLA+, without `unaligned` if it is false."""
    return plain(
        "gate", {name: content for name, content in effect.items() if name != "unaligned" or content}
    )


def project_unaligned(given: Given) -> Projection:
    """Pairs UnalignedModel.tla with the closed model of the gate."""
    from model.gate.proofs.unaligned import unaligned_cases

    channels, alternating = given.number("N"), given.flag("Alternating")
    after_finish = given.flag("AfterFinish")
    bounds = GateBounds(
        channels,
        given.number("M"),
        given.number("Until"),
        given.number("Timeout"),
        alternating,
        after_finish,
        (*PLAIN, *RARE) if given.flag("Rare") else PLAIN,
        announced=given.flag("Announced"),
        profile=given.gates,
    )

    def cases() -> "list[Case]":
        return list(
            unaligned_cases(
                channels, alternating=alternating, counts_as_aligned=after_finish, profile=given.gates
            )
        )

    return projected(
        closed_unaligned(bounds),
        "gate",
        ("gate", UNALIGNED),
        beside=by_channel(channels),
        effect=_effect,
        cases=cases,
    )


def unaligned_steps(gate: str) -> Steps:
    """For each event, the step of a gate of 1.14; `gate` is the TLA+ expression of its state."""
    return steps(
        "gate",
        gate,
        ("end_of_partition", "advance"),
        barrier=f"OnBarrier({gate}, event[2], event[3], OptionsFrom(event, 4))",
        announce=f"OnAnnounce({gate}, event[2], event[3], OptionsFrom(event, 4))",
        inject=f"OnInject({gate}, event[2], OptionsFrom(event, 3))",
        cancel=f"OnCancel({gate}, event[3])",
        record=f"OnRecord({gate}, event[2], event[3])",
    )


def bind_unaligned(divergence: Divergence, profile: Profile) -> Binding:
    """The binding for both modes from 1.14 on."""
    config = divergence.config
    passed = accumulate((event.get("ms", 0) for event in divergence.events), initial=0)
    nows = {id(event): now for event, now in zip(divergence.events, passed, strict=False)}

    def optioned(event: Wire, edge: Edge) -> Word:
        if event["kind"] not in ("barrier", "announce", "inject"):
            return plain("gate", event)
        return plain("gate", {"timestamp": nows[id(event)], **filled("gate", event)})

    return Binding(
        "gate",
        module="UnalignedModel",
        state="gate",
        constants={
            **gate_constants(divergence, profile),
            "Alternating": config["mode"] == "alternating",
            "Timeout": config.get("alignment_timeout_ms", 0),
            "Until": 1 + sum(event.get("ms", 0) for event in divergence.events),
            "Rare": True,
            "Announced": True,
            "Polled": False,
        },
        steps=unaligned_steps("gate"),
        fields=UNALIGNED.shows("gate"),
        rules=rules_of("unaligned_alternating_2_rare"),
        guard=ALLOWS,
        environment="UNCHANGED last",
        prelude="""
OptionsFrom(event, i) ==
    [alignment |-> event[i], savepoint |-> event[i + 1], timestamp |-> event[i + 2]]
""",
        event=optioned,
        effect=_effect,
        failure=("fail", "barrier cannot become unaligned"),
    )


# ---------------------------------------------------------------- the first barrier decides


def _decided(event: Wire, edge: Edge | None = None) -> Word:
    """An event in the form of TLA+, where the options of a barrier are only `alignment` and `savepoint`."""
    if event["kind"] not in ("barrier", "receive_barrier", "announce"):
        return plain("gate", event)
    full = filled("gate", event)
    options = Function({name: full[name] for name in ("alignment", "savepoint")})
    return (*plain("gate", {name: full[name] for name in ("kind", "channel", "checkpoint")}), options)


def _flagged(effect: Wire) -> Word:
    """An effect in the form of TLA+, where every trigger has the field `unaligned`."""
    flagged = {**effect, "unaligned": effect.get("unaligned", False)}
    return plain("gate", flagged if effect["kind"] == "trigger" else effect)


def project_first_decides(given: Given) -> Projection:
    """Pairs FirstDecidesModel.tla with the closed model of the gate; the effect `fail` has no text."""
    closed = closed_first_decides(
        given.number("N"), given.number("M"), alternating=given.flag("Alternating"), profile=given.gates
    )
    return projected(
        closed,
        "gate",
        ("gate", DECIDING),
        beside=by_channel(given.number("N")),
        event=_decided,
        effect=lambda effect: ("fail",) if effect["kind"] == "fail" else _flagged(effect),
    )


def _read(gate: str) -> str:
    """The effects of a record, in the form of module Unaligned."""
    return f'<<<<IF event[2] \\in Persisting({gate}) THEN "persist" ELSE "process", event[2], event[3]>>>>'


def first_decides_steps(gate: str) -> Steps:
    """For each event, the step of a gate whose first barrier decides; `gate`: the TLA+ expression."""
    silent = f"[gate |-> {gate}, out |-> <<>>]"
    return steps(
        "gate",
        gate,
        ("end_of_partition",),
        barrier=f"OnBarrier({gate}, event[2], event[3], event[4])",
        cancel=f"OnCancel({gate}, event[3])",
        record=f"[gate |-> {gate}, out |-> {_read(gate)}]",
        announce=silent,
        advance=silent,
    )


def _without_after_finish(module: str, divergence: Divergence, profile: Profile) -> dict[str, object]:
    """The constants of a module without checkpoints after tasks finish. Raises NotInTlaError."""
    constants = gate_constants(divergence, profile)
    if constants.pop("AfterFinish"):
        raise NotInTlaError(f"{module}.tla has no checkpoints after tasks have finished; leave them off")
    return constants


def bind_first_decides(divergence: Divergence, profile: Profile) -> Binding:
    """The binding for both modes of 1.12, and for mode alternating of 1.11. Raises NotInTlaError."""
    constants = _without_after_finish("FirstDecides", divergence, profile)
    return Binding(
        "gate",
        module="FirstDecidesModel",
        state="gate",
        constants={**constants, "Alternating": divergence.config["mode"] == "alternating"},
        steps=first_decides_steps("gate"),
        fields=DECIDING.shows("gate"),
        rules=rules_of("first_decides_1_12"),
        guard=ALLOWS,
        environment="UNCHANGED last",
        event=_decided,
        effect=_flagged,
    )


_MAIL = each(lambda left: Left(left[1], left[0] == "abort", left[0] == "trigger" and left[2]))
"""The effects that the network thread passes to the task's thread, with the fields that TLA+ has."""


def project_threads(given: Given) -> Projection:
    """Pairs TwoThreadsModel.tla with the closed model of the two threads.

    The barriers of these models have no options, because all of them overtake.
    """
    channels = given.number("N")
    closed = forgetting(closed_threads(channels, given.number("M")), "gate.first")
    start: Threads = closed.state
    record = Record(*fields("read", "reading"), ("gate", "gate", DECIDING.nested(start.gate)))

    def node(state: State) -> Node:
        threads = record.read(state["threads"], start)
        unread = tuple(sum(1 << n for n in state["unread"][channel]) for channel in range(channels))
        mail = _MAIL.read(state["mail"], ())
        return threads._replace(mail=mail), (*by_channel(channels)(state), *unread), state["out"]

    on_wire = COMPONENTS["gate"]
    event = plain_event(on_wire, lambda event: _decided(event)[:3])
    return Projection(closed, node, of_step(event, plain_effect(on_wire, _flagged)))


def bind_threads(divergence: Divergence, profile: Profile) -> Binding:
    """The binding for mode unaligned of 1.11, with its two threads. Raises NotInTlaError."""
    constants = _without_after_finish("TwoThreads", divergence, profile)
    return Binding(
        "gate",
        module="TwoThreadsModel",
        state="threads",
        constants={**constants, "Alternating": False},
        steps={
            "receive_barrier": "Receive(threads, event[2], event[3], event[4])",
            "barrier": "ReadBarrier(threads, event[2], event[3], event[4])",
            "cancel": "ReadCancel(threads, event[3])",
            "end_of_partition": "ReadEnd(threads, event[2])",
            "mail": "Done(threads, RunMail(threads, mail), <<>>)",
            "advance": "Done(threads, <<>>, <<>>)",
            "record": f"Done(threads, {_read('threads.gate')}, <<>>)",
        },
        fields={
            "current": field("read"),
            "pending": field("reading"),
            "closed": field("gate.closed", set_of),
            "arrived": field("gate.arrived", set_of),
        },
        rules=rules_of("threads"),
        guard='event[1] \\in {"mail", "advance"} \\/ event[2] \\in Channels \\ threads.gate.closed',
        environment="""LET event == Recorded[replayed + 1] IN
       mail' = IF event[1] = "mail" THEN <<>> ELSE mail \\o Expected(event).left
    /\\ UNCHANGED <<unread, last>>""",
        event=_decided,
        effect=_flagged,
    )
