"""Which statements of protocol modules a piece of work runs: only work that runs an edit can judge it."""

import ast
import builtins
from functools import cache
from pathlib import Path

from conformance.mutants.automatic.operators import Edit
from conformance.mutants.source_edit import install_text

Places = frozenset[tuple[str, int]]
"""Statements, each as its module and its first line."""
_MARK = "_statement_runs"


class Marks:
    """The statements that modules run which are loaded from now on: each of these places reports itself."""

    def __init__(self, modules: dict[str, str], places: Places) -> None:
        self._found: set[tuple[str, int]] = set()
        setattr(builtins, _MARK, self._found.add)
        for module, source in modules.items():
            install_text(module, marked(module, source, places))

    def taken(self) -> Places:
        """What has run since the last call."""
        found = frozenset(self._found)
        self._found.clear()
        return found


def marked(module: str, source: str, places: Places) -> ast.Module:
    """The module with a call before each of these statements; a docstring stays the first."""
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
    """The smallest statement around an edit."""
    around = [(end - begin, begin) for begin, end in _statements(file) if begin <= edit.line <= end]
    return edit.module, min(around)[1]


@cache
def _statements(file: Path) -> tuple[tuple[int, int], ...]:
    """The first and the last line of each statement."""
    every = ast.walk(ast.parse(file.read_bytes()))
    return tuple((one.lineno, one.end_lineno or one.lineno) for one in every if isinstance(one, ast.stmt))
