"""Reads and writes the objects of the adapter protocol, as `spec/vocabulary/*.toml` describes them.

`Words` holds the options, events and effects of one component. It reads a configuration into values of the
model and an event into its record, and writes a record as an object. The vocabulary defines names, types,
bounds, defaults, and the model's names and numbers. If a number is null or missing in the object, the model's
value is -1.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from model.events import NONE, Effect, Event
from spec.vocabulary import Component, Field, Where, in_model, types, vocabulary

Wire = Mapping[str, Any]


class WireError(ValueError):
    """The protocol does not permit this configuration or event here. The state has not changed."""


def names_of(numbered: str) -> Mapping[int, str]:
    """Maps the model's numbers to the words of the type `numbered`."""
    first = in_model()[numbered]
    assert isinstance(first, int), f"the model does not number {numbered}"
    return dict(enumerate(types()[numbered]["enum"], first))


def only(wire: object, known: Collection[str], what: str) -> Wire:
    """Returns `wire`. Raises WireError if it is no object, or has a field that is not in `known`.

    `what` names the object in the message of the error.
    """
    if type(wire) is not dict and not isinstance(wire, Mapping):
        raise WireError(f"{what}: expected an object with {', '.join(known)}, got {wire!r}")
    strange = [name for name in wire if name not in known]
    if strange:
        raise WireError(f"{what}: unknown fields {strange}; expected some of: {', '.join(known)}")
    return wire


def to_wire(effect: Effect) -> dict[str, object]:
    """An event or effect as an object: its kind, then its fields with the names and values of the model."""
    return {"kind": effect[-1], **dict(zip(_fields(type(effect)), effect, strict=False))}


@cache
def _fields(record: type) -> tuple[str, ...]:
    return tuple(getattr(record, "_fields"))[:-1]  # noqa: B009 - mypy: a NamedTuple class


def different(names: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Returns the names. Raises WireError if two names are equal. `what` is their name in the message."""
    if len(set(names)) != len(names):
        raise WireError(f"{what}: expected different names, got {names}")
    return names


# ---------------------------------------------------------------- values by their type

Read = Callable[[Any], Any]
"""Converts a value of the wire to a value of the model. Raises WireError, which names the expected value."""
Write = Callable[[Any], Any]
"""Converts a value of the model to a value of the wire."""


def _wrong(expected: str, value: object) -> WireError:
    return WireError(f"expected {expected}, got {value!r}")


def _integer(schema: Mapping[str, Any]) -> Read:
    least, most = schema.get("minimum"), schema.get("maximum")

    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if type(value) is not int or (least is not None and value < least):
            raise _wrong("an int" if least is None else f"an int of at least {least}", value)
        if most is not None and value > most:
            raise _wrong(f"an int of at most {most}", value)
        return value

    return read


def _text(schema: Mapping[str, Any]) -> Read:
    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if type(value) is not str or len(value) < schema.get("minLength", 0):
            raise _wrong("a string", value)
        return value

    return read


def _boolean(schema: Mapping[str, Any]) -> Read:
    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if type(value) is not bool or value is not schema.get("const", value):
            raise _wrong(str(schema["const"]).lower() if "const" in schema else "true or false", value)
        return value

    return read


def _array(schema: Mapping[str, Any]) -> Read:
    each = reader(schema.get("items", {}))

    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if not isinstance(value, list | tuple) or len(value) < schema.get("minItems", 0):
            raise _wrong(f"a list of at least {schema.get('minItems', 0)} values", value)
        return tuple(map(each, value))

    return read


def _object(schema: Mapping[str, Any]) -> Read:
    parts = {name: reader(part) for name, part in schema["properties"].items()}

    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        given = only(value, tuple(parts), "an object")
        for name in schema.get("required", ()):
            if name not in given:
                raise _wrong(f"an object with {name}", value)
        return {name: _named(name, parts[name], one) for name, one in given.items()}

    return read


_BY_TYPE: Mapping[str, Callable[[Mapping[str, Any]], Read]] = {
    "integer": _integer,
    "string": _text,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}


def reader(schema: Mapping[str, Any]) -> Read:
    """Returns the function that reads values of this JSON Schema. Null becomes -1, a list a tuple."""
    if "enum" in schema:
        released = tuple(schema["enum"])
        allowed = (*released, *schema.get("proposed", ()))

        def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
            if type(value) is not str or value not in allowed:
                raise _wrong(f"one of {', '.join(released)}", value)
            return value

        return read
    kind = schema.get("type", "boolean" if "const" in schema else None)
    if isinstance(kind, list):
        inner = reader({**schema, "type": kind[0]})
        return lambda value: NONE if value is None else inner(value)
    return _BY_TYPE[kind](schema) if kind else lambda value: value


def _named(name: str, read: Read, value: object) -> Any:  # noqa: ANN401 - the model's value
    try:
        return read(value)
    except WireError as wrong:
        raise WireError(f"{name}: {wrong}") from None


class Spelled(NamedTuple):
    """One field of an event or effect, or one option, with the functions that read and write its values."""

    field: Field
    model: str
    """Name of the field in the model."""
    read: Read
    write: Write
    left_out: object
    """The model's value if the wire object has no such field."""


def _spelled(field: Field) -> Spelled:
    schema = types()[field.type]
    read = reader(schema)
    write: Write = _as_it_is
    name, _, annotation = field.model.partition(": ")
    numbered, flag = isinstance(in_model().get(field.type), int), annotation == "bool"
    if numbered or flag:
        word = read
        names = names_of(field.type) if numbered else dict(zip((True, False), schema["enum"], strict=True))
        codes = {name: code for code, name in names.items()}
        read, write = (lambda value: codes[word(value)]), (lambda code: names[code])
    elif isinstance(schema.get("type"), list):
        write = _null
    elif schema.get("type") == "array":
        write = _list
    left_out: object = None if schema.get("type") != "integer" else NONE
    return Spelled(field, name, read, write, read(field.defaults[0]) if field.defaults else left_out)


def _as_it_is(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    return value


def _list(values: Any) -> Any:  # noqa: ANN401 - a tuple
    return list(values)


def _null(value: Any) -> Any:  # noqa: ANN401 - a number or null
    return None if value == NONE else value


# ---------------------------------------------------------------- words


def _holds(where: Where, options: Mapping[str, str]) -> bool:
    return all(options[option] in values for option, values in where.items() if option in options)


class Words:
    """The options, events and effects of one component, as far as they exist under given options."""

    def __init__(
        self,
        component: str | Component,
        records: Iterable[type] = (),
        *,
        options: Mapping[str, str] | None = None,
    ) -> None:
        """`records`: the model's classes of events. `options`: the given options, such as the mode."""
        given = options or {}
        known = vocabulary()[component] if isinstance(component, str) else component
        self._config = {one.name: _spelled(one) for one in known.config if _holds(one.where, given)}
        self._hidden = {one.kind: one.where for one in known.events if not _holds(one.where, given)}
        self._events: dict[str, dict[str, Spelled]] = {}
        self._effects: dict[str, dict[str, Spelled]] = {}
        for kinds, spelled in ((known.events, self._events), (known.effects, self._effects)):
            for kind in kinds:
                if kind.kind not in self._hidden or spelled is self._effects:
                    found = {one.name: _spelled(one) for one in kind.fields if _holds(one.where, given)}
                    spelled.setdefault(kind.kind, {}).update(found)
        self._event_writers, self._effect_writers = _by_model(self._events), _by_model(self._effects)
        self._records: dict[str, list[type]] = {}
        for record in records:
            kind_of = getattr(record, "_field_defaults")["kind"]  # noqa: B009 - mypy: a NamedTuple class
            known_as = self._records.setdefault(kind_of, [])
            known_as.append(record)
            known_as.sort(key=lambda one: -len(_fields(one)))
        self._options = given

    def config(self, wire: Wire) -> dict[str, Any]:
        """Returns every option with its value or default. Raises WireError if `wire` is not valid."""
        only(wire, tuple(self._config), "config")
        return _read(self._config, wire)

    def event(self, wire: Wire) -> tuple[str, dict[str, Any]]:
        """Returns the kind and the fields of an event, with defaults. Raises WireError if it is not valid."""
        kind = wire.get("kind")
        if not isinstance(kind, str) or kind not in self._events:
            if isinstance(kind, str) and kind in self._hidden:
                raise WireError(f"{kind}: {self._needs(self._hidden[kind])}: {dict(wire)}")
            raise WireError(f"unknown kind {kind!r}; expected one of: {', '.join(sorted(self._events))}")
        fields = self._events[kind]
        only(wire, ("kind", *fields), kind)
        return kind, _read(fields, wire)

    def read(self, wire: Wire, **left_out: object) -> Event:
        """Returns the record of an event. `left_out`: values for fields that the wire object may lack.

        Raises WireError if the event is not valid under the options.
        """
        kind, fields = self.event(wire)
        given = {
            spelled.model: fields[name]
            for name, spelled in self._events[kind].items()
            if name in wire or spelled.field.defaults
        }
        return self.record(kind, {**left_out, **given})

    def record(self, kind: str, fields: Mapping[str, Any]) -> Event:
        """Returns the event as a record: of the largest class of this kind whose fields are all given."""
        for record in self._records[kind]:
            if all(map(fields.__contains__, _fields(record))):
                made: Event = record(*map(fields.__getitem__, _fields(record)))
                return made
        raise AssertionError(f"no record of the model is a {kind} with {sorted(fields)}")

    def write(self, record: Event) -> dict[str, object]:
        """Returns the wire object of an event: its kind, then the fields that exist on the wire."""
        return _written(record, self._event_writers)

    def write_effect(self, record: Effect) -> dict[str, object]:
        """Returns the wire object of an effect."""
        return _written(record, self._effect_writers)

    def _needs(self, where: Where) -> str:
        unmet = [option for option, values in where.items() if self._options.get(option) not in values]
        needed = " and ".join(f"{option} {' or '.join(where[option])}" for option in unmet)
        return f"expected {needed}, got {', '.join(self._options[option] for option in unmet)}"


FieldsByKind = Mapping[str, Mapping[str, Spelled]]
"""Maps the kind of an event or effect to its fields by name."""


def _by_model(by_kind: FieldsByKind) -> FieldsByKind:
    """The same fields, by their names in the model."""
    return {kind: {one.model: one for one in fields.values()} for kind, fields in by_kind.items()}


def _written(record: Event, by_kind: FieldsByKind) -> dict[str, object]:
    kind = str(record[-1])
    fields = by_kind.get(kind)
    if fields is None:
        return to_wire(record)
    wire: dict[str, object] = {"kind": kind}
    for name, value in zip(_fields(type(record)), record, strict=False):
        spelled = fields.get(name)
        if spelled is not None:
            wire[spelled.field.name] = spelled.write(value)
    return wire


def _read(fields: Mapping[str, Spelled], wire: Wire) -> dict[str, Any]:
    values = {}
    for name, spelled in fields.items():
        if name in wire:
            values[name] = _named(name, spelled.read, wire[name])
        elif spelled.field.required:
            raise WireError(f"field {name!r} is missing in {dict(wire)}")
        else:
            values[name] = spelled.left_out
    return values
