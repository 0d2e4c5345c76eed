"""JSON documents whose shape is published as a JSON Schema (draft 2020-12)."""

from functools import cache
from importlib import resources
from typing import Any

import orjson

NAMES = ("findings", "mutants", "sarif", "verification")


class ReportError(ValueError):
    """A document does not fit its schema. The message names the place and the error."""


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema of one of NAMES."""
    file = resources.files("conformance.report").joinpath("schemas", f"{name}.schema.json")
    loaded: dict[str, Any] = orjson.loads(file.read_bytes())
    return loaded


def check(name: str, made: object) -> None:
    """Raises ReportError if a document does not fit its schema."""
    from jsonschema import Draft202012Validator  # only commands that write a document import it

    for error in Draft202012Validator(schema(name)).iter_errors(made):
        raise ReportError(f"{error.json_path}: {error.message}; see {name}.schema.json")


def encoded(made: object) -> bytes:
    """The bytes of a document: indented JSON with an end of line, so that a diff of two files is readable."""
    return orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
