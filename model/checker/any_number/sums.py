"""Sums over the members of a group, and facts about these sums.

Each sum is a separate symbol. `facts` states two laws: for each pair of sums over one group, and for each sum
together with the sums of the constants 0 and 1. `lemmas` states the same laws for any two functions. z3
proves the lemmas by induction over the number of members.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import z3

from model.checker.symbolic import SymbolicBool, SymbolicInt, int_term

Term = Callable[[z3.ArithRef], z3.ArithRef]
"""A function from the index of a member to the value that the member adds to the sum."""


@dataclass(frozen=True, eq=False)
class Total:
    """The sum of a term over all members of a group."""

    group: Any
    term: z3.ArithRef
    """The term of the member at the group's variable."""
    symbol: z3.ArithRef


known: list[Total] = []
"""The sums that the current proof has used."""


def over(many: Any) -> SymbolicInt:  # noqa: ANN401 - a Many
    """The sum of the values that the members of a group contribute. A truth value counts as 0 or 1."""
    term: z3.ArithRef = z3.IntVal(0)
    for one in many.at(many.group.variable):
        values = [_number(value) for value in one.values]
        term = z3.If(one.condition, z3.Sum(values) if len(values) > 1 else values[0], term)
    return SymbolicInt(_total(many.group, z3.simplify(term)))


def number(many: Any) -> z3.ArithRef:  # noqa: ANN401 - a Many
    """The number of values that the members of a group contribute."""
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
    if z3.is_int_value(term):
        return group.size * term
    for one in known:
        if one.group is group and one.term.eq(term):
            return one.symbol
    symbol = z3.Int(f"total over {group.name} of {term.sexpr()}")
    known.append(Total(group, term, symbol))
    return symbol


def is_known(total: Total) -> bool:
    """Whether the current proof has used the sum."""
    return any(total.symbol.eq(one.symbol) for one in known)


def laws(
    each: Callable[[Callable[[z3.ArithRef], z3.BoolRef]], z3.BoolRef],
    sums: tuple[z3.ArithRef, z3.ArithRef],
    terms: tuple[Term, Term],
) -> tuple[z3.BoolRef, z3.BoolRef]:
    """Two laws for two functions of a member, of which the first is nowhere greater than the second.

    First law: the sum of the first function is at most the sum of the second. Second law: if the sums are
    equal, the functions are equal at each member. `sums`: the sum of each function in `terms`. `each`: makes
    the formula that a condition holds for each member.
    """
    least, most = terms
    is_below = each(lambda index: least(index) <= most(index))
    is_equal = each(lambda index: least(index) == most(index))
    return (
        z3.Implies(is_below, sums[0] <= sums[1]),
        z3.Implies(z3.And(is_below, sums[0] == sums[1]), is_equal),
    )


def facts() -> Iterator[z3.BoolRef]:
    """Yields the laws for all sums that the current proof has used."""
    for place, one in enumerate(known):
        group = one.group
        others = [(other.term, other.symbol) for other in known[:place] if other.group is group]
        others += [(z3.IntVal(constant), group.size * constant) for constant in (0, 1)]

        def each(condition: Callable[[z3.ArithRef], z3.BoolRef], group: Any = group) -> z3.BoolRef:  # noqa: ANN401
            index = group.variable
            return z3.ForAll([index], z3.Implies(group.has(index), condition(index)))

        for term, symbol in others:
            pair = (lambda _, term=one.term: term, lambda _, term=term: term)
            yield from laws(each, (one.symbol, symbol), pair)
            yield from laws(each, (symbol, one.symbol), pair[::-1])


class Lemma(NamedTuple):
    """A law for the sums of any two functions, as two formulas. The law is proved if z3 refutes both."""

    name: str
    at_none: z3.BoolRef
    """The formula: the law is false for a group without members."""
    at_one_more: z3.BoolRef
    """The formula: the law holds for some number of members, and is false for one member more."""


def lemmas() -> Iterator[Lemma]:
    """The laws, and the statement that the sum of a constant is the number of members times the constant."""
    number = z3.Int("number")
    terms = tuple(z3.Function(name, z3.IntSort(), z3.IntSort()) for name in ("least", "most"))
    sums = tuple(z3.Function(f"sum of {one}", z3.IntSort(), z3.IntSort()) for one in terms)

    def up_to(count: z3.ArithRef) -> tuple[z3.BoolRef, ...]:
        def each(condition: Callable[[z3.ArithRef], z3.BoolRef]) -> z3.BoolRef:
            index = z3.Int("index")
            return z3.ForAll([index], z3.Implies(z3.And(index >= 0, index < count), condition(index)))

        return laws(each, (sums[0](count), sums[1](count)), (terms[0], terms[1]))

    empty = [one(0) == 0 for one in sums]
    more = [one(number + 1) == one(number) + term(number) for one, term in zip(sums, terms, strict=True)]
    constant = z3.Int("constant")
    multiple = z3.And(terms[0](number) == constant, sums[0](number) == number * constant)
    for name, base, before, after in zip(
        ("not greater", "equal"), up_to(z3.IntVal(0)), up_to(number), up_to(number + 1), strict=True
    ):
        both = up_to(number)
        step = z3.And(number >= 0, *more, before, *both, z3.Not(after))
        yield Lemma(name, z3.And(*empty, z3.Not(base)), step)
    yield Lemma(
        "multiple",
        z3.And(*empty, sums[0](0) != 0 * constant),
        z3.And(number >= 0, *more, multiple, sums[0](number + 1) != (number + 1) * constant),
    )
