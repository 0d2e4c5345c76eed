"""Follows a function along every feasible path, depth first.

A function runs on symbols (`model.checker.symbolic`). When it tests a term and both truth values are
feasible, the run forks: this is a decision. If earlier decisions imply the truth value, no fork is needed.
The *ground* of a run is the set of assertions of its solver. It stores the results of queries for each set of
decisions, so that other functions on the same ground need no further queries.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

import z3

Result = TypeVar("Result")

LOGIC = "QF_LIA"
"""The logic of the queries: equations and inequalities over sums of ints, without quantifiers."""


class UndecidedError(RuntimeError):
    """z3 could not decide a query, which permits no conclusion."""


def satisfiable(solver: z3.Solver, *conditions: z3.BoolRef) -> bool:
    """Whether the assertions of the solver and the conditions have a solution.

    Raises UndecidedError if z3 cannot decide.
    """
    answer = solver.check(*conditions)
    if answer == z3.unknown:
        raise UndecidedError(f"z3 could not decide {conditions}: {solver.reason_unknown()}")
    return bool(answer == z3.sat)


def solver_with(*terms: z3.BoolRef) -> z3.Solver:
    """A solver with these assertions."""
    solver = z3.SolverFor(LOGIC)
    solver.add(*terms)
    return solver


class Question(NamedTuple):
    """A tested condition. A term and its negation are one question."""

    term: z3.BoolRef
    """The term without its negation."""
    key: int
    """The identity of the term."""
    truth: bool
    """Whether the condition is the term, and not its negation."""


def question(condition: z3.BoolRef) -> Question:
    """The question of a condition."""
    if z3.is_not(condition):
        term = condition.arg(0)
        return Question(term, term.get_id(), truth=False)
    return Question(condition, condition.get_id(), truth=True)


Answers = Mapping[int, bool]
"""The truth of terms, by their keys."""
NOTHING: Answers = MappingProxyType({})
Decided = frozenset[tuple[int, bool]]


class Path(NamedTuple, Generic[Result]):
    """One path through a function."""

    tested: tuple[tuple[z3.BoolRef, bool], ...]
    """Each tested term, with its truth on this path."""
    decided: tuple[z3.BoolRef, ...]
    """The decisions: the answers that others do not imply. On the ground they imply all other answers."""
    answers: Answers
    """All terms whose truth is known at its end."""
    solution: z3.ModelRef | None
    """A solution of the ground and the decisions; None if no query was made."""
    result: Result

    @property
    def condition(self) -> tuple[z3.BoolRef, ...]:
        """All answers, as terms."""
        return tuple(term if answer else z3.Not(term) for term, answer in self.tested)


class _Place:
    """The knowledge after some decisions: implied answers, and terms that may be true or false there."""

    __slots__ = ("decided", "known", "open", "solution")

    def __init__(self, decided: Decided, known: dict[int, bool], solution: z3.ModelRef | None) -> None:
        self.decided = decided
        self.known = known
        self.open: set[int] = set()
        self.solution = solution


class Ground:
    """The assertions of a solver, and all results of queries on them."""

    def __init__(
        self,
        solver: z3.Solver,
        known: Answers = NOTHING,
        solution: z3.ModelRef | None = None,
        *,
        is_lenient: bool = False,
    ) -> None:
        self.solver = solver
        self.is_lenient = is_lenient
        """Whether a path that z3 cannot decide counts as feasible; otherwise it is an error."""
        self.solution: z3.ModelRef | None = None
        """A solution of the last query, if z3 gave one."""
        self.start = _Place(frozenset(), dict(known), solution)
        self._places: dict[Decided, _Place] = {}
        self._terms: dict[int, tuple[z3.BoolRef, z3.BoolRef]] = {}
        self._held: list[z3.BoolRef] = []

    def permits(self, *conditions: z3.BoolRef) -> bool:
        """Whether the assertions and the conditions have a solution.

        If z3 cannot decide, the result is true on a lenient ground. Any other ground raises UndecidedError.
        """
        answer = self.solver.check(*conditions)
        if answer == z3.unknown and not self.is_lenient:
            raise UndecidedError(f"z3 could not decide {conditions}: {self.solver.reason_unknown()}")
        self.solution = self.solver.model() if answer == z3.sat else None
        return bool(answer != z3.unsat)

    def place(self, decided: Decided, solution: z3.ModelRef | None) -> _Place:
        """The place of these decisions, in any order."""
        found = self._places.get(decided)
        if found is None:
            found = self._places[decided] = _Place(decided, {}, solution)
        return found

    def go_to(self, decided: Sequence[z3.BoolRef]) -> None:
        """Asserts `decided` on the ground; keeps the common prefix with the previous assertions."""
        alike = 0
        for held, target in zip(self._held, decided, strict=False):
            if held is not target:
                break
            alike += 1
        if alike < len(self._held):
            self.solver.pop(len(self._held) - alike)
            del self._held[alike:]
        for term in decided[alike:]:
            self.solver.push()
            self.solver.add(term)
            self._held.append(term)

    def answer(self, term: z3.BoolRef, key: int, truth: bool) -> z3.BoolRef:
        """The term or its negation. It is kept, because z3 reuses the identity of a released term."""
        both = self._terms.get(key)
        if both is None:
            both = self._terms[key] = (z3.Not(term), term)
        return both[truth]


class _Run:
    """One execution: decisions to repeat, then new ones."""

    def __init__(self, ground: Ground, prefix: tuple[bool, ...]) -> None:
        self.ground = ground
        self.prefix = prefix
        self.place = ground.start
        self.known = dict(self.place.known)
        self.tested: dict[int, tuple[z3.BoolRef, bool]] = {}
        self.decisions: list[bool] = []
        self.decided: list[z3.BoolRef] = []
        self.open: list[tuple[bool, ...]] = []

    def decide(self, tested: Question) -> bool:
        """The answer on this path."""
        term, key, truth = tested
        answer = self.known.get(key)
        if answer is None:
            answer = self._find_out(term, key, truth)
        if key not in self.tested:
            self.tested[key] = (term, answer)
        return answer is truth

    def _find_out(self, term: z3.BoolRef, key: int, preferred: bool) -> bool:
        """The implied answer. If both are feasible, the next one of the prefix, or else the preferred one.

        An answer beyond the prefix leaves the other answer open, for a later run.
        """
        if key not in self.place.open:
            only = self._only_answer(term, key)
            if only is not None:
                self.place.known[key] = self.known[key] = only
                return only
            self.place.open.add(key)
        step = len(self.decisions)
        if step < len(self.prefix):
            choice = self.prefix[step]
        else:
            choice = preferred
            self.open.append((*self.decisions, not preferred))
        self.decisions.append(choice)
        self.decided.append(self.ground.answer(term, key, choice))
        self.place = self.ground.place(self.place.decided | {(key, choice)}, None)
        self.known[key] = choice
        self.known.update(self.place.known)
        return choice

    def _only_answer(self, term: z3.BoolRef, key: int) -> bool | None:
        """The implied answer; None if both are feasible. The ground then keeps a known solution of each."""
        ground, place = self.ground, self.place
        ground.go_to(self.decided)
        if place.solution is None:
            if not ground.permits():
                return False
            place.solution = ground.solution
        value = None
        if place.solution is not None:
            value = place.solution.eval(term, model_completion=True)
        if value is None or not (z3.is_true(value) or z3.is_false(value)):  # a quantified term may stay open
            return self._only_permitted(term, key)
        here = bool(z3.is_true(value))
        if not ground.permits(ground.answer(term, key, not here)):
            return here
        ground.place(place.decided | {(key, here)}, place.solution)
        ground.place(place.decided | {(key, not here)}, ground.solution)
        return None

    def _only_permitted(self, term: z3.BoolRef, key: int) -> bool | None:
        """The only possible truth of the term, without a solution that has it; None if both are possible."""
        ground, place = self.ground, self.place
        solutions = {}
        for truth in (True, False):
            if not ground.permits(ground.answer(term, key, truth)):
                return not truth
            solutions[truth] = ground.solution
        for truth, solution in solutions.items():
            ground.place(place.decided | {(key, truth)}, solution)
        return None


running: list[_Run] = []
"""The runs in progress; the last one decides."""


def paths(function: Callable[[], Result], ground: Ground | z3.Solver | None = None) -> Iterator[Path[Result]]:
    """Every feasible path through `function` on a ground, or on the assertions of a solver, depth first."""
    if not isinstance(ground, Ground):
        ground = Ground(ground if ground is not None else z3.Solver())
    waiting: list[tuple[bool, ...]] = [()]
    while waiting:
        run = _Run(ground, waiting.pop())
        running.append(run)
        try:
            result = function()
        finally:
            running.pop()
        waiting.extend(run.open)
        yield Path(tuple(run.tested.values()), tuple(run.decided), run.known, run.place.solution, result)
