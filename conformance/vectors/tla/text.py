"""Values and names of the wire as TLA+ text."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from conformance import escape
from conformance.adapters.protocol import Wire, canonical
from spec.values import Function
from spec.vocabulary import vocabulary


class NotInTlaError(ValueError):
    """The divergence cannot be written in TLA+; the message states why, and what can be written."""


Word = tuple[Any, ...]
"""An event or an effect as `out` of the modules has it: its kind, then its fields."""

INT_MAX = 2**31 - 1
"""The greatest int of TLC."""


class Raw(str):
    """A value that is written as it is: an expression, not a string."""

    __slots__ = ()


RECORD = "value"
"""The field with a record. A record may be any JSON value. As text, TLC can compare any two records."""
LISTS_OF_RECORDS = ("records", "input", "output")
"""The fields with several records."""


@cache
def _order(component: str, kind: str, given: frozenset[str]) -> tuple[str, ...]:
    """The fields of a word in the order of the vocabulary, which the modules have too."""
    known = vocabulary()[component]
    fields = [
        [field.name for field in one.fields] for one in (*known.events, *known.effects) if one.kind == kind
    ]
    return tuple(max(fields, key=lambda names: len(given.intersection(names)), default=()))


def record_text(record: object) -> str:
    """A record, which may be any JSON, as a text."""
    return canonical(record).decode()


def plain(component: str, one: Wire, of_record: Callable[[Any], object] = record_text) -> Word:
    """An event or an effect: its kind, then its fields in the order of the vocabulary."""
    known = [name for name in _order(component, one["kind"], frozenset(one)) if name in one]
    unknown = sorted(name for name in one if name not in known and name != "kind")

    def spelled(name: str) -> object:
        if name == RECORD:
            return of_record(one[name])
        return tuple(map(of_record, one[name])) if name in LISTS_OF_RECORDS else one[name]

    return (one["kind"], *map(spelled, (*known, *unknown)))


def filled(component: str, event: Wire, *unless: str) -> Wire:
    """The event with the vocabulary's default for each field that it lacks, except those in `unless`."""
    kind = next(one for one in vocabulary()[component].events if one.kind == event["kind"])
    defaults = {one.name: one.defaults[0] for one in kind.fields if one.defaults and one.name not in unless}
    return {**defaults, **event}


def value(one: Any) -> str:  # noqa: ANN401 - any JSON value
    """A value in TLA+: lists and tuples are sequences, functions records, null is -1.

    Raises NotInTlaError if an int is greater than those of TLC.
    """
    if isinstance(one, Raw):
        return str(one)
    if isinstance(one, bool):
        return str(one).upper()
    if isinstance(one, int):
        if not is_int_of_tla(one):
            raise NotInTlaError(f"TLC counts from {-INT_MAX:,} to {INT_MAX:,}, and this run has {one:,}")
        return str(one)
    if isinstance(one, list | tuple):
        return f"<<{', '.join(value(part) for part in one)}>>"
    if isinstance(one, Function):
        return f"[{', '.join(f'{name} |-> {value(content)}' for name, content in one.items())}]"
    if one is None:
        return "-1"
    return escape.tla_string(str(one))


def is_int_of_tla(one: object) -> bool:
    """Whether TLC has this int."""
    return isinstance(one, int) and not isinstance(one, bool) and abs(one) <= INT_MAX


def set_of(values: Sequence[Any]) -> str:
    """A set of values as TLA+, without duplicates. Equal sets have the same text."""
    spelled = {value(one) for one in values}
    return "{" + ", ".join(sorted(spelled, key=lambda text: (len(text), text))) + "}"


def steps(component: str, variable: str, kinds: Sequence[str] = (), **others: str) -> dict[str, str]:
    """By kind of event, the call of the operator `On<Kind>` with the variable and the event's fields.

    `kinds`: the kinds of events that are returned; empty: all. `others`: steps that are written differently.
    """
    made = {}
    for one in vocabulary()[component].events:
        if one.kind in others:
            made[one.kind] = others[one.kind]
        elif not kinds or one.kind in kinds:
            given = [field for field in one.fields if field.required or field.defaults]
            operator = "".join(map(str.capitalize, one.kind.split("_")))
            arguments = ", ".join([variable, *(f"event[{place}]" for place in range(2, len(given) + 2))])
            made[one.kind] = f"On{operator}({arguments})"
    return made | others
