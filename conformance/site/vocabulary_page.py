"""The tables of docs/vocabulary.md and docs/adapter-protocol.md, made from the vocabulary."""

import json
import re
from collections.abc import Iterable, Iterator

from spec.schemas import conditions
from spec.vocabulary import Component, Field, Kind, types, vocabulary

_HEAD = """# Vocabulary

Every configuration option, event, effect and state field of every component, made from
`spec/vocabulary/`. `docs/adapter-protocol.md` says when each effect is due; `barrierspec schema NAME` prints
the same words as a JSON Schema. A field in *italics* may be left out.
"""
_BLOCK = re.compile(r"(?<=<!-- vocabulary: )(\w+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)


def with_tables(page: str) -> str:
    """The Markdown of a page with the tables of each component between its two marks.

    The marks are `<!-- vocabulary: COMPONENT -->` and `<!-- end -->`.

    Raises KeyError for an unknown component.
    """
    return _BLOCK.sub(lambda found: found[1] + found[2] + "\n" + _tables_of(found[1]), page)


def _tables_of(name: str) -> str:
    _, tables = "\n".join(_component(vocabulary()[name])).split("\n\n", 1)
    return f"{tables}\n"


def page() -> str:
    """The page docs/vocabulary.md as Markdown."""
    return "\n".join([_HEAD, *(line for one in vocabulary().values() for line in _component(one)), *_types()])


def _component(component: Component) -> Iterator[str]:
    yield f"## Component `{component.name}`\n\n{component.title}.\n"
    if component.config:
        yield from _table("Configuration", component.config)
    yield from _kinds("Event", component.events)
    yield from _kinds("Effect", component.effects)
    yield from _table("State", component.state)


def _table(title: str, fields: Iterable[Field]) -> Iterator[str]:
    yield f"| {title.lower()} | type | meaning |\n|---|---|---|"
    for field in fields:
        meaning = _meaning(field.description, field.note, conditions(field.where))
        yield f"| {_name(field)} | {_type(field)} | {meaning} |"
    yield ""


def _kinds(title: str, kinds: Iterable[Kind]) -> Iterator[str]:
    yield f"| {title.lower()} | fields | meaning |\n|---|---|---|"
    for kind in kinds:
        fields = ", ".join(_name(field) for field in kind.fields)
        meaning = _meaning(kind.description, kind.note, conditions(kind.where))
        yield f"| `{kind.kind}` | {fields} | {meaning} |"
    yield ""


def _name(field: Field) -> str:
    return f"`{field.name}`" if field.required else f"*`{field.name}`*"


def _type(field: Field) -> str:
    if not field.defaults:
        return field.type
    return f"{field.type}, `{json.dumps(field.defaults[0])}` if left out"


def _meaning(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _types() -> Iterator[str]:
    yield "## Types\n\n| type | values |\n|---|---|"
    for name, schema in types().items():
        yield f"| {name} | {_values(schema)} |"
    yield ""


def _values(schema: object) -> str:
    assert isinstance(schema, dict)
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{str(schema['const']).lower()}`"
    if "oneOf" in schema:
        return " or ".join(_values(one) for one in schema["oneOf"])
    kinds = schema.get("type", "any JSON value")
    text = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    if "minimum" in schema:
        text += f" from {schema['minimum']:,}" + (
            f" to {schema['maximum']:,}" if "maximum" in schema else " on"
        )
    if kinds == "array" and "prefixItems" in schema:
        return "[" + ", ".join(_values(one) for one in schema["prefixItems"]) + "]"
    if kinds == "array":
        return f"array of: {_values(schema['items'])}" + (
            ", all different" if schema.get("uniqueItems") else ""
        )
    return text
