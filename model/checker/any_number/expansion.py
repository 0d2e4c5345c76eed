"""Expands the result of a step over ropes to tuples of a given length.

A test compares the expanded result with that of the plain step over tuples. A state with tuples assigns a
value to each symbol of the state with ropes. Then each quantifier ranges over a stated number of members,
each condition is true or false, and each cell is a sequence.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import z3

from model.checker.any_number.members import Group, Many, Place, Position
from model.checker.any_number.rope import Rope
from model.checker.any_number.sums import Total
from model.checker.symbolic import SymbolicBool, SymbolicInt


class Numbers:
    """The values of all symbols.

    `sizes`: for each group, its number of members. `offsets`: for each group, the index of its first member
    in the plain sequence. `own`: the index of the named element in the plain sequence.
    """

    def __init__(self, sizes: Mapping[Group, int], offsets: Mapping[Group, int], own: int) -> None:
        self.sizes = sizes
        self.offsets = offsets
        self.own = own
        self._constants = [(group.size, z3.IntVal(size)) for group, size in sizes.items()]
        self._tables: list[tuple[z3.FuncDeclRef, z3.ExprRef]] = []

    def take(self, symbolic: Any, plain: Any) -> None:  # noqa: ANN401 - any records of the model
        """Assigns the values of a plain record to the symbols at the same positions of a symbolic record."""
        if isinstance(symbolic, SymbolicBool | SymbolicInt):
            if z3.is_const(symbolic.term) and symbolic.term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                self._constants.append((symbolic.term, _value(plain)))
        elif isinstance(symbolic, Rope):
            for position, cell in enumerate(symbolic.cells):
                if not isinstance(cell, Many):
                    self.take(cell, plain[self.own if position == 1 else position])
                    continue
                offset = self.offsets[cell.group]
                self._table(cell, plain[offset : offset + self.sizes[cell.group]])
        elif isinstance(symbolic, tuple):
            for one, other in zip(symbolic, plain, strict=True):
                self.take(one, other)

    def give(self, name: str, values: Sequence[Any]) -> None:
        """Assigns values to the function with this name, by the index of the member."""
        is_bool = any(isinstance(value, bool) for value in values)
        function = z3.Function(name, z3.IntSort(), z3.BoolSort() if is_bool else z3.IntSort())
        self._tables.append((function, _table_of(values, is_bool=is_bool)))

    def take_totals(self, totals: Iterable[Total]) -> None:
        """Assigns to each sum the value that its terms add up to."""
        for total in totals:
            here = ((total.group.variable, index) for index in range(self.sizes[total.group]))
            value = sum(self.of(total.term, pair) for pair in here)
            self._constants.append((total.symbol, z3.IntVal(value)))

    def _table(self, cell: Many, values: Iterable[Any]) -> None:
        (known,) = cell.behaviours
        term = known.values[0].term if hasattr(known.values[0], "term") else None
        if term is None or term.decl().arity() != 1:
            return  # all members have the same value
        self._tables.append((term.decl(), _table_of(values, is_bool=z3.is_bool(term))))

    def of(self, term: z3.ExprRef, *indexes: tuple[z3.ArithRef, int]) -> Any:  # noqa: ANN401 - a bool or an int
        """The value of a term, a bool or an int. `indexes`: the values of index variables.

        Raises ValueError if a symbol of the term has no value.
        """
        pairs = [(variable, z3.IntVal(index)) for variable, index in indexes]
        found = z3.substitute(term, *pairs, *self._constants)
        found = self._unfolded(found)
        if self._tables:
            found = z3.substitute_funs(found, *self._tables)
        found = z3.simplify(found)
        if z3.is_int_value(found):
            return found.as_long()
        if z3.is_true(found) or z3.is_false(found):
            return bool(z3.is_true(found))
        raise ValueError(f"a value is missing in {found}")

    def _unfolded(self, term: z3.ExprRef) -> z3.ExprRef:
        """The term with each quantifier as a finite conjunction or disjunction."""
        if z3.is_quantifier(term):
            most = max(self.sizes.values())
            bodies = (z3.substitute_vars(term.body(), z3.IntVal(index)) for index in range(most))
            cases = [self._unfolded(body) for body in bodies]
            return z3.And(*cases) if term.is_forall() else z3.Or(*cases)
        if z3.is_app(term) and term.num_args():
            parts = [self._unfolded(part) for part in term.children()]
            if not all(part.eq(old) for part, old in zip(parts, term.children(), strict=True)):
                kind = term.decl().kind()
                if kind == z3.Z3_OP_AND:
                    return z3.And(*parts)
                if kind == z3.Z3_OP_OR:
                    return z3.Or(*parts)
                return term.decl()(*parts)
        return term

    def plain(self, value: Any, *indexes: tuple[z3.ArithRef, int]) -> Any:  # noqa: ANN401
        """The value, where tuples replace the ropes, and ints and truth values replace the symbols."""
        if isinstance(value, SymbolicBool | SymbolicInt):
            return self.of(value.term, *indexes)
        if isinstance(value, Position):
            return self.own
        if isinstance(value, Place):
            return self.offsets[value.group] + self.of(value.term, *indexes)
        if isinstance(value, Rope):
            return tuple(self._members(value, *indexes))
        if isinstance(value, tuple):
            parts = [self.plain(part, *indexes) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return value

    def _members(self, rope: Rope, *indexes: tuple[z3.ArithRef, int]) -> Iterable[Any]:
        for cell in rope.cells:
            if not isinstance(cell, Many):
                yield self.plain(cell, *indexes)
                continue
            for index in range(self.sizes[cell.group]):
                here = (*indexes, (cell.variable, index))
                for one in cell.behaviours:
                    if self.of(one.condition, *here):
                        for value in one.values:
                            yield self.plain(value, *here)


def _table_of(values: Iterable[Any], *, is_bool: bool) -> z3.ExprRef:
    """The values as a function of an index. Indexes without a value give 0 or False."""
    table: z3.ExprRef = _value(False if is_bool else 0)
    for index, value in enumerate(values):
        table = z3.If(z3.Var(0, z3.IntSort()) == index, _value(value), table)
    return table


def _value(value: Any) -> z3.ExprRef:  # noqa: ANN401 - an int or a bool
    return z3.BoolVal(value) if isinstance(value, bool) else z3.IntVal(value)
