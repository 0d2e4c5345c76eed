"""Checks that the cases of an induction over one step are complete. `prove` proves the cases.

There are three conditions. Each step ends in a shape from which some case starts (`open_shapes`). In each
such shape there is a case for each class of event that the environment may send (`missing_events`). A case
assumes only what concerns its event, because facts of the state are invariants to prove (`assumed_facts`). A
case outside the sizes of its component is no part of the induction: its rules hold for one step.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import z3

from model.checker.prove import ANY_BOOL, ANY_INT, ANY_WORD, Case, Pattern, Shapes, pattern_of
from model.checker.symbolic import SymbolicBool, SymbolicInt, SymbolicWord

NUMBERED = ("channel", "task")
"""Fields of events that number a part of the state. An event is possible for each of these parts."""


class Size(NamedTuple):
    """The sizes of one component at which its rules are proved."""

    parts: Mapping[str, Callable[[Any], int]]
    """Functions that count the parts of a state, by the name of the part in the plural."""
    at_most: Mapping[str, int]
    """Bounds on the parts that have none in the protocol. The step that exceeds a bound is the last one."""
    new: Callable[[Any], Any]
    """The initial state with the sizes and the configuration of a given state."""
    permits: Callable[[Any], bool] | None = None
    """Whether the vocabulary permits the configuration of an initial state. None: it has no symbols."""
    includes: Callable[[Any], bool] = lambda _: True
    """Whether the induction covers states like this one, within the bounds."""
    sends: Callable[[Any, Any], bool] = lambda _state, _event: True
    """Whether the environment may send this event in that state."""
    beyond: bool = False
    """Whether further cases are outside the induction: their rules hold for one step. Reports say so."""

    def text(self, states: Iterable[Any]) -> str:
        """The numbers of these states, by generation if the numbers differ."""
        numbers: dict[str, list[tuple[int, ...]]] = {}
        for state in states:
            known = numbers.setdefault(_generation_of(state), [])
            known.append(tuple(part(state) for part in self.parts.values()))
        texts: dict[str, list[str]] = {}
        for generation, known in numbers.items():
            columns = zip(self.parts, zip(*known, strict=True), strict=True)
            parts = ", ".join(self._range(name, values) for name, values in columns)
            texts.setdefault(parts, []).append(generation)
        every = len(texts) == 1 and len(numbers) != 1
        return "; ".join(text + ("" if every else _named(generations)) for text, generations in texts.items())

    def span(self, states: Sequence[Any]) -> str:
        """The least and the greatest numbers of these states, and the number of their generations."""
        numbers = [tuple(part(state) for part in self.parts.values()) for state in states]
        columns = zip(self.parts, zip(*numbers, strict=True), strict=True)
        parts = ", ".join(self._range(name, values) for name, values in columns)
        return parts + _named(sorted({_generation_of(state) for state in states}))

    def _range(self, name: str, values: tuple[int, ...]) -> str:
        least, most = min(values), max(values)
        if name in self.at_most:
            return f"{name} at most {most}"
        return f"{name} {least}" if least == most else f"{name} {least} to {most}"

    def holds(self, state: Any) -> bool:  # noqa: ANN401 - any component's state
        """Whether the induction covers the state."""
        bounded = all(self.parts[name](state) <= most for name, most in self.at_most.items())
        return bounded and self.includes(state)


def _generation_of(state: Any) -> str:  # noqa: ANN401
    """The name of the profile of a state or of its gate or plan. Empty if its generations do not differ."""
    profiles = (getattr(part, "profile", None) for part in (state, *state))
    return next((profile.name for profile in profiles if profile is not None), "")


def _named(generations: list[str]) -> str:
    if generations == [""]:
        return ""
    return f" in {generations[0]}" if len(generations) == 1 else f" in {len(generations)} generations"


def gaps_of(
    cases: Sequence[Case], starts: Shapes, afters: Shapes, size: Size, kinds: Iterable[type]
) -> Iterator[str]:
    """The gaps in the induction of a component, one sentence each. None if the induction is complete.

    `starts`, `afters`: the shapes in which its cases start, and the shapes in which their steps end.
    """
    for case in cases:
        for fact in assumed_facts(case) if size.holds(case.state) else ():
            yield f"a case assumes a fact of the state, {fact}, in {case.label}; prove it as an invariant"
    for shape in open_shapes(starts, afters):
        yield f"a step ends in a shape without cases, {shape}"
    yield from missing_events(cases, size, kinds)


def open_shapes(starts: Shapes, afters: Shapes) -> Iterator[str]:
    """The shapes in which a step ends and no case starts."""
    known: dict[tuple[str, str], list[tuple[object, ...]]] = {}
    for component, (structure, leaves) in starts:
        known.setdefault((component, structure), []).append(leaves)
    for component, (structure, leaves) in afters:
        if not any(_fits(leaves, begun) for begun in known.get((component, structure), ())):
            yield structure


def _fits(leaves: tuple[object, ...], begun: tuple[object, ...]) -> bool:
    return all(map(_is_covered, leaves, begun))


def _is_covered(leaf: object, begun: object) -> bool:
    """Whether `begun` covers `leaf`. A symbol covers symbols and constants of its kind, a constant itself."""
    if leaf == begun:
        return True
    kind = leaf[0] if isinstance(leaf, tuple) else None
    return kind is not None and begun == {"int": ANY_INT, "bool": ANY_BOOL, "str": ANY_WORD}.get(kind)


def missing_events(cases: Iterable[Case], size: Size, kinds: Iterable[type]) -> Iterator[str]:
    """One sentence for each shape and class of event that the environment may send, and that no case has.

    `cases`: the cases of one component. `kinds`: the classes that its step takes. The class of an event is
    its type with its constants, such as the channel, the words and the alignment. Symbols represent every
    value. A class that some case has in one shape is expected in each shape, and for each of its channels or
    tasks.
    """
    examples: dict[Pattern, Any] = {}
    present: dict[str, list[tuple[object, ...]]] = {}
    shapes: dict[Pattern, Any] = {}
    for case in cases:
        examples.setdefault(pattern_of(case.event), case.event)
        structure, leaves = pattern_of((case.state, case.event))
        present.setdefault(structure, []).append(leaves)
        if size.holds(case.state):
            shapes.setdefault(pattern_of(case.state), case.state)
    for kind in set(kinds) - {type(event) for event in examples.values()}:
        yield f"no case has the event {kind.__name__}"
    for state in shapes.values():
        expected = {
            pattern_of(one): one
            for example in examples.values()
            for one in _for_each_part(example, state, size)
            if size.sends(state, one)
        }
        for one in expected.values():
            structure, leaves = pattern_of((state, one))
            if not any(_fits(leaves, known) for known in present.get(structure, ())):
                yield f"no case has {one} in {state}"


def _for_each_part(event: Any, state: Any, size: Size) -> Iterator[Any]:  # noqa: ANN401
    """The same class of event for each channel or each task of the state."""
    for field in NUMBERED:
        if type(getattr(event, field, None)) is int:
            yield from (event._replace(**{field: place}) for place in range(size.parts[f"{field}s"](state)))
            return
    yield event


def assumed_facts(case: Case) -> Iterator[z3.BoolRef]:
    """The assumptions of a case about its state alone.

    An assumption about the event names a symbol of the event, or only the part of the state of its channel.
    """
    symbols = set(_names_in(case.event))
    place = f".{getattr(case.event, 'channel', None)}"
    for assumption in case.assumptions:
        for term in _conjuncts(assumption):
            names = set(_names(term))
            if names and not names & symbols and not all(name.endswith(place) for name in names):
                yield term


def _conjuncts(term: z3.BoolRef) -> Iterator[z3.BoolRef]:
    if z3.is_and(term):
        for part in term.children():
            yield from _conjuncts(part)
    else:
        yield term


def _names_in(value: Any) -> Iterator[str]:  # noqa: ANN401
    if isinstance(value, SymbolicBool | SymbolicInt | SymbolicWord):
        yield from _names(value.term)
    elif isinstance(value, tuple):
        for part in value:
            yield from _names_in(part)


def _names(term: z3.ExprRef) -> Iterator[str]:
    """The names of the symbols in a term."""
    if z3.is_const(term):
        if term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            yield term.decl().name()
    else:
        for part in term.children():
            yield from _names(part)
