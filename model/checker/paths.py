"""Follows a function along every feasible path, depth first.

A function runs on symbols (`model.checker.symbolic`). If it tests a term and both truth values are feasible,
the path *forks*: this run takes one answer, a later run takes the other. This is a *decision*. If earlier
decisions imply the answer, the path does not fork. The *ground* of a run is a solver with its assertions. It
stores the results of queries for each set of decisions, so that other functions on the same ground do not
repeat these queries.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

import z3

Result = TypeVar("Result")

LOGIC = "QF_LIA"
"""The z3 logic of the queries: equations and inequalities over sums of ints, without quantifiers."""


class UndecidedError(RuntimeError):
    """z3 could not decide a query. So nothing is proved and nothing is refuted."""


def satisfiable(solver: z3.Solver, *conditions: z3.BoolRef) -> bool:
    """Whether the assertions of the solver and the conditions have a solution.

    Raises UndecidedError if z3 cannot decide.
    """
    answer = solver.check(*conditions)
    if answer == z3.unknown:
        raise UndecidedError(f"z3 could not decide {conditions}: {solver.reason_unknown()}")
    return bool(answer == z3.sat)


def solver_with(*terms: z3.BoolRef) -> z3.Solver:
    """A new solver with these assertions."""
    solver = z3.SolverFor(LOGIC)
    solver.add(*terms)
    return solver


class Question(NamedTuple):
    """A tested condition. A term and its negation are the same question."""

    term: z3.BoolRef
    """The condition without a negation around it."""
    key: int
    """The z3 id of the term."""
    truth: bool
    """True if the condition is the term, False if the condition is its negation."""


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
    """The decisions of the path, as terms. Together with the ground they imply all other answers."""
    answers: Answers
    """The truth of all terms that is known at the end of the path, by their keys."""
    solution: z3.ModelRef | None
    """A solution of the ground and the decisions. None if no query has found one."""
    result: Result

    @property
    def condition(self) -> tuple[z3.BoolRef, ...]:
        """All answers, as terms."""
        return tuple(term if answer else z3.Not(term) for term, answer in self.tested)


class _Place:
    """The results of queries after a set of decisions.

    `known`: the implied answers. `open`: the keys of terms that may be true or false there.
    """

    __slots__ = ("decided", "known", "open", "solution")

    def __init__(self, decided: Decided, known: dict[int, bool], solution: z3.ModelRef | None) -> None:
        self.decided = decided
        self.known = known
        self.open: set[int] = set()
        self.solution = solution


class Ground:
    """A solver with its assertions, and the results of all queries on them."""

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
        """Whether a path counts as feasible if z3 cannot decide it. If not, UndecidedError is raised."""
        self.solution: z3.ModelRef | None = None
        """The solution of the last query; None if z3 gave none."""
        self.start = _Place(frozenset(), dict(known), solution)
        self._places: dict[Decided, _Place] = {}
        self._terms: dict[int, tuple[z3.BoolRef, z3.BoolRef]] = {}
        self._asserted: list[z3.BoolRef] = []

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
        """The stored results for these decisions, whose order does not matter."""
        found = self._places.get(decided)
        if found is None:
            found = self._places[decided] = _Place(decided, {}, solution)
        return found

    def go_to(self, decided: Sequence[z3.BoolRef]) -> None:
        """Replaces the decisions that are asserted on the ground by `decided`. Keeps their common prefix."""
        alike = 0
        for asserted, target in zip(self._asserted, decided, strict=False):
            if asserted is not target:
                break
            alike += 1
        if alike < len(self._asserted):
            self.solver.pop(len(self._asserted) - alike)
            del self._asserted[alike:]
        for term in decided[alike:]:
            self.solver.push()
            self.solver.add(term)
            self._asserted.append(term)

    def answer(self, term: z3.BoolRef, key: int, truth: bool) -> z3.BoolRef:
        """The term or, if `truth` is false, its negation.

        Keeps both, because z3 reuses ids of released terms.
        """
        both = self._terms.get(key)
        if both is None:
            both = self._terms[key] = (z3.Not(term), term)
        return both[truth]


class _Run:
    """One execution of a function. It first repeats the decisions in `prefix`, then it makes new ones."""

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
        """The implied answer. If both answers are feasible, the next one in the prefix.

        Behind the prefix it is the preferred answer, and a later run takes the other one.
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
        """The implied answer. None if both are feasible; then the ground stores a solution of each."""
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
        """The only feasible answer, or None. Used if no solution shows a feasible answer."""
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
"""The runs in progress, outer runs first. The last one answers the questions."""


def paths(function: Callable[[], Result], ground: Ground | z3.Solver | None = None) -> Iterator[Path[Result]]:
    """Yields every feasible path through `function`, depth first.

    `ground`: the assertions that a feasible path has to satisfy; None: no assertions.
    """
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
