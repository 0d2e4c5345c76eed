"""Every path through the model for one event: its answer, its guards, and the guards that fail.

The component takes the event in a state of the same shape, whose ints and booleans are symbols. Fields that a
configuration fixes keep their values, and so do fields whose actual values the code needs.
"""

from collections.abc import Collection, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import z3

from conformance.adapters.protocol import Wire
from conformance.refusals.guards import Values, failing, names_of
from conformance.refusals.refused_answer import RefusedAnswer
from model.checker.paths import paths, solver_with
from model.checker.symbolic import SymbolicBool, SymbolicInt, SymbolicUseError
from model.components import COMPONENTS, PARTS, Component, WireError

MOST = 150
"""Maximum number of paths in addition to the one that the model takes. Sorting symbols has too many paths."""

FIXED = frozenset(
    {
        "alternating",
        "counts_as_aligned",
        "limit",
        "plan",
        "polled",
        "profile",
        "remembered_at_most",
        "retain",
        "strangers",
        "timeout",
        "tracked_at_most",
    }
)
"""Fields of a state that the configuration fixes: no guard depends on them alone."""
KEPT = frozenset(
    {
        "alignment",
        "attempts",
        "failures",
        "fault",
        "handles",
        "next_id",
        "now",
        "pause_ends",
        "queue",
        "snapshots",
        "states",
        "scheduler",
        "shared",
        "store",
        "turns",
        "type",
    }
)
"""Other fields that keep their values: a loop or a sort depends on them, or they encode names."""


class Candidate(NamedTuple):
    """One path through the model."""

    rules: tuple[str, ...]
    effects: list[Wire]
    """Fields may be symbols."""
    refused: bool
    """Whether the model refuses the event there."""
    condition: tuple[z3.BoolRef, ...]
    failing: tuple[z3.BoolRef, ...]
    """The conditions that do not hold; empty: the model takes this path."""
    after: Any
    """The component's state after the event; fields may be symbols. None if the event is refused."""


class Candidates(NamedTuple):
    """The paths for the event of a refused answer, in a state of the same shape."""

    refused: RefusedAnswer
    ways: tuple[Candidate, ...]
    facts: Values
    """The values of the state before the event, by the names of the symbols that stand for them."""
    is_complete: bool
    """Whether `ways` has all paths. False if there are more than MOST, or if the code needs actual values."""


def candidates(refused: RefusedAnswer) -> Candidates:
    """Every path for the event: first the one that the model takes, then by the number of failing guards."""
    component = {**COMPONENTS, **PARTS}[refused.component]
    kept: set[str] = set()
    is_read = True
    while True:
        facts: Values = {}
        state = _symbols(refused.before, "", facts, kept)
        try:
            ways = tuple(islice(_ways(component, state, refused.event, facts), MOST + 1))
        except SymbolicUseError as use:
            kept |= _still_symbols(use, facts)
            continue
        except (
            ValueError,
            LookupError,
        ):  # the code has converted a symbol to text: only the taken path is known
            if not facts:
                raise
            kept |= set(facts)
            is_read = False
            continue
        ranked = sorted(ways[:MOST], key=lambda way: len(way.failing))
        return Candidates(refused, tuple(ranked), facts, is_read and len(ways) <= MOST)


def _still_symbols(use: SymbolicUseError, facts: Values) -> set[str]:
    """The fields whose actual values the code needs, or all fields. Raises `use` if no symbol is left."""
    if not facts:
        raise use
    return names_of(use.term) & set(facts) if use.term is not None else set(facts)


def _ways(component: Component, state: Any, event: Wire, facts: Values) -> Iterator[Candidate]:  # noqa: ANN401
    def step() -> Any:  # noqa: ANN401 - what `apply` answers, or None
        try:
            return component.apply(state, event)
        except WireError:
            return None

    taken = paths(step, solver_with(*(equals(name, value) for name, value in facts.items())))
    others = (path for path in paths(step) if failing(path.condition, facts))
    for path in chain(taken, others):
        against = failing(path.condition, facts)
        if path.result is None:
            yield Candidate((), [], True, path.condition, against, None)
        else:
            after, effects, rules = path.result
            yield Candidate(rules, effects, False, path.condition, against, after)


def _symbols(value: Any, name: str, facts: Values, concrete: Collection[str]) -> Any:  # noqa: ANN401
    """The state with symbols named after the fields; `facts` receives their values."""
    if type(value) in (int, bool) and name not in concrete:
        facts[name] = value
        return SymbolicBool(z3.Bool(name)) if type(value) is bool else SymbolicInt(z3.Int(name))
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            parts = [
                part
                if field in FIXED or field in KEPT
                else _symbols(part, f"{name}.{field}".lstrip("."), facts, concrete)
                for field, part in zip(value._fields, value, strict=True)
            ]
            return type(value)(*parts)
        return tuple(_symbols(part, f"{name}.{place}", facts, concrete) for place, part in enumerate(value))
    return value


def equals(name: str, value: int | bool) -> z3.BoolRef:
    """The condition that a field has a value."""
    return z3.Bool(name) == value if type(value) is bool else z3.Int(name) == value
