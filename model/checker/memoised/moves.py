"""Computes the moves of a closed model that has portions, with stand-ins for the parts of its state.

A move reads few parts: its *read set*. This module stores the answer of the model for all states with the
same values in these parts (`model.checker.memoised.answer_trees`). So the model computes each answer once for
many states. Read sets are not declared: stand-ins record which parts the model reads before it answers. Three
checks guard against a wrong read set. The model computes each answer a second time without stand-ins, and
both answers must be equal. If the model reads the same values and then a different part, it is an error.
`confirm` computes the answers of whole states once more.
"""

from collections.abc import Callable, Mapping
from itertools import compress
from typing import Any, NamedTuple

from model.checker.closed_model import ClosedModel, Offers
from model.checker.compiled.program import Node
from model.checker.compiled.retrace import DisagreementError
from model.checker.memoised.answer_trees import BREAKS, MISSING, PLAIN, REFUSED, Answers, Words
from model.checker.memoised.bit_layout import Numbers
from model.checker.memoised.node_maker import Maker
from model.checker.memoised.read_sets import Members, Reading, StandIn, part_of, settled
from model.checker.memoised.state_parts import ABSENT, Parts
from model.events import Event
from model.properties import Property


class ReadSetError(DisagreementError):
    """An answer of the model depends on more than its recorded read set."""


class ModelAnswer(NamedTuple):
    """An answer of the model to one question (`model.checker.memoised.answer_trees`)."""

    stands: int
    """The status: PLAIN, REFUSED or BREAKS."""
    offers: tuple[Event, ...] = ()
    """The offered events."""
    changes: Words = ()
    """The parts that a step changes, each with the number of its new value.

    A number below 0 instead names the part whose value is copied: see `copied`.
    """
    rules: tuple[str, ...] = ()

    def within(self, numbers: Numbers) -> "ModelAnswer":
        """The answer for one state: each change has the number of its new value, also if it is copied."""
        values = ((part, number if number >= 0 else numbers[~number]) for part, number in self.changes)
        return self._replace(changes=tuple(one for one in values if numbers[one[0]] != one[1]))


Question = Callable[[Node], ModelAnswer]


class MemoisedMoves:
    """Stores the known moves of a closed model, and computes further ones."""

    def __init__(
        self, closed: ClosedModel, properties: tuple[Property, ...], capacity: Mapping[str, int] | None = None
    ) -> None:
        assert closed.portions is not None
        self.closed = closed
        self.parts = Parts(closed, capacity)
        self._reading = Reading()
        self._stand_ins: dict[tuple[int, int], StandIn] = {}
        self._plain = Maker(self.parts, self._value, _those_present)
        self._standing = Maker(self.parts, self._stand_in, Members)
        self._last: tuple[Numbers, Node, Node] | None = None
        self.answers = Answers()
        self.rules: set[str] = set()
        """Rules that fired in some step."""
        self.computed = 0
        """Number of answers that the model has computed with stand-ins."""
        self._over_steps = tuple(known for known in properties if known.over_steps)
        self._over_states = tuple(known for known in properties if not known.over_steps)
        self._movers = closed.portions.movers
        self._trees: dict[Event, int] = {}
        self._event_of: dict[int, Event] = {}
        self.mover_trees = tuple(self.answers.tree() for _ in self._movers)
        self.property_trees = tuple(self.answers.tree() for _ in self._over_states)

    def complete(self, numbers: Numbers) -> None:
        """Computes all unknown answers of a state.

        Raises ReadSetError or ContradictionError if an answer depends on more than its read set.
        """
        for known, tree in zip(self._over_states, self.property_trees, strict=True):
            self._found(tree, numbers, self._holding(known))
        for offers, tree in zip(self._movers, self.mover_trees, strict=True):
            offered = self._found(tree, numbers, self._offering(offers))
            for event_tree, _ in self.answers.words(offered):
                self._found(event_tree, numbers, self._stepping(self._event_of[event_tree]))

    def confirm(self, numbers: Numbers) -> None:
        """Computes all answers of a state again, without stand-ins. Raises ReadSetError if one differs."""
        node: Node = self._plain.made(numbers)
        trees = [
            tree
            for mover in self.mover_trees
            for tree, _ in self.answers.words(self.answers.find(mover, numbers))
        ]
        events = [event for _, event in self.closed.offers(node.state)]
        if [self._event_of[tree] for tree in trees] != events:
            raise ReadSetError(f"{node} offers {events}; for its movers, other offers are stored")
        steps = zip(trees, (self._stepping(event) for event in events), strict=True)
        properties = zip(self.property_trees, map(self._holding, self._over_states), strict=True)
        for tree, question in (*steps, *properties):
            answer = self.answers.find(tree, numbers)
            kept = ModelAnswer(self.answers.stands(answer), changes=self.answers.words(answer))
            current = question(node)._replace(rules=())
            if kept.within(numbers) != current.within(numbers):
                raise ReadSetError(
                    f"{node}: for states with the same parts {kept} is stored, this state has {current}"
                )

    def _found(self, tree: int, numbers: Numbers, question: Question) -> int:
        answer = self.answers.find(tree, numbers)
        return answer if answer != MISSING else self._compute(tree, numbers, question)

    def _compute(self, tree: int, numbers: Numbers, question: Question) -> int:
        node, standing = self._nodes(numbers)
        reading = self._reading
        reading.begin()
        answered = question(standing)
        plain = question(node)
        if answered.within(numbers) != plain.within(numbers):
            names = ", ".join(self.parts.names[part] for part in reading.parts)
            raise ReadSetError(
                f"with stand-ins the model read {names} and answered {answered}; without, {plain}"
            )
        self.computed += 1
        self.rules.update(answered.rules)
        kept = tuple(one for one in answered.changes if one[0] not in reading or numbers[one[0]] != one[1])
        words = (*kept, *((self._tree_of(event), 0) for event in answered.offers))
        return self.answers.add(tree, numbers, reading.parts, words, answered.stands)

    def _nodes(self, numbers: Numbers) -> tuple[Node, Node]:
        """The node of a row, and the same node with stand-ins. Caches the last pair."""
        if self._last is None or self._last[0] is not numbers:
            self._last = numbers, self._plain.made(numbers), self._standing.made(numbers)
        return self._last[1:]

    def _value(self, part: int, number: int) -> Any:  # noqa: ANN401 - any part's
        return self.parts.values[part][number]

    def _stand_in(self, part: int, number: int) -> StandIn:
        known = self._stand_ins.get((part, number))
        if known is None:
            value = self.parts.values[part][number]
            known = self._stand_ins[part, number] = StandIn(part, value, self._reading)
        return known

    def _holding(self, known: Property) -> Question:
        return lambda node: ModelAnswer(PLAIN if known.holds(node.state) else BREAKS)

    def _offering(self, offers: Offers) -> Question:
        return lambda node: ModelAnswer(PLAIN, tuple(settled(event) for _, event in offers(node.state)))

    def _tree_of(self, event: Event) -> int:
        tree = self._trees.get(event)
        if tree is None:
            tree = self._trees[event] = self.answers.tree()
            self._event_of[tree] = event
        return tree

    def _stepping(self, event: Event) -> Question:
        def stepped(node: Node) -> ModelAnswer:
            environment = self.closed.allows(node.environment, event)
            if environment is None:
                return ModelAnswer(REFUSED)
            step = self.closed.step(node.state, event)
            broken = not all(
                known.holds(node.state, event, step.effects, step.state) for known in self._over_steps
            )
            changes = self._changes(node, Node(step.state, environment))
            return ModelAnswer(BREAKS if broken else PLAIN, changes=changes, rules=step.rules)

        return stepped

    def _changes(self, before: Node, after: Node) -> Words:
        """The parts that a step changes; see `ModelAnswer`."""
        return tuple((part, self._now(part, value)) for part, value in self.parts.different(before, after))

    def _now(self, part: int, value: Any) -> int:  # noqa: ANN401 - what stands at the part's place
        if value is ABSENT:
            return 0
        if type(value) is StandIn:
            source = part_of(value)
            if self.parts.alike(part, source) and source not in self._reading:
                return copied(source)
        return self.parts.number(part, value)


def _those_present(present: tuple[bool, ...], members: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(compress(members, present))


def copied(source: int) -> int:
    """A number below 0, which represents the value that the part `source` has before the step."""
    return ~source
