"""The vocabulary of the protocol: every event, effect, option and state field of every component.

This module reads `spec/vocabulary/<component>.toml`. There the value of a field is the name of a type of
`types.toml`, or a table with the type and more keys:

    alignment = { type = "alignment", default = "aligned", where = { mode = ["unaligned"] } }

A field is required unless it has a `default` or is `optional`. `where` names the options under which the
field exists. Without `where` it always exists. `model` is the model's name of an event, an effect or a field,
if the name differs. It is false if the model does not have the entry. `drawn` states how a space-time diagram
shows it.

The project makes these from the vocabulary: the JSON Schemas of the adapter protocol (`spec.schemas`), the
model's classes (`spec.model_classes`), the tables of docs/vocabulary.md and docs/adapter-protocol/, and the
lanes of diagrams.
"""

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib import resources
from string import Formatter
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, get_args

Where = Mapping[str, tuple[str, ...]]
"""Maps an option to the values with which an entry exists. Empty if it exists with all options."""

_TABLES = ("config", "event", "effect", "state")
_OF_BOTH = frozenset({"description", "note", "where", "model", "drawn"})
_OF_FIELD = _OF_BOTH | {"type", "default", "default_null", "optional"}
_OF_KIND = _OF_BOTH | {"kind", "fields"}
_VALUES = ("0", "1")
"""The names in braces that `lane` and `text` of an interval may contain."""
_While = Literal["each", "any", "map", "set"]

Drawn = TypeVar("Drawn")


class VocabularyError(ValueError):
    """The vocabulary is malformed."""


class Mark(NamedTuple):
    """How an event or effect is drawn in a space-time diagram."""

    lane: str
    """The lane of the mark. It may contain names of fields in braces, such as `channel {channel}`."""
    look: str
    """The look of the mark, one of conformance/diagram/looks.toml."""
    source: str = ""
    """The lane at which an arrow to the mark begins. Empty: the mark has no arrow."""
    quiet: bool = False
    """The mark is drawn only where two implementations differ, because an interval shows the effect."""


class Interval(NamedTuple):
    """How a state field is drawn in a space-time diagram: as an interval during which a condition holds."""

    when: _While | bool
    """The condition. `each`: one interval for each value of the list. `any`: the list is not empty.

    `map`: one interval for each pair of a map of lists. `set`: the field has a value. True or False: the
    field has this value.
    """
    lane: str
    """`lane` and `text` may contain {0}: the value, all values of `any`, or the first part of a pair."""
    look: str
    text: str


class Field(NamedTuple):
    """One field of an event, an effect, a configuration or a state."""

    name: str
    type: str
    """The name of a type of `types.toml`."""
    required: bool
    defaults: tuple[object, ...]
    """The default as a tuple of one value. Empty if the field has no default."""
    description: str
    """One sentence. Empty if the type describes the field completely."""
    note: str
    where: Where
    model: str
    """The name in the model. Empty: the model lacks the field.

    After the name and `: ` the Python type may follow, if it is not the type that `type` implies.
    """
    drawn: tuple[Interval, ...] = ()


class Kind(NamedTuple):
    """One event or effect."""

    kind: str
    description: str
    """One sentence."""
    note: str
    where: Where
    fields: tuple[Field, ...]
    """The fields without `kind`, which every event and effect has."""
    model: tuple[str, ...]
    """The names of the model's classes. Of two classes, only the second has the fields with a condition."""
    drawn: Mark | None = None
    """The mark in a space-time diagram. None: the default mark, on the component's own lane."""


class Component(NamedTuple):
    """The vocabulary of one component."""

    name: str
    title: str
    config: tuple[Field, ...]
    events: tuple[Kind, ...]
    effects: tuple[Kind, ...]
    state: tuple[Field, ...]
    lane: str = ""
    """The component's lane in a space-time diagram."""
    capabilities: tuple[str, ...] = ()
    """Optional requests that an implementation may offer, in addition to the events."""


@cache
def types() -> Mapping[str, Mapping[str, Any]]:
    """Maps the name of each type of fields to its JSON Schema."""
    schemas = _read("types")
    for schema in schemas.values():
        schema.pop("model", None)
        schema.pop("limit", None)
    return MappingProxyType(schemas)


@cache
def limited() -> Mapping[str, str]:
    """Maps a type to the entry of `limits` in the answer `hello` that bounds its values.

    The map has only types that have such an entry.
    """
    return MappingProxyType({name: one["limit"] for name, one in _read("types").items() if "limit" in one})


def exists(component: str, where: Where, config: Mapping[str, Any]) -> bool:
    """Whether an entry with this `where` exists in a configuration. Missing options have their defaults."""
    defaults = {one.name: one.defaults[0] for one in vocabulary()[component].config if one.defaults}
    given = {"mode": "exactly-once", **defaults, **config}
    return all(given[option] in values for option, values in where.items())


@cache
def in_model() -> Mapping[str, int | str]:
    """Maps a type to the model's number for its first word, or to the model's Python type.

    The map lacks types whose values are the same in the model and in the adapter protocol.
    """
    return MappingProxyType({name: one["model"] for name, one in _read("types").items() if "model" in one})


@cache
def vocabulary() -> Mapping[str, Component]:
    """Maps the name of each component to its vocabulary, in the order of reports (`order` in its file).

    Raises VocabularyError if a file is malformed.
    """
    folder = resources.files("spec") / "vocabulary"
    names = {file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")}
    read = {name: _read(name) for name in names - {"types"}}
    by_order = sorted(read, key=lambda name: (read[name].get("order", len(read)), name))
    return MappingProxyType({name: parse(name, read[name], types()) for name in by_order})


def parse(name: str, text: Mapping[str, Any], known: Mapping[str, object]) -> Component:
    """Reads the vocabulary of one component from its TOML tables.

    `known`: the types of `types.toml`. Raises VocabularyError if a table is malformed.
    """
    unknown = sorted(set(text) - {"title", "order", "lane", "capabilities", *_TABLES})
    if unknown:
        raise VocabularyError(f"{name}.toml: unknown tables {unknown}; expected {', '.join(_TABLES)}")
    return Component(
        name,
        str(text["title"]),
        tuple(_fields(f"{name}.toml: config", text.get("config", {}), known)),
        tuple(_kinds(f"{name}.toml: event", text.get("event", ()), known)),
        tuple(_kinds(f"{name}.toml: effect", text.get("effect", ()), known)),
        tuple(_fields(f"{name}.toml: state", text.get("state", {}), known)),
        str(text.get("lane", name)),
        tuple(text.get("capabilities", ())),
    )


def _kinds(place: str, entries: object, known: Mapping[str, object]) -> Iterator[Kind]:
    assert isinstance(entries, list | tuple)
    for entry in entries:
        here = f"{place} {entry.get('kind')!r}"
        _require_keys(here, entry, _OF_KIND)
        if not isinstance(entry.get("kind"), str) or not entry["kind"] or not entry.get("description"):
            raise VocabularyError(f"{here}: expected `kind` and one sentence as `description`; add them")
        fields = tuple(_fields(here, entry.get("fields", {}), known))
        model = entry.get("model", "".join(map(str.capitalize, entry["kind"].split("_")))) or ()
        classes = tuple(model) if isinstance(model, list | tuple) else (model,)
        description, note = entry["description"], entry.get("note", "")
        if not all(isinstance(one, str) for one in classes):
            raise VocabularyError(f"{here}: expected `model` as a name, names or false, got {model!r}")
        names = {field.name for field in fields}
        drawn = _drawn(here, Mark, entry["drawn"], names) if "drawn" in entry else None
        yield Kind(entry["kind"], description, note, _where(entry), fields, classes, drawn)


def _fields(place: str, entries: Mapping[str, object], known: Mapping[str, object]) -> Iterator[Field]:
    for name, entry in entries.items():
        table: Mapping[str, Any] = {"type": entry} if isinstance(entry, str) else dict(entry)  # type: ignore[call-overload]
        here = f"{place}.{name}"
        _require_keys(here, table, _OF_FIELD)
        if table.get("type") not in known:
            raise VocabularyError(
                f"{here}: unknown type {table.get('type')!r}; add it to types.toml or name another"
            )
        defaults = (table["default"],) if "default" in table else (None,) if table.get("default_null") else ()
        required = not defaults and not table.get("optional", False)
        description, note = table.get("description", ""), table.get("note", "")
        model = table.get("model", name) or ""
        intervals = table.get("drawn", ())
        if not isinstance(intervals, list | tuple):
            raise VocabularyError(f"{here}: drawn: expected a list of tables, got {intervals!r}")
        drawn = tuple(_drawn(here, Interval, one, _VALUES) for one in intervals)
        yield Field(name, table["type"], required, defaults, description, note, _where(table), model, drawn)


def _drawn(place: str, shape: Callable[..., Drawn], entry: object, named: Collection[str]) -> Drawn:
    """Makes a Mark or Interval (`shape`) from a table. Its texts may contain the names `named` in braces."""
    if not isinstance(entry, Mapping):
        raise VocabularyError(f"{place}: drawn: expected a table, got {entry!r}")
    for key, text in entry.items():
        if not isinstance(text, bool if key == "quiet" else object if key == "when" else str):
            raise VocabularyError(f"{place}: drawn: expected a boolean as quiet, else texts, got {entry!r}")
    for key in {"lane", "source", "text"} & set(entry):
        unknown = {name for _, name, _, _ in Formatter().parse(entry[key]) if name is not None} - set(named)
        if unknown:
            raise VocabularyError(f"{place}: drawn: {key}: expected some of {sorted(named)}, got {unknown}")
    when = entry.get("when", True)
    if not isinstance(when, bool) and when not in get_args(_While):
        known = ", ".join(get_args(_While))
        raise VocabularyError(f"{place}: drawn: expected {known}, true or false, got {when!r}")
    try:
        return shape(**entry)
    except TypeError as error:
        raise VocabularyError(f"{place}: drawn: {error}; correct it") from error


def _where(entry: Mapping[str, Any]) -> Where:
    return MappingProxyType({option: tuple(values) for option, values in entry.get("where", {}).items()})


def _require_keys(place: str, entry: Mapping[str, object], known: frozenset[str]) -> None:
    unknown = sorted(set(entry) - known)
    if unknown:
        raise VocabularyError(
            f"{place}: unknown keys {unknown}; expected some of: {', '.join(sorted(known))}"
        )


def _read(name: str) -> dict[str, Any]:
    text = (resources.files("spec") / "vocabulary" / f"{name}.toml").read_text("utf-8")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise VocabularyError(f"spec/vocabulary/{name}.toml: expected TOML, got: {error}") from error
