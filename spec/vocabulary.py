"""The vocabulary of the protocol: every event, effect, option and state field of every component, once.

Read from `spec/vocabulary/<component>.toml`, in which a field is a type of `types.toml`, or a table with its
type and more:

    alignment = { type = "alignment", default = "aligned", where = { mode = ["unaligned"] } }

A field is required unless it has a `default` or is `optional`. `where` names the options under which it
exists; without it, it always does. `model` states what the model calls an event, an effect or a field, if it
does not use the same name; false, if it has none. `drawn` places it in a space-time diagram.

Made from the vocabulary: the JSON Schemas of the adapter protocol (`spec.schemas`), the model's classes
(`spec.model_classes`), the tables of docs/vocabulary.md and docs/adapter-protocol/, the lanes of diagrams.
"""

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib import resources
from string import Formatter
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, get_args

Where = Mapping[str, tuple[str, ...]]
"""Maps an option to its permitted values, one of which it must have; empty if it holds everywhere."""

_TABLES = ("config", "event", "effect", "state")
_OF_BOTH = frozenset({"description", "note", "where", "model", "drawn"})
_OF_FIELD = _OF_BOTH | {"type", "default", "default_null", "optional"}
_OF_KIND = _OF_BOTH | {"kind", "fields"}
_VALUES = ("0", "1")
"""The parts of a value that the texts of an interval may name."""
_While = Literal["each", "any", "map", "set"]

Drawn = TypeVar("Drawn")


class VocabularyError(ValueError):
    """The vocabulary is malformed."""


class Mark(NamedTuple):
    """How an event or effect is drawn in a space-time diagram."""

    lane: str
    """The lane, which may contain names of fields, such as `channel {channel}`."""
    look: str
    """The look of the mark, one of conformance/diagram/looks.toml."""
    source: str = ""
    """The lane from which it comes as an arrow; empty: it is no arrow."""
    quiet: bool = False
    """An effect that an interval shows already: drawn only where two implementations differ."""


class Interval(NamedTuple):
    """How a state field is drawn: as an interval while it holds."""

    when: _While | bool
    """It holds for `each` value, if there are `any`, for each pair of a `map` of lists, if the field is
    `set`, or if it is true or false."""
    lane: str
    """Lane and text may name values: {0} is the value, of a pair its first part, of `any` all of them."""
    look: str
    text: str


class Field(NamedTuple):
    """One field of an event, an effect, a configuration or a state."""

    name: str
    type: str
    """A name of `types.toml`."""
    required: bool
    defaults: tuple[object, ...]
    """The value that a field left out stands for; empty if there is none."""
    description: str
    """One sentence; empty for a field whose type states all."""
    note: str
    where: Where
    model: str
    """Name in the model, after `: ` its Python type if it is not that of `type`; empty: not in the model."""
    drawn: tuple[Interval, ...] = ()


class Kind(NamedTuple):
    """One event or effect."""

    kind: str
    description: str
    """One sentence."""
    note: str
    where: Where
    fields: tuple[Field, ...]
    """Without `kind`, which each has."""
    model: tuple[str, ...]
    """Classes of the model: of two, the first has the fields that always exist, the second has all."""
    drawn: Mark | None = None
    """None: on the component's own lane, as another effect."""


class Component(NamedTuple):
    """The words of one component."""

    name: str
    title: str
    config: tuple[Field, ...]
    events: tuple[Kind, ...]
    effects: tuple[Kind, ...]
    state: tuple[Field, ...]
    lane: str = ""
    """Its own lane in a space-time diagram."""
    capabilities: tuple[str, ...] = ()
    """Optional requests that an implementation may offer, in addition to the events."""


@cache
def types() -> Mapping[str, Mapping[str, Any]]:
    """The types of fields by name, each a JSON Schema."""
    schemas = _read("types")
    for schema in schemas.values():
        schema.pop("model", None)
        schema.pop("limit", None)
    return MappingProxyType(schemas)


@cache
def limited() -> Mapping[str, str]:
    """By type, the entry of `limits` in `hello` that bounds its values; types without one are left out."""
    return MappingProxyType({name: one["limit"] for name, one in _read("types").items() if "limit" in one})


def exists(component: str, where: Where, config: Mapping[str, Any]) -> bool:
    """Whether what exists at `where` exists under the configuration, given or by default."""
    defaults = {one.name: one.defaults[0] for one in vocabulary()[component].config if one.defaults}
    given = {"mode": "exactly-once", **defaults, **config}
    return all(given[option] in values for option, values in where.items())


@cache
def in_model() -> Mapping[str, int | str]:
    """By type: the number from which the model numbers its words, or the model's Python type.

    Types whose values the model has as they are on the wire are left out.
    """
    return MappingProxyType({name: one["model"] for name, one in _read("types").items() if "model" in one})


@cache
def vocabulary() -> Mapping[str, Component]:
    """Every component of the protocol by its name, in the order of reports (`order` in its file).

    Raises VocabularyError if a file is malformed.
    """
    folder = resources.files("spec") / "vocabulary"
    names = {file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")}
    read = {name: _read(name) for name in names - {"types"}}
    by_order = sorted(read, key=lambda name: (read[name].get("order", len(read)), name))
    return MappingProxyType({name: parse(name, read[name], types()) for name in by_order})


def parse(name: str, text: Mapping[str, Any], known: Mapping[str, object]) -> Component:
    """The words of one component, given as TOML tables; raises VocabularyError."""
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
    """A `shape` of a table; its texts may name the fields `named` in braces."""
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
        raise VocabularyError(f"{place}: drawn: {error}; mend it") from error


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
