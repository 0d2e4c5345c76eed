"""Evaluates in Python the properties that no kernel can check, on the states that a search finds.

A property may need the value of a field, as a hash or an index. Then it cannot run on symbols, and no kernel
checks it. This module unpacks each component state and takes its steps, as the Python explorer does. It does
so once for all nodes with this component state.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from model.checker.compiled.program import Node, Program
from model.events import Event


class InterpretedProperties:
    """The properties of a program that no kernel checks, with the results so far by component state."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._broken: dict[Any, tuple[Event, ...]] = {}
        """By component state: the events that break a property if the environment permits them."""

    def first_broken(self, rows: Iterable[Sequence[int]]) -> int:
        """The position of the first packed state with a step that breaks such a property; -1 if none has."""
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
