"""Finds which statements of protocol modules a unit of a judge runs. Only such a unit can detect an edit.

`is_alike` compares two units by all their data and code: one was made with an edit, the other without it.
"""

import ast
import builtins
from functools import cache, partial
from pathlib import Path
from types import CellType, FunctionType, MethodType
from typing import Any

from conformance.mutants.automatic.operators import Edit
from conformance.mutants.source_edit import install_text

Places = frozenset[tuple[str, int]]
"""A set of statements. A statement is its module and its first line."""
_MARK = "_statement_runs"


class Marks:
    """Records which statements in `places` run.

    From now on, each of `modules` is loaded with a call before each of these statements.
    """

    def __init__(self, modules: dict[str, str], places: Places) -> None:
        self._found: set[tuple[str, int]] = set()
        setattr(builtins, _MARK, self._found.add)
        for module, source in modules.items():
            install_text(module, marked(module, source, places))

    def taken(self) -> Places:
        """The statements that have run since the last call."""
        found = frozenset(self._found)
        self._found.clear()
        return found


def marked(module: str, source: str, places: Places) -> ast.Module:
    """The syntax tree of a module with a call before each of these statements, but behind docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                setattr(node, name, [part for one in body for part in (*_mark(module, one, places), one)])
    return ast.fix_missing_locations(tree)


def _mark(module: str, node: ast.stmt, places: Places) -> list[ast.stmt]:
    if (module, node.lineno) not in places or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ):
        return []
    place = ast.Tuple([ast.Constant(module), ast.Constant(node.lineno)], ast.Load())
    called = ast.Call(ast.Name(_MARK, ast.Load()), [place], [])
    return [ast.copy_location(ast.Expr(called), node)]


def place_of(edit: Edit, file: Path) -> tuple[str, int]:
    """The smallest statement that contains an edit: its module and its first line."""
    around = [(end - begin, begin) for begin, end in _statements(file) if begin <= edit.line <= end]
    return edit.module, min(around)[1]


@cache
def _statements(file: Path) -> tuple[tuple[int, int], ...]:
    """The first and the last line of each statement."""
    every = ast.walk(ast.parse(file.read_bytes()))
    return tuple((one.lineno, one.end_lineno or one.lineno) for one in every if isinstance(one, ast.stmt))


def is_alike(one: Any, other: Any) -> bool:  # noqa: ANN401 - any value or function
    """Whether two values consist of the same data and of functions with the same code.

    False if a part of one of them has a class that this module does not know.
    """
    return _is_alike(one, other, {})


def _is_alike(one: Any, other: Any, compared: dict[tuple[int, int], object]) -> bool:  # noqa: ANN401
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, int | str | range):
        return bool(one == other)
    if hasattr(one, "eq"):  # a term of z3
        return bool(one.eq(other))
    if isinstance(one, FunctionType) and one.__code__ is not other.__code__:
        return False
    if (pair := (id(one), id(other))) in compared:  # ends the recursion for a value that contains itself
        return True
    compared[pair] = one, other  # kept, because Python reuses the id of a released object
    ours, theirs = _parts(one), _parts(other)
    if ours is None or theirs is None or len(ours) != len(theirs):
        return False
    return all(_is_alike(*both, compared) for both in zip(ours, theirs, strict=True))


def _parts(whole: Any) -> tuple[object, ...] | None:  # noqa: ANN401
    """The parts of a value or function, without its class and code. None: its class is not known."""
    match whole:
        case tuple() | list():
            return (*whole,)
        case dict():
            return (*whole, *whole.values())
        case partial():
            return whole.func, whole.args, whole.keywords
        case FunctionType():
            return whole.__defaults__, whole.__kwdefaults__, whole.__closure__
        case MethodType():
            return whole.__func__, whole.__self__
        case CellType():
            return (whole.cell_contents,)
        case _ if hasattr(whole, "term"):  # a symbol; its term determines all else
            return (whole.term,)
        case _ if hasattr(whole, "__dict__") and type(whole).__module__.startswith("model."):
            return (*vars(whole).items(),)
        case _:
            return None
