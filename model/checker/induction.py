"""Checks that the cases of an induction over one step are complete. `prove` proves the cases.

The cases are complete under three conditions. First, each step ends in a shape in which some case starts
(`open_shapes`). Second, each such shape has a case for each class of event that the environment may send
(`missing_events`). Third, the assumptions of a case concern only its event: a fact of the state must be an
invariant, which is proved (`assumed_facts`). A case outside the sizes of its component is no part of the
induction. It proves its rules for one step only.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import z3

from model.checker.prove import ANY_BOOL, ANY_INT, ANY_WORD, Case, Pattern, Shapes, pattern_of
from model.checker.symbolic import SymbolicBool, SymbolicInt, SymbolicWord

NUMBERED = ("channel", "task")
"""Fields of events that hold the number of a part of the state. An event is possible for each such part."""


class Size(NamedTuple):
    """The sizes of one component at which its rules are proved."""

    parts: Mapping[str, Callable[[Any], int]]
    """By the plural name of a kind of parts, such as `channels`: a function that counts them in a state."""
    at_most: Mapping[str, int]
    """Bounds on kinds of parts that the protocol does not bound. A state beyond them is not covered."""
    new: Callable[[Any], Any]
    """The initial state with the sizes and the configuration of a given state."""
    permits: Callable[[Any], bool] | None = None
    """Whether the vocabulary permits the configuration of an initial state.

    None if the configuration has no symbols.
    """
    includes: Callable[[Any], bool] = lambda _: True
    """Whether the induction covers a state that is within the bounds."""
    sends: Callable[[Any, Any], bool] = lambda _state, _event: True
    """Whether the environment may send the event in the state."""
    beyond: bool = False
    """Whether there are cases outside the induction, which prove their rules for one step. Reports say so."""

    def text(self, states: Iterable[Any]) -> str:
        """A text with the numbers of parts of these states, by generation if the numbers differ."""
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
        """A text with the least and greatest numbers of parts of these states, and their generations."""
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
    """The name of the profile that the state or a part of it has. Empty if there is none."""
    profiles = (getattr(part, "profile", None) for part in (state, *state))
    return next((profile.name for profile in profiles if profile is not None), "")


def _named(generations: list[str]) -> str:
    if generations == [""]:
        return ""
    return f" in {generations[0]}" if len(generations) == 1 else f" in {len(generations)} generations"


def gaps_of(
    cases: Sequence[Case], starts: Shapes, afters: Shapes, size: Size, kinds: Iterable[type]
) -> Iterator[str]:
    """Yields the gaps in the induction of a component, one sentence each. No gap: the induction is complete.

    `starts`, `afters`: the shapes in which its cases start, and the shapes in which their steps end.
    """
    for case in cases:
        for fact in assumed_facts(case) if size.holds(case.state) else ():
            yield f"a case assumes a fact of the state, {fact}, in {case.label}; prove it as an invariant"
    for shape in open_shapes(starts, afters):
        yield f"a step ends in a shape without cases, {shape}"
    yield from missing_events(cases, size, kinds)


def open_shapes(starts: Shapes, afters: Shapes) -> Iterator[str]:
    """Yields the shapes in which a step ends and no case starts."""
    known: dict[tuple[str, str], list[tuple[object, ...]]] = {}
    for component, (structure, leaves) in starts:
        known.setdefault((component, structure), []).append(leaves)
    for component, (structure, leaves) in afters:
        if not any(_fits(leaves, begun) for begun in known.get((component, structure), ())):
            yield structure


def _fits(leaves: tuple[object, ...], begun: tuple[object, ...]) -> bool:
    return all(map(_is_covered, leaves, begun))


def _is_covered(leaf: object, begun: object) -> bool:
    """Whether the leaf `begun` covers `leaf`: a symbol covers symbols and constants of its kind.

    A constant covers only itself.
    """
    if leaf == begun:
        return True
    kind = leaf[0] if isinstance(leaf, tuple) else None
    return kind is not None and begun == {"int": ANY_INT, "bool": ANY_BOOL, "str": ANY_WORD}.get(kind)


def missing_events(cases: Iterable[Case], size: Size, kinds: Iterable[type]) -> Iterator[str]:
    """Yields one sentence for each shape and class of event that is possible there and that no case has.

    `cases`: the cases of one component. `kinds`: the types of events that its step takes. The class of an
    event is its type with its constants, such as the channel, the words and the alignment; a symbol
    represents every value. If a case has a class in one shape, each shape needs this class for each of its
    channels or tasks, as far as the environment may send it.
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
    """Yields the assumptions of a case that concern its state alone.

    An assumption concerns the event if it contains a symbol of the event, or only symbols of its channel.
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
