"""Why an answer was refused, as a person reads it: each action that there was, and the guard that failed."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from conformance.adapters.protocol import Errored, Wire
from conformance.drive.lockstep import Answer, Divergence
from conformance.drive.oracle import Oracle
from conformance.refusals.asked import Asked
from conformance.refusals.candidates import Candidate, Candidates, candidates
from conformance.refusals.conflict import conflict, same_as
from conformance.refusals.guards import guards_of, text
from conformance.report import words
from model.components import COMPONENTS, PARTS
from model.engines.symbolic import SymbolicBool, SymbolicInt

WIDTH = 80
SHOWN = 6
"""Actions that are told; those nearest to what was said and to what is."""


WAITING = 8
"""Events that wait and are told."""


def of_divergence(divergence: Divergence) -> list[str]:
    """The same for the last step of a divergence; nothing where there was no answer."""
    got = divergence.got
    if not isinstance(got, Answer | Errored):
        return []
    edges = Oracle(divergence.component, divergence.config).transcript(divergence.events)
    before = edges[-2].after if len(edges) > 1 else Oracle(divergence.component, divergence.config).start
    said = got.effects if isinstance(got, Answer) else None
    seen = got.state if isinstance(got, Answer) else None
    return ["", *told(Asked(divergence.component, before.state, divergence.event, said, seen))]


def of_rejection(asked: Asked | None, waiting: Sequence[str]) -> list[str]:
    """Behind the guard that refused an event of a log: what else was possible there."""
    lines = told(asked) if asked is not None else []
    if waiting:
        lines.append("  What waits for a cause at that point, and the guard that holds it back:")
        for one in waiting[:WAITING]:
            lines += _wrapped(f"    {textwrap.shorten(one, 230)}", 6)
        lines += [f"    and {len(waiting) - WAITING} more"] * (len(waiting) > WAITING)
    return lines


def told(asked: Asked) -> list[str]:
    """Each action that the model has for the event, the guard that failed, and z3's word; 80 columns."""
    found = candidates(asked)
    groups = _grouped(found)
    observed = {**COMPONENTS, **PARTS}[asked.component].observe(asked.before)
    lines = _wrapped(f"  Before it {textwrap.shorten(words.of_state(observed, observed), 300)}.", 4)
    lines += _wrapped(f"  Each action that there is for {words.of_event(asked.event)}, nearest first:", 4)
    for way in groups[:SHOWN]:
        lines += _action(way, found)
    if len(groups) > SHOWN or not found.is_complete:
        more = f"{len(groups) - SHOWN} more" if found.is_complete else "more that were not looked at"
        lines.append(f"    and {more}")
    return lines + _conflict(found)


def _grouped(found: Candidates) -> list[Candidate]:
    """The nearest way of each action: what happens first, then what was said, then the fewest guards."""
    nearest: dict[object, Candidate] = {}
    for way in found.ways:
        nearest.setdefault((way.rules, way.refused, len(way.failing) == 0 or _was_said(way, found)), way)
    ways = {id(way): way for way in nearest.values()}.values()
    return sorted(ways, key=lambda way: (bool(way.failing), not _was_said(way, found), len(way.failing)))


def _was_said(way: Candidate, found: Candidates) -> bool:
    said = found.asked.said
    if way.refused or said is None:
        return way.refused and said is None
    return same_as(list(way.effects), list(said)) is not None


def _action(way: Candidate, found: Candidates) -> Iterator[str]:
    answer = "an error" if way.refused else words.of_effects([_shown(effect) for effect in way.effects])
    name = ", ".join(dict.fromkeys(way.rules)) or "no rule"
    yield from _wrapped(f"    {name}: {answer}", 6)
    if not way.failing:
        yield "      is what the protocol does here"
        return
    needs = ", ".join(f"{guard.text} ({guard.values})" for guard in guards_of(way.failing, found.facts))
    yield from _wrapped(f"      {'was said; ' if _was_said(way, found) else ''}needs {needs}", 8)


def _conflict(found: Candidates) -> list[str]:
    """The fewest values that exclude what was said, as z3 tells them."""
    excluded = conflict(found)
    if excluded is None:
        return []
    if not excluded.is_answer:
        bound = "whatever the values that guards ask for"
        return _wrapped(f"  No action answers so, {bound if found.is_complete else 'of those looked at'}.", 4)
    facts = " and ".join(excluded.facts)
    looked = "" if found.is_complete else ", on the ways looked at"
    return _wrapped(f"  What was said is excluded by {facts}; z3: no less will do{looked}.", 4)


def _shown(effect: Wire) -> Wire:
    """An effect whose symbols are called after the fields that they stand for."""
    return {name: _named(value) for name, value in effect.items()}


def _named(value: Any) -> Any:  # noqa: ANN401 - any JSON value, with symbols
    if isinstance(value, SymbolicInt | SymbolicBool):
        return text(value.term)
    if isinstance(value, list | tuple):
        return [_named(one) for one in value]
    return value


def _wrapped(line: str, indent: int) -> list[str]:
    return textwrap.wrap(line, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)
