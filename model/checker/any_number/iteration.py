"""Iterates a generator expression over a rope.

The body of the expression runs once for each named element. For a group it runs once for each path of the
body at one member, whose index is a variable. These paths form one cell of the result: for each path, its
condition and the values that it yields.
"""

import sys
from collections.abc import Iterator
from itertools import product
from typing import Any

import z3

from model.checker.any_number.all_paths import TRUE, Walk, conjunction
from model.checker.any_number.members import Behaviour, Many
from model.checker.paths import running
from model.checker.symbolic import SymbolicUseError


class Collector:
    """Collects the values that a generator expression yields, as cells of a rope."""

    def __init__(self, iterated: Any) -> None:  # noqa: ANN401
        self.frame = getattr(iterated, "gi_frame", None)
        self.levels: list[list[Any]] = [[]]
        """First the cells so far.

        Then, for each member at which the body now runs, the values it has yielded.
        """
        self.variables: list[z3.ArithRef] = []
        """The index variable of each member at which the body now runs. Iterations may be nested."""


collectors: list[Collector] = []


class Steps:
    """The iterator of a rope.

    Raises SymbolicUseError unless a generator expression iterates over the rope.
    """

    def __init__(self, cells: tuple[Any, ...]) -> None:
        self._cells = cells
        self._elements: Iterator[Any] | None = None

    def __iter__(self) -> "Steps":
        return self

    def __next__(self) -> Any:  # noqa: ANN401
        if self._elements is None:
            collector = collectors[-1] if collectors else None
            if collector is None or collector.frame is not sys._getframe(1):
                raise SymbolicUseError(f"a statement iterates over {self._cells}; write an expression")
            self._elements = _elements(self._cells, collector)
        return next(self._elements)


def _elements(cells: tuple[Any, ...], collector: Collector) -> Iterator[Any]:
    """Yields each named element once, and a member of each group once for each path of the body."""
    for cell in cells:
        if not isinstance(cell, Many):
            yield cell
            continue
        variable = cell.group.another([used for one in collectors for used in one.variables])
        collector.variables.append(variable)
        found: list[Behaviour] = []
        every = cell.every
        for source in cell.at(variable):
            parts = []
            for value in source.values:
                if isinstance(value, Many):
                    collector.levels.append([])
                    yield from _elements((value,), collector)
                    parts.append([Behaviour(TRUE, tuple(collector.levels.pop()))])
                    continue
                paths: list[Behaviour] = []
                waiting: list[tuple[bool, ...]] = [()]
                while waiting:
                    walk = Walk(waiting.pop())
                    collector.levels.append([])
                    running.append(walk)  # type: ignore[arg-type]
                    yield value
                    running.pop()
                    waiting.extend(walk.open)
                    paths.append(Behaviour(conjunction(walk.decided), tuple(collector.levels.pop())))
                parts.append(paths)
            for combined in product(*parts):
                conditions = [source.condition, *(one.condition for one in combined)]
                values = tuple(value for one in combined for value in one.values)
                every = every and len(values) == 1 and not isinstance(values[0], Many)
                found.append(Behaviour(conjunction(conditions), values))
        collector.variables.pop()
        result = Many(cell.group, variable, found, every=every)
        if result.behaviours:
            collector.levels[-1].append(result)
