"""A search on this machine, in Python or compiled, with the time of each phase."""

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.explore.models import Chosen
from model.checker.explore import Violation, explore
from model.properties import of_component

if TYPE_CHECKING:
    from model.checker.compiled.program import Program

Progress = Callable[[int, int], None]
"""Called with the number of known states, and the depth."""


class Explored(NamedTuple):
    """The result of a search, and the time of each phase."""

    model: str
    engine: str
    states: int
    transitions: int
    depth: int
    rules: tuple[str, ...]
    """The rules that fired."""
    properties: int
    violation: Violation | None
    search_seconds: float
    labelled: int = 0
    """States together with the last effects, as TLC counts; 0 if they were not counted."""
    interpreted: tuple[str, ...] = ()
    """The properties that were evaluated in Python, because they cannot be evaluated with symbolic values."""
    follow_seconds: float = 0.0
    """The time of reading the model path by path."""
    compile_seconds: float = 0.0
    """The time of compiling the kernel, or of finding it in the cache."""
    bytes: int = 0
    """Size of the tables and lists of states at the end; on Spark, size of the files; 0 in Python."""
    answers: int = 0
    """The number of answers of the model, if the search has no kernel."""
    model_seconds: float = 0.0
    """The time of these answers, which is no part of the search."""

    @property
    def rate(self) -> float:
        """States per second of search time; with `labelled`, pairs of a state and the effects before it."""
        return max(self.states, self.labelled) / self.search_seconds

    def as_json(self) -> dict[str, Any]:
        """All fields and the rate as JSON values, with the events of a violation's run."""
        shown = self.violation
        broken = None
        if shown is not None:
            events = [event._asdict() for event in shown.run]  # type: ignore[attr-defined]
            broken = {"rules": shown.rules, "properties": shown.properties, "events": events}
        return {**self._asdict(), "violation": broken, "rate": self.rate}


class Reading(NamedTuple):
    """The options for building the transition relation of a model."""

    labelled: bool = False
    """Whether states include the effects of the last step, as in TLC."""
    symmetric: bool = False
    """Whether states that differ only by a permutation of channels or tasks count as one state."""
    every_id: bool = False
    """Whether states with the same order of checkpoint ids count as one state."""


def followed(chosen: Chosen, reading: Reading) -> tuple["Program", float]:
    """All moves of a model that has bounds, with every property, and the seconds that reading them took.

    Raises NotSymmetricError and NotInvariantError where z3 does not prove the selected symmetry.
    """
    from model.checker.compiled.moves import program_of  # z3 takes long to import
    from model.checker.compiled.program import all_words
    from model.checker.compiled.renaming import for_every_id
    from model.checker.compiled.symmetry import reduced

    assert chosen.bounds is not None
    begun = perf_counter()
    properties = of_component(chosen.closed.component)
    program = program_of(chosen.closed, chosen.bounds, properties, all_words if reading.labelled else None)
    if reading.every_id:
        program = for_every_id(program, chosen.ids)
    if reading.symmetric:
        assert chosen.symmetry is not None
        program = reduced(program, chosen.symmetry)
    return program, perf_counter() - begun


def in_python(chosen: Chosen, limit: int) -> Explored:
    """Search with the Python explorer. Raises TooManyStatesError above `limit` states."""
    properties = of_component(chosen.closed.component)
    begun = perf_counter()
    graph = explore(chosen.closed, properties, keep_transitions=False, limit=limit)
    return Explored(
        model=chosen.closed.name,
        engine="python",
        states=len(graph.nodes),
        transitions=graph.transition_count,
        depth=graph.depth,
        rules=tuple(sorted(graph.rules)),
        properties=len(properties),
        violation=graph.violation,
        search_seconds=perf_counter() - begun,
    )


def compiled(
    chosen: Chosen, limit: int, *, reading: Reading, cores: int, expected: int = 0, progress: Progress
) -> Explored:
    """Search with the compiled kernel of a model that has bounds.

    Raises TooManyStatesError above `limit` states, OutsideError if a state leaves the bounds.
    """
    from model.checker.compiled.search import Compiled  # numba takes a second to import

    program, seconds = followed(chosen, reading)
    found = Compiled(program, cores=cores).explore(limit=limit, expected=expected, progress=progress)
    return Explored(
        model=chosen.closed.name,
        engine=_compiled_on(cores),
        states=found.states,
        labelled=found.labelled,
        transitions=found.transitions,
        depth=found.depth,
        rules=tuple(sorted(found.rules)),
        properties=len(program.properties),
        interpreted=tuple(known.name for known in program.interpreted),
        violation=found.violation,
        follow_seconds=seconds,
        compile_seconds=found.compile_seconds,
        search_seconds=found.search_seconds,
        bytes=found.bytes,
    )


def memoised(chosen: Chosen, limit: int, *, cores: int, expected: int = 0, progress: Progress) -> Explored:
    """Search a model without a kernel: look its moves up in tables of its earlier answers."""
    from model.checker.memoised.search import MemoisedSearch

    properties = of_component(chosen.closed.component)
    found = MemoisedSearch(chosen.closed, properties, cores=cores).explore(
        limit=limit, expected=expected, progress=progress
    )
    return Explored(
        model=chosen.closed.name,
        engine=_compiled_on(cores),
        states=found.states,
        transitions=found.transitions,
        depth=found.depth,
        rules=tuple(sorted(found.rules)),
        properties=len(properties),
        violation=found.violation,
        compile_seconds=found.compile_seconds,
        search_seconds=found.search_seconds,
        bytes=found.bytes,
        answers=found.answers,
        model_seconds=found.model_seconds,
    )


def _compiled_on(cores: int) -> str:
    return f"compiled, {cores} core{'s' * (cores > 1)}"
