"""A seat: how a component of the wire stands in its module of TLA+, its variable, its steps, its words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from conformance import escape
from conformance.adapters.protocol import Wire, canonical
from conformance.drive.oracle import Edge
from spec.manifest import load_manifest


class NotInTlaError(ValueError):
    """The divergence cannot be said in TLA+; the message says why, and what can."""


Told = tuple[Any, ...]
"""An event or an effect as `out` of the modules has it: its kind, then its fields."""

Shown = Callable[[Any], Mapping[str, str]]
"""Of an observed field its value in TLA+, as fields of the component; the whole of it stands under ``."""


INT_MAX = 2**31 - 1
"""The greatest int of TLC."""


class Raw(str):
    """A value that is written as it is: an expression, not a string."""

    __slots__ = ()


_ORDER = (
    "channel", "task", "transaction", "checkpoint", "type", "offsets", "alignment", "savepoint", "timestamp",
    "ms", "records", "value", "accepts", "running", "fails", "completed", "result", "reason", "unaligned",
)  # fmt: skip
"""In which order the modules have the fields of an event or an effect."""

RECORD = "value"
"""The field that holds a record, which may be any JSON: a text, so that any two can be compared."""
LISTS_OF_RECORDS = ("records", "input", "output")
"""Fields that hold several."""


def plain(one: Wire) -> Told:
    """An event or an effect: its kind, then its fields in the order of the modules."""
    known = [name for name in _ORDER if name in one]
    strange = sorted(name for name in one if name not in _ORDER and name != "kind")
    return (
        one["kind"],
        *(_field(name, one[name]) for name in (*known, *strange)),
    )


def plain_event(event: Wire, edge: Edge) -> Told:
    """An event whose fields are those of the action, all of them given."""
    return plain(event)


def _field(name: str, content: object) -> object:
    if name == RECORD:
        return record_text(content)
    return records_text(content) if name in LISTS_OF_RECORDS else content


def record_text(record: object) -> str:
    """A record, which may be any JSON, as a text."""
    return canonical(record).decode()


def records_text(records: Any) -> tuple[str, ...]:  # noqa: ANN401 - a list of JSON values
    """A list of records as texts."""
    return tuple(record_text(one) for one in records)


def value(one: Any) -> str:  # noqa: ANN401 - any JSON value
    """A value in TLA+: lists and tuples are sequences, nothing at all is -1."""
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
    if one is None:
        return "-1"
    return escape.tla_string(str(one))


def is_int_of_tla(one: object) -> bool:
    """Whether TLC has this int."""
    return isinstance(one, int) and not isinstance(one, bool) and abs(one) <= INT_MAX


def set_of(values: Sequence[Any]) -> str:
    """A set of values, each once; equal sets are spelled alike."""
    spelled = {value(one) for one in values}
    return "{" + ", ".join(sorted(spelled, key=lambda text: (len(text), text))) + "}"


def field(name: str, spelled: Callable[[Any], str] = value) -> Shown:
    """An observed field that is one of the component."""
    return lambda seen: {name: spelled(seen)}


class Seat(NamedTuple):
    """How a component stands in its module, under the configuration of one divergence."""

    module: str
    state: str
    """The variable that holds the component, and the field of a step that does."""
    constants: Mapping[str, object]
    """What stands in the configuration; a `Raw` is the name of an operator put in the place of another."""
    takes: Mapping[str, str]
    """By the event's kind, the step of the specification."""
    shows: Mapping[str, Shown]
    """By the observed field; one that is not here differs unseen, and is told beside the effects."""
    rules: tuple[str, ...] = ()
    """The definitions of the module that are checked: those that hold of every run that fits in here."""
    allows: str = "TRUE"
    """When `event` may come."""
    others: str = "TRUE"
    """What happens to the variables of the environment."""
    begins: str = "Init"
    carried: Mapping[str, str] = {}
    """Further variables that a step has as fields, with their first values."""
    prelude: str = ""
    """Definitions that the steps need."""
    extends: str = ""
    """A further module."""
    event: Callable[[Wire, Edge], Told] = plain_event
    effect: Callable[[Wire], Told] = plain
    failure: Told | None = ("fail",)
    """The module's word for a failure, whose text nobody compares; None: a failure is as any other effect."""


def rules_of(model: str, *but: str) -> tuple[str, ...]:
    """What a model of the manifest checks, `but` those definitions that only its environment makes true."""
    checked = load_manifest()[model].configuration.checked
    return tuple(name for name in checked if name not in ("TypeOK", *but))


def highest(events: Sequence[Wire], *names: str) -> int:
    """The greatest of these fields of the events; 1 if there is none."""
    return max([1, *(int(event[name]) for event in events for name in names if event.get(name) is not None)])
