"""The TLA+ modules of the specification: their files, their text, and the names that they declare and define.

A module is in the folder of its component. Its name is unique in all folders, because TLC reads all modules
from one folder.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

STANDARD = ("Integers", "Naturals", "Sequences", "FiniteSets", "TLC")
"""The standard modules of TLA+, which TLC includes."""

_DEFINITION = re.compile(r"^(\w+)(?:\([^)]*\))?\s*==", re.MULTILINE)
_COMMENT = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)
_EXTENDS = re.compile(r"^EXTENDS\s+(\w+(?:\s*,\s*\w+)*)", re.MULTILINE)
_CONSTANTS = re.compile(r"^CONSTANTS?\s+(\w+(?:\s*,\s*\w+)*)", re.MULTILINE)


class Names(NamedTuple):
    """The names of a module and of all modules of the specification that it extends."""

    constants: frozenset[str]
    """The declared constants. A configuration must give or replace each of them."""
    definitions: frozenset[str]


def definitions(text: str) -> dict[str, int]:
    """Maps the name of each top-level definition of a module's text to the line on which it begins."""
    return {found[1]: text.count("\n", 0, found.start()) + 1 for found in _DEFINITION.finditer(text)}


@cache
def module_files() -> Mapping[str, Traversable]:
    """Maps a path in the project, such as `spec/gate/Aligned.tla`, to the file of the module."""
    package = resources.files("spec")
    folders = [entry for entry in package.iterdir() if entry.is_dir()]
    found = {f"spec/{entry.name}": entry for entry in package.iterdir()}
    found |= {f"spec/{folder.name}/{entry.name}": entry for folder in folders for entry in folder.iterdir()}
    return {path: found[path] for path in sorted(found) if path.endswith(".tla")}


def module_path(module: str) -> str:
    """The path of a module in the project. Raises FileNotFoundError if there is no such module."""
    for path in module_files():
        if path.endswith(f"/{module}.tla"):
            return path
    raise FileNotFoundError(
        f"expected a module of the specification, got {module}; see spec/ for their names"
    )


def module_text(module: str) -> str:
    """The text of a module of the specification. Raises FileNotFoundError if there is no such module."""
    return module_files()[module_path(module)].read_text("utf-8")


@cache
def names_of(module: str) -> Names:
    """The names that a configuration of a module may use. Raises FileNotFoundError if there is no module."""
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
