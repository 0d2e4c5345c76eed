"""The TLA+ modules of the specification: their text, and the names that stand in it."""

import re
from functools import cache
from importlib import resources
from typing import NamedTuple

STANDARD = ("Integers", "Naturals", "Sequences", "FiniteSets", "TLC")
"""Modules of TLA+ itself, which come with TLC."""

_DEFINITION = re.compile(r"^(\w+)(?:\([^)]*\))?\s*==", re.MULTILINE)
_COMMENT = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)
_EXTENDS = re.compile(r"^EXTENDS\s+(\w+(?:\s*,\s*\w+)*)", re.MULTILINE)
_CONSTANTS = re.compile(r"^CONSTANTS?\s+(\w+(?:\s*,\s*\w+)*)", re.MULTILINE)


class Names(NamedTuple):
    """The names of a module and of all modules of the specification that it extends."""

    constants: frozenset[str]
    """Declared: a configuration has to give each of them."""
    definitions: frozenset[str]


def definitions(text: str) -> dict[str, int]:
    """The top-level definitions of a module: by name, the line on which each begins."""
    return {found[1]: text.count("\n", 0, found.start()) + 1 for found in _DEFINITION.finditer(text)}


def module_text(module: str) -> str:
    """The text of a module of the specification.

    Raises:
        FileNotFoundError: there is no such module.
    """
    package = resources.files("spec")
    for place in (package / f"{module}.tla", package / "models" / f"{module}.tla"):
        if place.is_file():
            return place.read_text("utf-8")
    raise FileNotFoundError(
        f"expected a module of the specification, got {module}; see spec/ for their names"
    )


@cache
def names_of(module: str) -> Names:
    """The names that a configuration of a module may use.

    Raises:
        FileNotFoundError: there is no such module.
    """
    text = _COMMENT.sub("", module_text(module))
    constants = {name for found in _CONSTANTS.finditer(text) for name in re.findall(r"\w+", found[1])}
    defined = set(definitions(text))
    for found in _EXTENDS.finditer(text):
        for extended in re.findall(r"\w+", found[1]):
            if extended in STANDARD:
                continue
            names = names_of(extended)
            constants |= names.constants
            defined |= names.definitions
    return Names(frozenset(constants), frozenset(defined))
