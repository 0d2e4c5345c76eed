"""Translates records between TLA+ and the model, field by field, in both directions.

A `Record` reads a TLA+ record as one of the model and writes it back. The same binding gives the TLA+ text of
an observed field (`conformance.vectors.tla`), so a field is stated once for a component.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from conformance.vectors.tla.text import set_of, value
from model.events import NONE
from spec.values import Function
from spec.vocabulary import vocabulary

Shown = Callable[[Any], Mapping[str, str]]
"""Maps an observed field to TLA+ values, by field of the module's record; the key "" is the whole record."""


class Spelling(NamedTuple):
    """How the values of a field are written in TLA+, in the model and on the wire."""

    read: Callable[[Any, Any], Any]
    """Maps the value of TLA+, and that of the model's initial state, to the model's value."""
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
"""A set of positions in TLA+, one flag for each position in the model."""
IDS = Spelling(lambda there, before: tuple(sorted(there)), frozenset, set_of)
"""A set in TLA+, a sorted tuple in the model."""
OR_ZERO = Spelling(
    lambda there, before: there or NONE, lambda one: max(one, 0), lambda seen: value(seen or 0)
)
"""0 in TLA+, -1 in the model, null on the wire."""


def words(names: Mapping[Any, object]) -> Spelling:
    """A word in TLA+ for each of the model's values."""
    spelled = {code: name for name, code in names.items()}
    return Spelling(lambda there, before: names[there], lambda one: spelled[one])


def each(read: Callable[[Any], Any], write: Callable[[Any], Any] = tuple) -> Spelling:
    """A sequence in both, member for member."""
    return Spelling(lambda there, before: tuple(map(read, there)), lambda many: tuple(map(write, many)))


State = TypeVar("State", bound=tuple[Any, ...])


class Record:
    """The fields of a record: the name in TLA+, the name in the model, the spelling of its values."""

    def __init__(self, *fields: tuple[str, str, Spelling]) -> None:
        self.fields = fields

    def read(self, there: Mapping[str, Any], start: State) -> State:
        """The model's record; fields that TLA+ does not have are those of `start`."""
        changed = {
            model: spelling.read(there[tla], getattr(start, model)) for tla, model, spelling in self.fields
        }
        made: State = start._replace(**changed)  # type: ignore[attr-defined]
        return made

    def write(self, state: object) -> Function:
        """The record of TLA+."""
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
    """Fields of one spelling: `same` if the model has the TLA+ name, else `TLA+ name = model name`."""
    return [(tla, model, of) for tla, model in {**{name: name for name in same}, **renamed}.items()]


def field(name: str, spelled: Callable[[Any], str] = value) -> Shown:
    """An observed field that is one of the module's record."""
    return lambda seen: {name: spelled(seen)}


def pairs(function: Any) -> Iterable[tuple[int, Any]]:  # noqa: ANN401 - a value of TLA+
    """A function of TLA+ over numbers; one over 1 .. n is a sequence."""
    return function.items() if isinstance(function, Mapping) else enumerate(function, start=1)
