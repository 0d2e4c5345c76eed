"""Sums over the members of a group, and what is known of them.

A sum is a symbol of its own. `facts` states of each pair of sums what the proofs need; each sentence follows
by induction over the number of members (`lemmas`).
"""

from dataclasses import dataclass
from typing import Any

import z3

from model.checker.symbolic import SymbolicBool, SymbolicInt, int_term


@dataclass(frozen=True, eq=False)
class Total:
    """The sum of a term over all members of a group."""

    group: Any
    term: z3.ArithRef
    """Of the member at the group's variable."""
    symbol: z3.ArithRef


known: list[Total] = []
"""The sums of the proof under way."""


def over(many: Any) -> SymbolicInt:  # noqa: ANN401 - a Many
    """The sum of the values of a cell."""
    term: z3.ArithRef = z3.IntVal(0)
    for one in many.at(many.group.variable):
        values = [_number(value) for value in one.values]
        term = z3.If(one.condition, z3.Sum(values) if len(values) > 1 else values[0], term)
    return SymbolicInt(_total(many.group, z3.simplify(term)))


def number(many: Any) -> z3.ArithRef:  # noqa: ANN401 - a Many
    """The number of values of a cell."""
    if many.every:
        size: z3.ArithRef = many.group.size
        return size
    term: z3.ArithRef = z3.IntVal(0)
    for one in many.at(many.group.variable):
        term = z3.If(one.condition, z3.IntVal(len(one.values)), term)
    return _total(many.group, z3.simplify(term))


def _number(value: Any) -> z3.ArithRef:  # noqa: ANN401
    if isinstance(value, SymbolicBool):
        return z3.If(value.term, 1, 0)
    return int_term(int(value) if isinstance(value, bool) else value)


def _total(group: Any, term: z3.ArithRef) -> z3.ArithRef:  # noqa: ANN401
    for one in known:
        if one.group is group and one.term.eq(term):
            return one.symbol
    symbol = z3.Int(f"total over {group.name} of {term.sexpr()}")
    known.append(Total(group, term, symbol))
    return symbol


def facts() -> list[z3.BoolRef]:
    """What is known of all sums so far."""
    stated: list[z3.BoolRef] = []
    for place, one in enumerate(known):
        index = one.group.variable
        size = z3.If(one.group.size > 0, one.group.size, 0)

        def of_all(term: z3.BoolRef, group: Any = one.group) -> z3.BoolRef:  # noqa: ANN401
            return z3.ForAll([group.variable], z3.Implies(group.has(group.variable), term))

        if z3.is_int_value(one.term):
            stated.append(one.symbol == one.term * size)
            continue
        for bound in (0, 1):
            stated.append(z3.Implies(of_all(one.term >= bound), one.symbol >= bound * size))
            stated.append(z3.Implies(of_all(one.term <= bound), one.symbol <= bound * size))
        stated.append(
            z3.Implies(
                z3.And(of_all(one.term >= 0), one.symbol <= 0),
                of_all(one.term == 0),
            )
        )
        for other in known[:place]:
            if other.group is not one.group or z3.is_int_value(other.term):
                continue
            del_ = index
            assert del_.eq(other.group.variable)
            stated.append(z3.Implies(of_all(one.term <= other.term), one.symbol <= other.symbol))
            stated.append(z3.Implies(of_all(one.term >= other.term), one.symbol >= other.symbol))
            stated.append(
                z3.Implies(
                    z3.And(of_all(one.term <= other.term), one.symbol == other.symbol),
                    of_all(one.term == other.term),
                )
            )
            stated.append(
                z3.Implies(
                    z3.And(of_all(one.term >= other.term), one.symbol == other.symbol),
                    of_all(one.term == other.term),
                )
            )
    return stated


def is_known(total: Total) -> bool:
    """The sum is one of the proof under way."""
    return any(total.symbol.eq(one.symbol) for one in known)
