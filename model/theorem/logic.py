"""Formulas with two uses: Python evaluates them on a small dataflow, and z3 proves them for every dataflow.

A formula is written once, with the functions of this module. If all its parts are Python values, its value is
a bool. If one part is a z3 term, its value is a z3 term. A `Domain` decides over which elements a quantifier
ranges: all elements of an uninterpreted sort (proofs without a bound), or those of a small dataflow.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import z3

Formula = Any
"""A bool, or a z3 term of sort Bool."""
Term = Any
"""A Python value, or a z3 term."""
Function = Callable[..., Term]
"""A function of the state."""


class Sort(NamedTuple):
    """A sort: the set of values over which an argument ranges."""

    name: str
    is_number: bool = False


TRUTH = Sort("Truth")
"""The sort of truth values. A relation has values of this sort."""


class Domain(Protocol):
    """The elements over which quantifiers range."""

    def all(self, sorts: tuple[Sort, ...], holds: Callable[..., Formula]) -> Formula:
        """The formula holds for all elements of the sorts."""


class State:
    """A state, which is a function for each field: `state.read(c)` applies the function `read`."""

    def __init__(self, functions: Mapping[str, Function], domain: Domain) -> None:
        self.functions = functions
        self._domain = domain

    def __getattr__(self, name: str) -> Function:
        """The function of this name. Raises AttributeError if the theory declares none."""
        try:
            return self.functions[name]
        except KeyError:
            raise AttributeError(f"the theory declares no function {name!r}") from None

    def after(self, changes: Mapping[str, Function]) -> "State":
        """The state in which `changes` replace the functions with these names."""
        return State({**self.functions, **changes}, self._domain)

    def all(self, *sorts: Sort, holds: Callable[..., Formula]) -> Formula:
        """The formula holds for all elements of the sorts."""
        return self._domain.all(sorts, holds)

    def some(self, *sorts: Sort, holds: Callable[..., Formula]) -> Formula:
        """The formula holds for some elements of the sorts."""
        return no(self._domain.all(sorts, lambda *elements: no(holds(*elements))))


def both(*parts: Formula) -> Formula:
    """All parts hold."""
    terms = [part for part in parts if part is not True]
    if not terms:
        return True
    return False if any(part is False for part in terms) else z3.And(*terms)


def either(*parts: Formula) -> Formula:
    """At least one part holds."""
    terms = [part for part in parts if part is not False]
    if not terms:
        return False
    return True if any(part is True for part in terms) else z3.Or(*terms)


def no(part: Formula) -> Formula:
    """The part does not hold."""
    return (not part) if isinstance(part, bool) else z3.Not(part)


def implies(condition: Formula, *conclusions: Formula) -> Formula:
    """If the condition holds, all conclusions do."""
    return either(no(condition), both(*conclusions))


def chosen(condition: Formula, then: Term, otherwise: Term) -> Term:
    """`then` where the condition holds, else `otherwise`."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    return z3.If(condition, then, otherwise)
