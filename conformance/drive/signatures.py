"""Signatures of divergences. Divergences with the same signature differ only in ids, channels and history."""

from conformance.adapters.protocol import Effects, Wire, canonical
from conformance.divergence import Answer, Divergence
from conformance.drive.oracle import Edge

Signature = tuple[object, ...]
"""The form of a divergence, without its ids, channels and history."""


def signature(divergence: Divergence) -> Signature:
    """Return mode, event, rules, both sides' effects without ids, the fields that differ, the component."""
    got = divergence.got
    if not isinstance(got, Answer):
        received: Signature = (type(got).__name__,)
    else:
        expected = divergence.expected.state
        fields = [name for name in expected if name in got.state]
        received = (
            _kinds(got.effects),
            tuple(name for name in fields if canonical(got.state[name]) != canonical(expected[name])),
        )
    event = divergence.event
    due = _kinds(divergence.expected.effects)
    step = (divergence.config.get("mode"), event["kind"], divergence.rules, due)
    return (*step, event.get("alignment"), *received, divergence.component)


def expects(form: Signature) -> Signature:
    """The part of a signature that does not depend on the answer of the implementation."""
    return form[:4]


def expected_of(mode: str | None, event: Wire, edge: Edge) -> Signature:
    """The part of a signature that `expects` returns, for a transition of the model."""
    return (mode, event["kind"], edge.rules, _kinds(edge.effects))


def _kinds(effects: Effects) -> tuple[str, ...]:
    """The kinds of the effects with their reasons, without repetitions, whatever the number of channels."""
    named = [":".join([effect["kind"], *_reasons(effect)]) for effect in effects]
    return tuple(name for at, name in enumerate(named) if at == 0 or named[at - 1] != name)


def _reasons(effect: Wire) -> list[str]:
    return [str(effect[field]) for field in ("reason", "error", "unaligned") if field in effect]
