"""Ropes for the parts of a component, such as the channels of a gate.

If an event belongs to one part, a rope has three cells: the group of the parts before it, that part, and the
group of the parts behind it. Otherwise one group holds all parts.
"""

from collections.abc import Callable
from typing import Any

import z3

from model.checker.any_number.members import Behaviour, Group, Many, Position
from model.checker.any_number.rope import Length, Rope
from model.checker.any_number.sequence_functions import len_
from model.checker.symbolic import SymbolicBool, SymbolicInt

OWN = Position(1)
"""The position of the event's part in a rope: between the two groups."""


class Axis:
    """Makes ropes for one kind of parts. `name`: the name of the kind, for its symbols."""

    def __init__(self, name: str) -> None:
        self.before, self.behind, self.all = (
            Group(part) for part in (f"{name} before", f"{name} behind", f"all {name}")
        )
        self.sizes = tuple(group.size >= 0 for group in (self.before, self.behind, self.all))

    def symbols(self, name: str, *, own: bool, is_bool: bool = True) -> Rope:
        """A rope with a symbol for each part: a truth value, or an int.

        `own`: whether the event belongs to one part. Then this part has a separate cell.
        """
        sort = z3.BoolSort() if is_bool else z3.IntSort()
        symbol: Callable[[Any], Any] = SymbolicBool if is_bool else SymbolicInt

        def of(group: Group) -> Any:  # noqa: ANN401
            return symbol(z3.Function(f"{name} of {group}", z3.IntSort(), sort)(group.variable))

        return self._rope(of, symbol(z3.Const(f"{name} of own", sort)), own=own)

    def constant(self, value: Any, *, own: bool) -> Rope:  # noqa: ANN401
        """A rope in which all parts have this value."""
        return self._rope(lambda _: value, value, own=own)

    def number(self, *, own: bool) -> Length:
        """The number of parts. The initial state of a component makes its ropes from it."""
        found: Length = len_(self.constant(None, own=own))
        return found

    def _rope(self, of: Callable[[Group], Any], value: Any, *, own: bool) -> Rope:  # noqa: ANN401
        def many(group: Group) -> Many:
            return Many(group, group.variable, [Behaviour(z3.BoolVal(True), (of(group),))], every=True)

        return Rope((many(self.before), value, many(self.behind)) if own else (many(self.all),))
