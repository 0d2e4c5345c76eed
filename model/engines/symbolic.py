"""Reading a step function symbolically: the exact transition relation, path by path.

A function of the model is run on symbolic ints and booleans. Whenever ordinary Python asks one of
them for its truth (`if`, `and`, `any`, ...) the run forks: depth-first, each feasible answer is
followed once. What comes out is a set of paths, each with the condition under which it is taken and
the result, in which ints and booleans may be z3 terms. The conditions of all paths are disjoint and
cover the assumption, so the paths *are* the transition relation, for all ids at once.

Shapes stay concrete: how many channels, tasks, waiting items there are is part of the case that is
read. Anything that would need the value of a symbol (an index, a hash, a dict key) raises.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

import z3

Result = TypeVar("Result")


class SymbolicUseError(TypeError):
    """The code needs the value of a symbol; write it with comparisons instead."""

    def __init__(self, message: str, term: z3.ExprRef | None = None) -> None:
        super().__init__(message)
        self.term = term
        """What was asked for, if it is known."""


class UndecidedError(RuntimeError):
    """z3 could not decide a question; nothing may be concluded from it."""


def satisfiable(solver: z3.Solver, *conditions: z3.BoolRef) -> bool:
    """Whether what the solver holds and the conditions have a solution. Raises UndecidedError."""
    answer = solver.check(*conditions)
    if answer == z3.unknown:
        raise UndecidedError(f"z3 could not decide {conditions}: {solver.reason_unknown()}")
    return bool(answer == z3.sat)


class Path(NamedTuple, Generic[Result]):
    """One way through a function."""

    condition: tuple[z3.BoolRef, ...]
    """What was decided on the way, beside the assumption."""
    result: Result


class _Question(NamedTuple):
    """A condition whose truth is asked; a term and its negation are one question."""

    condition: z3.BoolRef
    key: int
    """The identity of the term without its negation."""
    truth: bool
    """Whether it is not negated."""


Answers = Mapping[int, bool]
"""The truth of conditions that were asked before, by their keys."""


class _Branch(NamedTuple):
    """A way that is still to be followed: the decisions that lead to it, and a solution on it."""

    decisions: tuple[bool, ...]
    solution: z3.ModelRef | None


class _Run:
    """One execution: decisions to repeat, then new ones.

    A solution of all that was decided so far shows one answer feasible; the solver is asked for the other.
    """

    def __init__(self, solver: z3.Solver, branch: _Branch, given: Answers) -> None:
        self.solver = solver
        self.prefix = branch.decisions
        self.solution = branch.solution
        self.decisions: list[bool] = []
        self.conditions: list[z3.BoolRef] = []
        self.open: list[_Branch] = []
        self.known = dict(given)

    def decide(self, question: _Question) -> bool:
        """The answer on this path."""
        condition, key, truth = question
        if key in self.known:
            return self.known[key] is truth
        step = len(self.decisions)
        choice = self.prefix[step] if step < len(self.prefix) else self._choose(condition)
        self.decisions.append(choice)
        decided = condition if choice else z3.Not(condition)
        self.conditions.append(decided)
        self.solver.add(decided)
        self.known[key] = choice is truth
        return choice

    def _choose(self, condition: z3.BoolRef) -> bool:
        """Yes where that is feasible; a no that is feasible too is left for later."""
        if self.solution is None:
            if not satisfiable(self.solver):
                return False
            self.solution = self.solver.model()
        if z3.is_true(self.solution.eval(condition, model_completion=True)):
            if satisfiable(self.solver, z3.Not(condition)):
                self.open.append(_Branch((*self.decisions, False), self.solver.model()))
            return True
        if satisfiable(self.solver, condition):
            self.open.append(_Branch((*self.decisions, False), self.solution))
            self.solution = self.solver.model()
            return True
        return False


def _question(condition: z3.BoolRef) -> _Question:
    if z3.is_not(condition):
        return _Question(condition, condition.arg(0).get_id(), truth=False)
    return _Question(condition, condition.get_id(), truth=True)


def answers(conditions: Iterable[z3.BoolRef]) -> Answers:
    """What need not be asked where these hold."""
    return {known.key: known.truth for known in map(_question, conditions)}


_current: list[_Run] = []
NOTHING: Answers = MappingProxyType({})


def paths(
    function: Callable[[], Result],
    solver: z3.Solver | None = None,
    given: Answers = NOTHING,
    solution: z3.ModelRef | None = None,
) -> Iterator[Path[Result]]:
    """Every feasible path through `function` under what `solver` holds already, depth first.

    `given`: the answers that follow from the solver's terms; `solution`: one of these terms, if known.
    """
    solver = solver if solver is not None else z3.Solver()
    waiting = [_Branch((), solution)]
    while waiting:
        run = _Run(solver, waiting.pop(), given)
        solver.push()
        _current.append(run)
        try:
            result = function()
        finally:
            _current.pop()
            solver.pop()
        waiting.extend(run.open)
        yield Path(tuple(run.conditions), result)


def solver_with(*terms: z3.BoolRef) -> z3.Solver:
    """A solver that holds some terms."""
    solver = z3.Solver()
    solver.add(*terms)
    return solver


class SymbolicBool:
    """A truth value that is a z3 term; asking for its truth forks the run."""

    __slots__ = ("_simple", "term")

    def __init__(self, term: z3.BoolRef) -> None:
        self.term = term
        self._simple: _Question | bool | None = None

    def __bool__(self) -> bool:
        if self._simple is None:
            self._simple = _simplified(self.term)
        if isinstance(self._simple, bool):
            return self._simple
        if not _current:
            raise SymbolicUseError(f"the truth of {self.term} was asked outside of `paths`")
        return _current[-1].decide(self._simple)

    def __eq__(self, other: object) -> "SymbolicBool":  # type: ignore[override]
        return _asked(operator.eq, self.term, other, bool_term)

    def __ne__(self, other: object) -> "SymbolicBool":  # type: ignore[override]
        return _asked(operator.ne, self.term, other, bool_term)

    def __hash__(self) -> int:
        raise SymbolicUseError(f"a hash of the symbol {self.term} was asked", self.term)

    def __repr__(self) -> str:
        return f"?{self.term}"


class SymbolicInt:
    """An int that is a z3 term; comparisons give symbolic truth values."""

    __slots__ = ("term",)

    def __init__(self, term: z3.ArithRef) -> None:
        self.term = term

    def __lt__(self, other: object) -> SymbolicBool:
        return _asked(operator.lt, self.term, other, int_term)

    def __le__(self, other: object) -> SymbolicBool:
        return _asked(operator.le, self.term, other, int_term)

    def __gt__(self, other: object) -> SymbolicBool:
        return _asked(operator.gt, self.term, other, int_term)

    def __ge__(self, other: object) -> SymbolicBool:
        return _asked(operator.ge, self.term, other, int_term)

    def __eq__(self, other: object) -> SymbolicBool:  # type: ignore[override]
        return _asked(operator.eq, self.term, other, int_term)

    def __ne__(self, other: object) -> SymbolicBool:  # type: ignore[override]
        return _asked(operator.ne, self.term, other, int_term)

    def __add__(self, other: object) -> "SymbolicInt":
        return SymbolicInt(self.term + int_term(other))

    __radd__ = __add__

    def __sub__(self, other: object) -> "SymbolicInt":
        return SymbolicInt(self.term - int_term(other))

    def __hash__(self) -> int:
        raise SymbolicUseError(f"a hash of the symbol {self.term} was asked", self.term)

    def __index__(self) -> int:
        raise SymbolicUseError(f"the value of the symbol {self.term} was asked", self.term)

    def __bool__(self) -> bool:
        raise SymbolicUseError(f"the truth of the int {self.term} was asked; compare it with 0", self.term)

    def __repr__(self) -> str:
        return f"?{self.term}"


def _simplified(term: z3.BoolRef) -> _Question | bool:
    simple = z3.simplify(term)
    if z3.is_true(simple) or z3.is_false(simple):
        return bool(z3.is_true(simple))
    return _question(simple)


_questions: dict[tuple[object, int, object], SymbolicBool] = {}
"""Comparisons made before, by their operator and both sides: a function that is run again asks the same."""

REMEMBERED = 100_000


def _asked(
    compare: Callable[[Any, Any], z3.BoolRef],
    left: z3.ExprRef,
    right: object,
    term: Callable[[object], z3.ExprRef],
) -> SymbolicBool:
    """The comparison of a term with a symbol or a value; made once, as long as it is remembered."""
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
    if type(value) is int:
        return z3.IntVal(value)
    raise SymbolicUseError(f"an int was expected beside a symbol, got {value!r}")


def bool_term(value: object) -> z3.BoolRef:
    """The z3 term of a concrete or symbolic truth value."""
    if isinstance(value, SymbolicBool):
        return value.term
    if type(value) is bool:
        return z3.BoolVal(value)
    raise SymbolicUseError(f"a truth value was expected beside a symbol, got {value!r}")


def symbolic_like(example: Any, name: str) -> Any:  # noqa: ANN401 - any record of the model
    """A record of the example's shape whose ints and booleans are fresh symbols called after fields."""
    if type(example) is bool:
        return SymbolicBool(z3.Bool(name))
    if type(example) is int:
        return SymbolicInt(z3.Int(name))
    if isinstance(example, tuple):
        names = getattr(example, "_fields", tuple(str(place) for place in range(len(example))))
        parts = [symbolic_like(part, f"{name}.{field}") for field, part in zip(names, example, strict=True)]
        return type(example)(*parts) if hasattr(example, "_fields") else tuple(parts)
    return example  # a word: it stays concrete


def concrete(value: Any, model: z3.ModelRef) -> Any:  # noqa: ANN401 - any record of the model
    """The record under one solution; what the solution leaves open is 0 or False."""
    if isinstance(value, SymbolicBool):
        return z3.is_true(model.eval(value.term, model_completion=True))
    if isinstance(value, SymbolicInt):
        return model.eval(value.term, model_completion=True).as_long()
    if isinstance(value, tuple):
        parts = [concrete(part, model) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def formula(predicate: Callable[[], object]) -> z3.BoolRef:
    """A predicate of the model as one z3 term that holds exactly when it returns true."""
    accepted = []
    for path in paths(predicate):
        outcome = path.result
        term = outcome.term if isinstance(outcome, SymbolicBool) else z3.BoolVal(bool(outcome))
        accepted.append(z3.And(*path.condition, term))
    return z3.Or(*accepted)
