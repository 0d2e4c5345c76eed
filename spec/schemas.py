"""JSON Schemas (draft 2020-12) of the adapter protocol, one for each component, made from the vocabulary.

Each schema has the definitions `config`, `event`, `effect` and `state`. The functions raise VocabularyError
if the vocabulary is malformed.
"""

from collections.abc import Iterable
from typing import Any

from spec.vocabulary import Component, Field, Kind, Where, types, vocabulary

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_OF_STATE = "Fields that an implementation cannot see are left out; later versions may add some."


def schema(name: str) -> dict[str, Any]:
    """The schema of the component with this name. Raises KeyError if there is none."""
    component = vocabulary()[name]
    return {
        "$schema": DRAFT,
        "$id": f"urn:barrierspec:protocol:1:{name}",
        "title": component.title,
        "description": "Protocol version 1; docs/adapter-protocol.md describes it.",
        "$defs": _definitions(component),
    }


def _definitions(component: Component) -> dict[str, Any]:
    state = {"description": _OF_STATE, "type": "object", "properties": _properties(component.state)}
    return {
        "config": _object(component.config),
        "event": {"oneOf": [_kind(one) for one in component.events]},
        "effect": {"oneOf": [_kind(one) for one in component.effects]},
        "state": state,
    }


def _kind(kind: Kind) -> dict[str, Any]:
    described = {"description": _description(kind.description, kind.note, kind.where)}
    whole = _object(kind.fields)
    whole["properties"] = {"kind": {"const": kind.kind}, **whole["properties"]}
    whole["required"] = ["kind", *whole.get("required", ())]
    return described | whole


def _object(fields: Iterable[Field]) -> dict[str, Any]:
    fields = tuple(fields)
    made: dict[str, Any] = {"type": "object", "properties": _properties(fields)}
    required = [field.name for field in fields if field.required]
    if required:
        made["required"] = required
    return made | {"additionalProperties": False}


def _properties(fields: Iterable[Field]) -> dict[str, Any]:
    return {field.name: _property(field) for field in fields}


def _property(field: Field) -> dict[str, Any]:
    description = _description(field.description, field.note, field.where)
    described = {"description": description} if description else {}
    default = {"default": field.defaults[0]} if field.defaults else {}
    released = {name: value for name, value in types()[field.type].items() if name != "proposed"}
    return described | released | default


def _description(description: str, note: str, where: Where) -> str:
    return " ".join(part for part in (description, note, conditions(where)) if part)


def conditions(where: Where) -> str:
    """A sentence like `Only with mode unaligned or alternating.`. Empty if `where` has no condition."""
    options = [f"{option} {' or '.join(values)}" for option, values in where.items()]
    return f"Only with {' and '.join(options)}." if options else ""
