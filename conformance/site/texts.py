"""The text of a rule in TLA+ and in Python, taken from the sources: definitions, properties and steps."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from conformance.rules.protocol_modules import all_protocol_files
from model.properties import PROPERTIES
from spec.manifest import load_manifest
from spec.modules import definitions, module_files, module_path, module_text
from spec.rules import Rule

_RULED = re.compile(r"^(?:-{10,}|={10,}|-+ MODULE .*)$", re.MULTILINE)
"""The separator lines of a TLA+ module, with its first and its last line."""


class Excerpt(NamedTuple):
    """Consecutive lines of a source file."""

    file: str
    """The path, from the root of the project."""
    line: int
    """The number of the first line, from 1."""
    text: str


class TextError(LookupError):
    """A rule names a definition that no source has; the message says which."""


def operator(rule: Rule) -> Excerpt:
    """The TLA+ definition that states the rule. Raises TextError."""
    module, _, name = rule.operator.partition("!")
    found = _tla(module).get(name)
    if found is None:
        raise TextError(f"{rule.id}: expected a definition of {name} in {module}.tla, got none")
    return found


def properties(rule: Rule) -> list[Excerpt]:
    """The sources of the Python predicates that state the rule; empty if only TLC checks it.

    The frames of events are left out, because they are tables and not functions.
    """
    stated = [known for known in PROPERTIES if known.rule == rule.id and not known.is_frame]
    return list(dict.fromkeys(_source_of(known.holds) for known in stated))


def spec_steps(rule: Rule) -> list[Excerpt]:
    """The TLA+ definitions that cite the rule, from modules of the protocol; closed models are left out."""
    cites = re.compile(rf"\b{rule.id}\b|\b{rule.definition()}\b")
    return [one for module in _modules() for one in _tla(module).values() if cites.search(one.text)]


def model_steps(rule: Rule) -> list[Excerpt]:
    """The functions of the model's protocol that cite the rule; of nested functions only the innermost."""
    return [one for one in _protocol_functions() if rule.id in one.text]


def implementation(rule: Rule) -> list[Excerpt]:
    """The functions of `impl/` that cite the rule; of nested functions only the innermost."""
    return [one for one in _functions("impl", "**/*.py") if rule.id in one.text]


def _source_of(function: object) -> Excerpt:
    function = inspect.unwrap(function) if callable(function) else function
    assert inspect.isfunction(function)
    lines, number = inspect.getsourcelines(function)
    file = f"{function.__module__.replace('.', '/')}.py"
    return Excerpt(file, number, textwrap.dedent("".join(lines)).rstrip())


@cache
def _modules() -> tuple[str, ...]:
    """The modules of the protocol itself, without its closed models."""
    models = {model.module for model in load_manifest().values()}
    return tuple(name for path in module_files() if (name := PurePosixPath(path).stem) not in models)


@cache
def _tla(module: str) -> dict[str, Excerpt]:
    """The definitions of a module, each with the comment right above it."""
    text = module_text(module)
    lines = text.splitlines()
    begins = sorted((line, name) for name, line in definitions(text).items())
    ruled = {text.count("\n", 0, found.start()) + 1 for found in _RULED.finditer(text)}
    found = {}
    for at, (line, name) in enumerate(begins):
        first = _comment_above(lines, line)
        after = begins[at + 1][0] if at + 1 < len(begins) else len(lines) + 1
        end = min([_comment_above(lines, after), *(one for one in ruled if one > line)])
        body = "\n".join(lines[first - 1 : end - 1]).rstrip()
        found[name] = Excerpt(module_path(module), first, body)
    return found


def _comment_above(lines: list[str], line: int) -> int:
    """The number of the first line of the comment directly above this line; without one, `line`."""
    while line > 1 and line - 2 < len(lines) and re.fullmatch(r"\(\*.*\*\)", lines[line - 2].strip()):
        line -= 1
    return line


@cache
def _protocol_functions() -> tuple[Excerpt, ...]:
    root = Path(str(resources.files("model"))).parent
    return tuple(one for path in all_protocol_files() for one in _functions_of(path, root))


@cache
def _functions(package: str, pattern: str) -> tuple[Excerpt, ...]:
    root = Path(str(resources.files(package)))
    return tuple(one for path in sorted(root.glob(pattern)) for one in _functions_of(path, root.parent))


def _functions_of(path: Path, root: Path) -> Iterator[Excerpt]:
    text = path.read_text(encoding="utf-8")
    lines, file = text.splitlines(), path.relative_to(root).as_posix()
    for node in _innermost(ast.parse(text)):
        yield Excerpt(file, node.lineno, "\n".join(lines[node.lineno - 1 : node.end_lineno]))


def _innermost(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions in which no other function is defined."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            inner = (one for one in ast.walk(node) if one is not node)
            if not any(isinstance(one, ast.FunctionDef) for one in inner):
                yield node
