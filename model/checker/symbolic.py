"""Symbols for the ints and booleans of a record. They give the exact transition relation, path by path.

A function of the model runs on symbolic ints and booleans. When ordinary Python tests the truth of a symbol
(`if`, `and`, `any`, ...), the path forks (`model.checker.paths`): each feasible answer is followed once. The
result is a set of paths. Each path has a condition and a result, in which ints and booleans may be z3 terms.
In each state that the assumptions permit, the condition of exactly one path holds. So the paths together
*are* the transition relation, for all ids.

Shapes stay concrete: the numbers of channels, tasks and waiting items are fixed in each case. Any operation
that needs the value of a symbol (an index, a hash, a dict key) raises SymbolicUseError.
"""

import operator
from collections.abc import Callable
from typing import Any

import z3

from model.checker.paths import Ground, Question, paths, question, running


class SymbolicUseError(TypeError):
    """The code needs the value of a symbol. Write it with comparisons instead."""

    def __init__(self, message: str, term: z3.ExprRef | None = None) -> None:
        super().__init__(message)
        self.term = term
        """The term whose value the code needs; None if it is not known."""


class SymbolicBool:
    """A truth value that is a z3 term. A test of its truth may fork the path (`model.checker.paths`)."""

    __slots__ = ("_simple", "term")

    def __init__(self, term: z3.BoolRef) -> None:
        self.term = term
        self._simple: Question | bool | None = None

    def __bool__(self) -> bool:
        if self._simple is None:
            self._simple = _simplified(self.term)
        if isinstance(self._simple, bool):
            return self._simple
        if not running:
            raise SymbolicUseError(f"the truth of {self.term} was requested outside of `paths`")
        return running[-1].decide(self._simple)

    def __eq__(self, other: object) -> "SymbolicBool":  # type: ignore[override]
        return _compared(operator.eq, self.term, other, bool_term)

    def __ne__(self, other: object) -> "SymbolicBool":  # type: ignore[override]
        return _compared(operator.ne, self.term, other, bool_term)

    def __add__(self, other: object) -> "SymbolicInt":
        return SymbolicInt(z3.If(self.term, 1, 0)) + other

    __radd__ = __add__

    def __hash__(self) -> int:
        raise SymbolicUseError(f"a hash of the symbol {self.term} was requested", self.term)

    def __repr__(self) -> str:
        return f"?{self.term}"


class SymbolicInt:
    """An int that is a z3 term. The result of a comparison is a symbolic truth value."""

    __slots__ = ("term",)

    def __init__(self, term: z3.ArithRef) -> None:
        self.term = term

    def __lt__(self, other: object) -> SymbolicBool:
        return _compared(operator.lt, self.term, other, int_term)

    def __le__(self, other: object) -> SymbolicBool:
        return _compared(operator.le, self.term, other, int_term)

    def __gt__(self, other: object) -> SymbolicBool:
        return _compared(operator.gt, self.term, other, int_term)

    def __ge__(self, other: object) -> SymbolicBool:
        return _compared(operator.ge, self.term, other, int_term)

    def __eq__(self, other: object) -> SymbolicBool:  # type: ignore[override]
        return _compared(operator.eq, self.term, other, int_term)

    def __ne__(self, other: object) -> SymbolicBool:  # type: ignore[override]
        return _compared(operator.ne, self.term, other, int_term)

    def __add__(self, other: object) -> "SymbolicInt":
        return SymbolicInt(self.term + int_term(other))

    __radd__ = __add__

    def __sub__(self, other: object) -> "SymbolicInt":
        return SymbolicInt(self.term - int_term(other))

    def __rsub__(self, other: object) -> "SymbolicInt":
        return SymbolicInt(int_term(other) - self.term)

    def __mod__(self, other: object) -> "SymbolicInt":
        if type(other) is not int or other <= 0:  # for other divisors z3 and Python round differently
            raise SymbolicUseError(
                f"a remainder of {self.term} by {other!r} was requested; divide by an int above 0"
            )
        return SymbolicInt(self.term % z3.IntVal(other))

    def __hash__(self) -> int:
        raise SymbolicUseError(f"a hash of the symbol {self.term} was requested", self.term)

    def __index__(self) -> int:
        raise SymbolicUseError(f"the value of the symbol {self.term} was requested", self.term)

    def __bool__(self) -> bool:
        raise SymbolicUseError(
            f"the truth of the int {self.term} was requested; compare it with 0", self.term
        )

    def __repr__(self) -> str:
        return f"?{self.term}"


class SymbolicWord:
    """A symbol for a word, that is, a str. The z3 term is the number of the word (`word_number`).

    The only operation on it is a test of equality.
    """

    __slots__ = ("term",)

    def __init__(self, term: z3.ArithRef) -> None:
        self.term = term

    def __eq__(self, other: object) -> "SymbolicBool":  # type: ignore[override]
        number = _numbered(other)
        return _WORDS_DIFFER[0] if number is None else _compared(operator.eq, self.term, number, int_term)

    def __ne__(self, other: object) -> "SymbolicBool":  # type: ignore[override]
        number = _numbered(other)
        return _WORDS_DIFFER[1] if number is None else _compared(operator.ne, self.term, number, int_term)

    def __hash__(self) -> int:
        raise SymbolicUseError(f"a hash of the symbol {self.term} was requested", self.term)

    def __repr__(self) -> str:
        return f"?{self.term}"


def any_word(name: str) -> Any:  # noqa: ANN401 - where a word is expected
    """A fresh symbol for any word."""
    return SymbolicWord(z3.Int(name))


def word_number(word: str) -> int:
    """The number of a word in this process."""
    return _word_numbers.setdefault(word, len(_word_numbers))


def _numbered(word: object) -> "SymbolicInt | int | None":
    """The number of a concrete or symbolic word. None if the value is not a word."""
    if isinstance(word, SymbolicWord):
        return SymbolicInt(word.term)
    return word_number(word) if type(word) is str else None


_word_numbers: dict[str, int] = {}


def _simplified(term: z3.BoolRef) -> Question | bool:
    simple = z3.simplify(term)
    if z3.is_true(simple) or z3.is_false(simple):
        return bool(z3.is_true(simple))
    return question(simple)


_WORDS_DIFFER = (SymbolicBool(z3.BoolVal(False)), SymbolicBool(z3.BoolVal(True)))
"""The results of == and != between a symbolic word and a value that is not a word."""
_questions: dict[tuple[object, int, object], SymbolicBool] = {}
"""A cache of comparisons, by operator and both sides, because runs repeat the same comparisons."""

REMEMBERED = 100_000


def _compared(
    compare: Callable[[Any, Any], z3.BoolRef],
    left: z3.ExprRef,
    right: object,
    term: Callable[[object], z3.ExprRef],
) -> SymbolicBool:
    """The comparison of a term with a symbol or a value, from the cache."""
    if type(right) is str and (compare is operator.eq or compare is operator.ne):
        return _WORDS_DIFFER[compare is operator.ne]
    side = right.term.get_id() if isinstance(right, SymbolicInt | SymbolicBool) else (type(right), right)
    key = (compare, left.get_id(), side)
    known = _questions.get(key)
    if known is None:
        if len(_questions) >= REMEMBERED:
            _questions.clear()
        try:
            known = _questions[key] = SymbolicBool(compare(left, term(right)))
        except SymbolicUseError as other:
            raise SymbolicUseError(str(other), left) from other
    return known


def int_term(value: object) -> z3.ArithRef:
    """The z3 term of a concrete or symbolic int."""
    if isinstance(value, SymbolicInt):
        return value.term
    if isinstance(value, int) and not isinstance(value, bool):
        return z3.IntVal(int(value))
    raise SymbolicUseError(f"expected an int as the other operand of a symbol, got {value!r}")


def bool_term(value: object) -> z3.BoolRef:
    """The z3 term of a concrete or symbolic truth value."""
    if isinstance(value, SymbolicBool):
        return value.term
    if type(value) is bool:
        return z3.BoolVal(value)
    raise SymbolicUseError(f"expected a truth value as the other operand of a symbol, got {value!r}")


def symbolic_like(example: Any, name: str) -> Any:  # noqa: ANN401 - any record of the model
    """A record with the example's shape, in which fresh symbols replace ints and booleans.

    A symbol is named after its field.
    """
    if type(example) is bool:
        return SymbolicBool(z3.Bool(name))
    if type(example) is int:
        return SymbolicInt(z3.Int(name))
    if isinstance(example, tuple):
        names = getattr(example, "_fields", tuple(str(place) for place in range(len(example))))
        parts = [symbolic_like(part, f"{name}.{field}") for field, part in zip(names, example, strict=True)]
        return type(example)(*parts) if hasattr(example, "_fields") else tuple(parts)
    return example  # a word stays concrete


def concrete(value: Any, model: z3.ModelRef) -> Any:  # noqa: ANN401 - any record of the model
    """The record in which the values of a solution replace the symbols.

    If the solution has no value for a symbol, the value is 0 or False.
    """
    if isinstance(value, SymbolicBool):
        return z3.is_true(model.eval(value.term, model_completion=True))
    if isinstance(value, SymbolicInt):
        return model.eval(value.term, model_completion=True).as_long()
    if isinstance(value, SymbolicWord):
        number = model.eval(value.term, model_completion=True).as_long()
        known = next((word for word, own in _word_numbers.items() if own == number), None)
        return f"word {number}" if known is None else known
    if isinstance(value, tuple):
        parts = [concrete(part, model) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def formula(predicate: Callable[[], object], ground: Ground | None = None) -> z3.BoolRef:
    """A predicate of the model as a z3 term. Both are equivalent under the assertions of the ground."""
    accepted = []
    for path in paths(predicate, ground):
        outcome = path.result
        term = outcome.term if isinstance(outcome, SymbolicBool) else z3.BoolVal(bool(outcome))
        accepted.append(z3.And(*path.decided, term))
    return z3.Or(*accepted)
