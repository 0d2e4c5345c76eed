"""The tables of docs/vocabulary.md and docs/adapter-protocol/, made from the vocabulary."""

import json
import re

from jinja2 import Environment, PackageLoader, Template

from spec.schemas import conditions
from spec.vocabulary import Field, Kind, types, vocabulary

_BLOCK = re.compile(r"(?<=<!-- vocabulary: )(\w+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)


def with_tables(page: str) -> str:
    """The Markdown of a page with the tables of each component between its two marks.

    These are `<!-- vocabulary: COMPONENT -->` and `<!-- end -->`. Raises KeyError for an unknown component.
    """
    tables = _template().module.tables  # type: ignore[attr-defined]
    return _BLOCK.sub(lambda found: f"{found[1]}{found[2]}\n{tables(vocabulary()[found[1]])}", page)


def page() -> str:
    """The page docs/vocabulary.md as Markdown."""
    return _template().render()


def _template() -> Template:
    loader = PackageLoader("conformance.site", "")
    environment = Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)
    environment.globals.update(components=vocabulary().values(), types=types())
    environment.filters.update(name=_name, field=_field, type=_type, meaning=_meaning, values=_values)
    return environment.get_template("vocabulary.md.jinja")


def _name(field: Field) -> str:
    return f"`{field.name}`" if field.required else f"*`{field.name}`*"


def _field(field: Field) -> str:
    return f"{_name(field)} (`{json.dumps(field.defaults[0])}`)" if field.defaults else _name(field)


def _type(field: Field) -> str:
    if not field.defaults:
        return field.type
    return f"{field.type}, `{json.dumps(field.defaults[0])}` if left out"


def _meaning(one: Field | Kind) -> str:
    return " ".join(part for part in (one.description, one.note, conditions(one.where)) if part)


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
