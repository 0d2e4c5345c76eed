"""The JSON Schemas of the adapter protocol (draft 2020-12): one for the frames and one for each component.

`frames` has the definitions `request` and `answer`; each component has `config`, `event`, `effect` and
`state`, made from the vocabulary. The author of an adapter can use any JSON Schema validator. The tests of
the suite validate every generated event, effect and state.
"""

from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import orjson

from spec import schemas
from spec.vocabulary import vocabulary

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

NAMES = ("frames", *vocabulary())


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema `name`, one of NAMES; KeyError for another name."""
    if name not in NAMES:
        raise KeyError(f"no schema is called {name!r}; expected one of: {', '.join(NAMES)}")
    if name in vocabulary():
        return schemas.schema(name)
    file = resources.files("conformance.adapters").joinpath("frames.json")
    read: dict[str, Any] = orjson.loads(file.read_bytes())
    return read


@cache
def validator(name: str, definition: str) -> "Draft202012Validator":
    """A validator of one definition, such as `event` of `gate`; KeyError if the schema lacks it."""
    from jsonschema import Draft202012Validator  # only commands that validate import it

    whole = schema(name)
    if definition not in whole["$defs"]:
        known = ", ".join(whole["$defs"])
        raise KeyError(f"the schema {name} defines no {definition!r}; expected one of: {known}")
    return Draft202012Validator({**whole, "$ref": f"#/$defs/{definition}"})


def complaints(name: str, definition: str, wire: object) -> Iterator[str]:
    """One line for each error of an object under a definition of a schema; empty if it is valid."""
    for error in validator(name, definition).iter_errors(wire):
        yield f"{error.json_path}: {error.message}"
