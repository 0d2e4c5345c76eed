"""The JSON Schemas of the protocol (draft 2020-12): that of the frames, and one of each component.

`frames` has the definitions `request` and `answer`; each component has `config`, `event`, `effect` and
`state`, made from the vocabulary. An author of an adapter validates with any validator; the suite's own tests
validate every generated event, effect and state.
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
    """One of NAMES."""
    if name not in NAMES:
        raise KeyError(f"no schema is called {name!r}; expected one of: {', '.join(NAMES)}")
    if name in vocabulary():
        return schemas.schema(name)
    file = resources.files("conformance.adapters").joinpath("frames.json")
    read: dict[str, Any] = orjson.loads(file.read_bytes())
    return read


@cache
def validator(name: str, definition: str) -> "Draft202012Validator":
    """A validator of one definition, such as `event` of `gate`; KeyError if there is none."""
    from jsonschema import Draft202012Validator  # only commands that validate import it

    whole = schema(name)
    if definition not in whole["$defs"]:
        known = ", ".join(whole["$defs"])
        raise KeyError(f"the schema {name} defines no {definition!r}; expected one of: {known}")
    return Draft202012Validator({**whole, "$ref": f"#/$defs/{definition}"})


def complaints(name: str, definition: str, wire: object) -> Iterator[str]:
    """Why an object is not valid, one line each; nothing if it is."""
    for error in validator(name, definition).iter_errors(wire):
        yield f"{error.json_path}: {error.message}"
