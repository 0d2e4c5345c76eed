"""Properties that cannot be followed on symbols, evaluated in Python on the states that a search finds.

A property may need a value as a number, to hash it or to use it as an index. Then no kernel checks it. This
module unpacks each component state and takes its steps as the Python explorer does, once for all its nodes.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from model.checker.compiled.program import Node, Program
from model.events import Event


class InterpretedProperties:
    """The results so far for the component states of a search."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._broken: dict[Any, tuple[Event, ...]] = {}
        """By component state: the events that break a property if the environment permits them."""

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
