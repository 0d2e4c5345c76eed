"""Properties that cannot be followed on symbols, asked in Python of the states that a search finds.

A property may need a value as a number, to hash it or to index with it. Then the kernel says nothing about
it; here each component state is taken out of its packed words and stepped as the Python explorer does it,
once for all nodes in which it stands.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from model.checker.compiled.program import Node, Program
from model.events import Event


class Asking:
    """What was found out so far about the component states of a search."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._broken: dict[Any, tuple[Event, ...]] = {}
        """By component state, the events that break a property if the environment allows them."""

    def first_broken(self, rows: Iterable[Sequence[int]]) -> int:
        """The position of the first packed state that can break an interpreted property, else -1."""
        if not self.program.interpreted:
            return -1
        for position, words in enumerate(rows):
            node: Node = self.program.layout.unpack(words)
            broken = self._broken.get(node.state)
            if broken is None:
                broken = self._broken[node.state] = tuple(self._breaking(node.state))
            if any(self.program.closed.allows(node.environment, event) is not None for event in broken):
                return position
        return -1

    def _breaking(self, state: Any) -> Iterable[Event]:  # noqa: ANN401 - any component's state
        for _, event in self.program.closed.offers(state):
            step = self.program.closed.step(state, event)
            for known in self.program.interpreted:
                if known.over_steps:
                    holds = known.holds(state, event, step.effects, step.state)
                else:
                    holds = known.holds(step.state)
                if not holds:
                    yield event
