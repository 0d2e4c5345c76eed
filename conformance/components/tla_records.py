"""Translates records between TLA+ and the model, field by field, in both directions.

A `Record` converts a TLA+ record to a record of the model and back. It also gives the TLA+ text of an
observed field (`conformance.vectors.tla`), so that each field of a component is declared once.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from conformance.vectors.tla.text import set_of, value
from model.events import NONE
from spec.values import Function
from spec.vocabulary import vocabulary

Shown = Callable[[Any], Mapping[str, str]]
"""Maps an observed value to TLA+ texts, by field of the TLA+ record. The key "" is the whole record."""


class Spelling(NamedTuple):
    """Converts the values of a field between TLA+, the model and the wire."""

    read: Callable[[Any, Any], Any]
    """Maps the value in TLA+, and the value in the model's initial state, to the model's value."""
    write: Callable[[Any], Any]
    """Maps the model's value to that of TLA+."""
    text: Callable[[Any], str] = value
    """Maps the value on the wire to its TLA+ text."""


def _same(one: Any) -> Any:  # noqa: ANN401 - any value
    return one


SAME = Spelling(lambda there, before: there, _same)
FLAGS = Spelling(
    lambda there, before: tuple(place in there for place in range(len(before))),
    lambda flags: frozenset(place for place, flag in enumerate(flags) if flag),
    set_of,
)
"""In TLA+ a set of positions, in the model one flag for each position."""
IDS = Spelling(lambda there, before: tuple(sorted(there)), frozenset, set_of)
"""In TLA+ a set, in the model a sorted tuple."""
OR_ZERO = Spelling(
    lambda there, before: there or NONE, lambda one: max(one, 0), lambda seen: value(seen or 0)
)
"""No id: 0 in TLA+, -1 in the model, null on the wire."""


def words(names: Mapping[Any, object]) -> Spelling:
    """The spelling of a field that has a name in TLA+ for each value of the model."""
    spelled = {code: name for name, code in names.items()}
    return Spelling(lambda there, before: names[there], lambda one: spelled[one])


def each(read: Callable[[Any], Any], write: Callable[[Any], Any] = tuple) -> Spelling:
    """The spelling of a sequence; `read` and `write` convert one member."""
    return Spelling(lambda there, before: tuple(map(read, there)), lambda many: tuple(map(write, many)))


State = TypeVar("State", bound=tuple[Any, ...])


class Record:
    """The fields of a record. Each has its name in TLA+, its name in the model, and its spelling."""

    def __init__(self, *fields: tuple[str, str, Spelling]) -> None:
        self.fields = fields

    def read(self, there: Mapping[str, Any], start: State) -> State:
        """The model's record for a TLA+ record. Fields that TLA+ does not have come from `start`."""
        changed = {
            model: spelling.read(there[tla], getattr(start, model)) for tla, model, spelling in self.fields
        }
        made: State = start._replace(**changed)  # type: ignore[attr-defined]
        return made

    def write(self, state: object) -> Function:
        """The TLA+ record for a record of the model."""
        return Function({tla: spelling.write(getattr(state, model)) for tla, model, spelling in self.fields})

    def nested(self, start: State) -> Spelling:
        """The spelling of a field that is such a record. `start` has the fields that TLA+ does not have."""
        return Spelling(lambda there, before: self.read(there, start), self.write)

    def shows(self, component: str, inner: str = "", **others: Shown) -> Mapping[str, Shown]:
        """The TLA+ value of each observed field. `inner`: the path to the record, which ends with a dot."""
        found: dict[str, Shown] = {}
        for seen in vocabulary()[component].state:
            for tla, model, spelling in self.fields:
                if seen.name in (tla, model):
                    found.setdefault(seen.name, field(inner + tla, spelling.text))
        return {**found, **others}


def fields(*same: str, of: Spelling = SAME, **renamed: str) -> Iterable[tuple[str, str, Spelling]]:
    """Fields with one spelling. `same`: names in both; `renamed`: `TLA+ name = model name`."""
    return [(tla, model, of) for tla, model in {**{name: name for name in same}, **renamed}.items()]


def field(name: str, spelled: Callable[[Any], str] = value) -> Shown:
    """Maps an observed field to the field `name` of the TLA+ record."""
    return lambda seen: {name: spelled(seen)}


def pairs(function: Any) -> Iterable[tuple[int, Any]]:  # noqa: ANN401 - a value of TLA+
    """The pairs of a TLA+ function over numbers. TLC's reader gives a function over 1 .. n as a sequence."""
    return function.items() if isinstance(function, Mapping) else enumerate(function, start=1)
