"""Following a function wherever its questions lead: every feasible path, depth first.

A function is run on symbols (`model.checker.symbolic`). Whenever it asks for the truth of a term, and both
answers are feasible, the run forks; an answer that follows from what was decided before is no decision. What
is found out about a term is remembered where it holds, so that other functions which are followed upon the
same ground need not ask the solver again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

import z3

Result = TypeVar("Result")

LOGIC = "QF_LIA"
"""What is decided: equations and inequalities over sums of ints, without quantifiers."""


class UndecidedError(RuntimeError):
    """z3 could not decide a question; nothing may be concluded from it."""


def satisfiable(solver: z3.Solver, *conditions: z3.BoolRef) -> bool:
    """Whether what the solver holds and the conditions have a solution. Raises UndecidedError."""
    answer = solver.check(*conditions)
    if answer == z3.unknown:
        raise UndecidedError(f"z3 could not decide {conditions}: {solver.reason_unknown()}")
    return bool(answer == z3.sat)


def solver_with(*terms: z3.BoolRef) -> z3.Solver:
    """A solver that holds some terms."""
    solver = z3.SolverFor(LOGIC)
    solver.add(*terms)
    return solver


class Question(NamedTuple):
    """A condition whose truth is asked; a term and its negation are one question."""

    term: z3.BoolRef
    """Without its negation."""
    key: int
    """The identity of the term."""
    truth: bool
    """Whether the condition is the term, not its negation."""


def question(condition: z3.BoolRef) -> Question:
    """What is asked with a condition."""
    if z3.is_not(condition):
        term = condition.arg(0)
        return Question(term, term.get_id(), truth=False)
    return Question(condition, condition.get_id(), truth=True)


Answers = Mapping[int, bool]
"""The truth of terms, by their keys."""
NOTHING: Answers = MappingProxyType({})
Decided = frozenset[tuple[int, bool]]


class Path(NamedTuple, Generic[Result]):
    """One way through a function."""

    asked: tuple[tuple[z3.BoolRef, bool], ...]
    """Each term whose truth was asked on the way, and the answer."""
    decided: tuple[z3.BoolRef, ...]
    """The answers that do not follow from the ground and others: upon the ground they say the same."""
    answers: Answers
    """Everything that is known at its end."""
    solution: z3.ModelRef | None
    """A solution of the ground and what was decided; None if the solver was never asked."""
    result: Result

    @property
    def condition(self) -> tuple[z3.BoolRef, ...]:
        """All answers, as terms."""
        return tuple(term if answer else z3.Not(term) for term, answer in self.asked)


class _Place:
    """Where some decisions lead: what follows there, and which terms may be true or false there."""

    __slots__ = ("decided", "known", "open", "solution")

    def __init__(self, decided: Decided, known: dict[int, bool], solution: z3.ModelRef | None) -> None:
        self.decided = decided
        self.known = known
        self.open: set[int] = set()
        self.solution = solution


class Ground:
    """What a solver holds, and all that was found out about it by following functions upon it."""

    def __init__(
        self, solver: z3.Solver, known: Answers = NOTHING, solution: z3.ModelRef | None = None
    ) -> None:
        self.solver = solver
        self.start = _Place(frozenset(), dict(known), solution)
        self._places: dict[Decided, _Place] = {}
        self._terms: dict[int, tuple[z3.BoolRef, z3.BoolRef]] = {}
        self._held: list[z3.BoolRef] = []

    def place(self, decided: Decided, solution: z3.ModelRef | None) -> _Place:
        """The place to which these decisions lead, in whatever order."""
        found = self._places.get(decided)
        if found is None:
            found = self._places[decided] = _Place(decided, {}, solution)
        return found

    def go_to(self, decided: Sequence[z3.BoolRef]) -> None:
        """The solver holds these beside the ground; what it holds of them already is left as it is."""
        alike = 0
        for held, wanted in zip(self._held, decided, strict=False):
            if held is not wanted:
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
        """The term or its negation. It is kept: z3 gives the identity of a lost term to another."""
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
        self.asked: dict[int, tuple[z3.BoolRef, bool]] = {}
        self.decisions: list[bool] = []
        self.decided: list[z3.BoolRef] = []
        self.open: list[tuple[bool, ...]] = []

    def decide(self, asked: Question) -> bool:
        """The answer on this path."""
        term, key, truth = asked
        answer = self.known.get(key)
        if answer is None:
            answer = self._find_out(term, key, truth)
        if key not in self.asked:
            self.asked[key] = (term, answer)
        return answer is truth

    def _find_out(self, term: z3.BoolRef, key: int, preferred: bool) -> bool:
        """What follows here; or the preferred one of two answers, and the other one is left for later."""
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
        """The answer that follows, None if both are feasible: then a solution of each is known."""
        ground, place = self.ground, self.place
        solver = ground.solver
        ground.go_to(self.decided)
        if place.solution is None:
            if not satisfiable(solver):
                return False
            place.solution = solver.model()
        here = bool(z3.is_true(place.solution.eval(term, model_completion=True)))
        if not satisfiable(solver, ground.answer(term, key, not here)):
            return here
        ground.place(place.decided | {(key, here)}, place.solution)
        ground.place(place.decided | {(key, not here)}, solver.model())
        return None


running: list[_Run] = []
"""The runs that are under way; the last one is asked."""


def paths(function: Callable[[], Result], ground: Ground | z3.Solver | None = None) -> Iterator[Path[Result]]:
    """Every feasible path through `function` upon a ground, or what a solver holds, depth first."""
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
        yield Path(tuple(run.asked.values()), tuple(run.decided), run.known, run.place.solution, result)
