"""Writes the wrong answer of a divergence in TLA+. Values that do not fit their types are written as text.

TLC ends with an error if a rule compares an int with a text, and then the rule has no verdict. So no answer
may cause such an error. Some pairs of JSON values are one value in the module (an absent and a false flag, a
list and its set). If an answer differs only in such a pair, the module gets a text with the difference.
"""

from collections.abc import Mapping
from typing import NamedTuple

from conformance.adapters.protocol import Effects, Wire, canonical
from conformance.adapters.validation import complaints
from conformance.divergence import Answer, Divergence
from conformance.drive.oracle import Edge
from conformance.vectors.tla.binding import Binding
from conformance.vectors.tla.text import RECORD, Raw, Word, is_int_of_tla, value

NO_EFFECT = "is_no_effect"
"""Replaces the kind of an element in an answer that is not an effect of the component."""
SHOWS = "shows"
"""The kind of a word for a wrong state field that the module does not have or cannot express as it is."""
ANSWERS = "answers"
"""The kind of a word with all received effects as text, if they have the same words as the expected ones."""


class Came(NamedTuple):
    """The last answer of the implementation, in TLA+."""

    out: str
    """Its effects."""
    state: str
    """The component's variable afterwards."""


def came(binding: Binding, divergence: Divergence, edge: Edge) -> Came:
    """The received answer, which differs from the one that `edge` expects."""
    got = divergence.got
    if not isinstance(got, Answer):
        return Came(value([(type(got).__name__.lower(),)]), binding.state)
    words = [_checked(binding, divergence.component, effect) for effect in got.effects]
    expected = f"Expected(event).{binding.state}"
    shown, state = [], expected
    if not edge.fails and edge.refused is None:
        fields, unseen = _differing(binding, divergence.component, got.state, divergence.expected.state)
        shown = [(SHOWS, _text(name), _json(seen)) for name, seen in unseen.items()]
        if "" in fields:
            state = fields[""]
        elif fields:
            changes = ", ".join(f"!.{field} = {spelled}" for field, spelled in fields.items())
            state = f"[{expected} EXCEPT {changes}]"
    hides = value(words) == due(binding, edge) and not _are_expected(got.effects, edge)
    return Came(value([*words, *([(ANSWERS, _json(list(got.effects)))] if hides else []), *shown]), state)


def due(binding: Binding, edge: Edge) -> str:
    """The expected effects, as a TLA+ expression."""
    return value([binding.effect_word(effect) for effect in edge.effects])


def fits(component: str, definition: str, wire: object) -> bool:
    """Whether a value fits the component's schema, and has only types that TLC can compare."""
    return _is_comparable(wire) and not any(complaints(component, definition, wire))


def _is_comparable(wire: object) -> bool:
    """Whether a value has only texts, truth values, ints of TLC and null; records are written as texts."""
    if isinstance(wire, Mapping):
        return all(name in (RECORD, "records") or _is_comparable(one) for name, one in wire.items())
    if isinstance(wire, list | tuple):
        return tuple(wire[:1]) == ("record",) or all(map(_is_comparable, wire))  # an item of a channel
    return wire is None or isinstance(wire, str | bool) or is_int_of_tla(wire)


def _checked(binding: Binding, component: str, effect: Wire) -> Word:
    return binding.effect_word(effect) if fits(component, "effect", effect) else (NO_EFFECT, _json(effect))


def _are_expected(effects: Effects, edge: Edge) -> bool:
    """Whether the effects are the expected ones; if the task fails, the text of the failure is ignored."""

    def compared(some: Effects) -> bytes:
        without_text = [
            {"kind": "fail"} if edge.fails and one.get("kind") == "fail" else dict(one) for one in some
        ]
        return canonical(without_text)

    return compared(effects) == compared(edge.effects)


def _differing(
    binding: Binding, component: str, seen: Wire, expected: Wire
) -> tuple[Mapping[str, str], Mapping[str, object]]:
    """Observed fields that are not as expected: those that the module can show, and those that it cannot."""
    fields: dict[str, str] = {}
    unseen: dict[str, object] = {}
    for name, right in expected.items():
        if name not in seen or canonical(seen[name]) == canonical(right):
            continue
        show = binding.fields.get(name)
        if show is None or not fits(component, "state", {name: seen[name]}):
            unseen[name] = seen[name]
            continue
        spelled = show(seen[name])
        if spelled == show(right):
            unseen[name] = seen[name]
        else:
            fields.update(spelled)
    return fields, unseen


def _text(text: str) -> Raw:
    return Raw(value(text))


def _json(wire: object) -> Raw:
    return _text(canonical(wire).decode())
