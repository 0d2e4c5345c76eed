"""Explores a closed model with its kernel, which numba compiles to machine code.

program = program_of(closed model, bounds, of_component(closed model.component)) found = Compiled(program,
cores=2).explore()

The search stores every state whole (`model.checker.compiled.breadth_first`), so the counts are exact. They
equal those of the Python explorer, and the shortest run to a violation has the same length. If the program
has labels, the search also counts the pairs of a state and the label of the step before it. TLC counts models
with a variable `out` in this way. The next moves do not depend on the label, so each state is expanded once.
"""

from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from model.checker.compiled.kernel_text import OUTSIDE, KernelText, branching
from model.checker.compiled.kernels import scalar_module
from model.checker.compiled.level_search import Ints, LevelSearch, Measures, Progress
from model.checker.compiled.program import Node, Program
from model.checker.compiled.retrace import Words, broken_start, retraced
from model.checker.compiled.scalar_text import scalar_text
from model.checker.explore import Violation
from model.checker.python_properties import InterpretedProperties
from model.checker.shapes import OutsideError


class CompiledResult(NamedTuple):
    """The result of a search."""

    states: int
    labelled: int
    """Number of pairs of a state and the label of the step before it; 0 if the program has no labels."""
    transitions: int
    depth: int
    """The length in events of the shortest run to the farthest state (with labels: to the farthest pair)."""
    violation: Violation | None
    rules: frozenset[str]
    """Rules that fired in some step."""
    compile_seconds: float
    """Time for compilation, or for loading from the cache, before the first state is expanded."""
    search_seconds: float
    bytes: int
    """Size in bytes of the hash tables and the lists of states at the end."""


class Compiled:
    """A program with its compiled kernel. `cores`: the number of cores of a search."""

    def __init__(self, program: Program, *, cores: int = 1) -> None:
        self.program = program
        self.cores = cores
        self.labelled = program.label is not None
        self.branching = branching(program)

    @cached_property
    def text(self) -> KernelText:
        """The text that is compiled."""
        return scalar_text(self.program)

    @cached_property
    def _module(self) -> Any:  # noqa: ANN401 - generated
        return scalar_module(self.text.source, cores=self.cores)

    def explore(
        self, *, limit: int = 1_000_000_000, expected: int = 0, progress: Progress | None = None
    ) -> CompiledResult:
        """Visits every reachable state. Ends early if a property fails.

        `expected`: the approximate number of states, which sizes the first tables. Raises TooManyStatesError
        if there are more states than `limit`, OutsideError if a move leaves the declared bounds.
        """
        begun = perf_counter()
        search = _CompiledSearch(self, self._module, expected)
        search.warm_up()
        compiled = perf_counter()
        shown = broken_start(self.program)
        if shown is None:
            shown = search.run(limit, progress)
        fired = np.flatnonzero(search.fired.max(axis=0))
        rules = (rule for number in fired for rule in self.text.rules[number])
        return CompiledResult(
            search.states,
            search.labelled,
            int(search.moves.sum()),
            search.depth,
            shown,
            frozenset(rules),
            compiled - begun,
            perf_counter() - compiled,
            search.bytes,
        )


class _CompiledSearch(LevelSearch):
    """The search that runs one kernel."""

    def __init__(self, kernel: Compiled, module: Any, expected: int) -> None:  # noqa: ANN401 - generated
        self.program = program = kernel.program
        closed = program.closed
        measures = Measures(
            name=closed.name,
            start=program.layout.pack(Node(closed.state, closed.environment)),
            label_words=program.label_words,
            branching=kernel.branching,
            rules=len(kernel.text.rules),
            cores=kernel.cores,
        )
        super().__init__(module, measures, expected)
        self.interpreted = InterpretedProperties(program)

    def check_level(self, ends: Ints) -> Violation | None:
        """Evaluates the properties that the kernel does not check."""
        for own, order in enumerate(self.orders):
            broken = self.interpreted.first_broken(order[self.heads[own] : ends[own]])
            if broken >= 0:
                return self.shown(tuple(int(word) for word in order[self.heads[own] + broken]))
        return None

    def flag(self, own: int) -> Violation:
        """The violation that the kernel has found. Raises OutsideError if a move leaves the bounds."""
        source = self.flagged_state(own)
        if int(self.flagged[own, 0]) & OUTSIDE:
            node = self.program.layout.unpack(source)
            raise OutsideError(f"a move from {node} leaves the declared bounds; widen them")
        return self.shown(source)

    def shown(self, source: Words) -> Violation:
        """The violation by a move from `source`, a state of the last complete level, with its run."""
        self.depth += 1
        return retraced(self.program, source, self.before())
