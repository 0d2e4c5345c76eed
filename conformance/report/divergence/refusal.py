"""Why an answer was refused, as a person reads it: each action that there was, and the guard that failed."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from conformance.adapters.protocol import Errored, Wire
from conformance.drive.lockstep import Answer, Divergence
from conformance.drive.oracle import Oracle
from conformance.refusals.answer import RefusedAnswer
from conformance.refusals.candidates import Candidate, Candidates, candidates
from conformance.refusals.conflict import conflict, same_as
from conformance.refusals.guards import Guard, guards_of, text
from conformance.report.divergence import phrases
from conformance.report.formats.columns import NARROW
from model.checker.symbolic import SymbolicBool, SymbolicInt
from model.components import COMPONENTS, PARTS

SHOWN = 6
"""Actions that are told; those nearest to what was said and to what is."""


WAITING = 8
"""Events that wait and are told."""


class Action(NamedTuple):
    """One thing that the protocol has for the event."""

    rules: tuple[str, ...]
    answer: str
    happens: bool
    """It is what the protocol does there."""
    was_said: bool
    needs: tuple[Guard, ...]
    """The guards that fail, each with its values."""


class Refusal(NamedTuple):
    """Why an answer was refused."""

    before: str
    """The observable state before the event."""
    actions: tuple[Action, ...]
    """Nearest first, at most SHOWN."""
    more: str
    """How many others there are; empty for none."""
    excluded: str
    """The fewest values that exclude what was said, in a sentence; empty if nothing does."""


def of_divergence(divergence: Divergence) -> list[str]:
    """The same for the last step of a divergence; nothing where there was no answer."""
    asked = asked_at(divergence)
    return [] if asked is None else ["", *told(asked)]


def asked_at(divergence: Divergence) -> RefusedAnswer | None:
    """What the last step asks of the model; None where there was no answer."""
    got = divergence.got
    if not isinstance(got, Answer | Errored):
        return None
    edges = Oracle(divergence.component, divergence.config).transcript(divergence.events)
    before = edges[-2].after if len(edges) > 1 else Oracle(divergence.component, divergence.config).start
    said = got.effects if isinstance(got, Answer) else None
    seen = got.state if isinstance(got, Answer) else None
    return RefusedAnswer(divergence.component, before.state, divergence.event, said, seen)


def of_rejection(asked: RefusedAnswer | None, waiting: Sequence[str]) -> list[str]:
    """Behind the guard that refused an event of a log: what else was possible there."""
    lines = told(asked) if asked is not None else []
    if waiting:
        lines.append("  What waits for a cause at that point, and the guard that holds it back:")
        for one in waiting[:WAITING]:
            lines += _wrapped(f"    {textwrap.shorten(one, 230)}", 6)
        lines += [f"    and {len(waiting) - WAITING} more"] * (len(waiting) > WAITING)
    return lines


def told(asked: RefusedAnswer) -> list[str]:
    """Each action that the model has for the event, the guard that failed, and z3's word; 80 columns."""
    why = refusal(asked)
    lines = _wrapped(f"  Before it {textwrap.shorten(why.before, 300)}.", 4)
    lines += _wrapped(f"  Each action that there is for {phrases.of_event(asked.event)}, nearest first:", 4)
    for action in why.actions:
        lines += _action(action)
    if why.more:
        lines.append(f"    and {why.more}")
    return lines + (_wrapped(f"  {why.excluded}", 4) if why.excluded else [])


def refusal(asked: RefusedAnswer) -> Refusal:
    """The same as values."""
    found = candidates(asked)
    groups = _grouped(found)
    observed = {**COMPONENTS, **PARTS}[asked.component].observe(asked.before)
    more = ""
    if len(groups) > SHOWN or not found.is_complete:
        more = f"{len(groups) - SHOWN} more" if found.is_complete else "more that were not looked at"
    return Refusal(
        phrases.of_state(observed, observed),
        tuple(_told(way, found) for way in groups[:SHOWN]),
        more,
        _conflict(found),
    )


def _grouped(found: Candidates) -> list[Candidate]:
    """The nearest way of each action: what happens first, then what was said, then the fewest guards."""
    nearest: dict[object, Candidate] = {}
    for way in found.ways:
        nearest.setdefault((way.rules, way.refused, len(way.failing) == 0 or _was_said(way, found)), way)
    ways = {id(way): way for way in nearest.values()}.values()
    return sorted(ways, key=lambda way: (bool(way.failing), not _was_said(way, found), len(way.failing)))


def _was_said(way: Candidate, found: Candidates) -> bool:
    said = found.refused.effects
    if way.refused or said is None:
        return way.refused and said is None
    return same_as(list(way.effects), list(said)) is not None


def _told(way: Candidate, found: Candidates) -> Action:
    answer = "an error" if way.refused else phrases.of_effects([_shown(effect) for effect in way.effects])
    needs = tuple(guards_of(way.failing, found.facts)) if way.failing else ()
    return Action(tuple(dict.fromkeys(way.rules)), answer, not way.failing, _was_said(way, found), needs)


def _action(action: Action) -> Iterator[str]:
    yield from _wrapped(f"    {', '.join(action.rules) or 'no rule'}: {action.answer}", 6)
    if action.happens:
        yield "      is what the protocol does here"
        return
    needs = ", ".join(f"{guard.text} ({guard.values})" for guard in action.needs)
    yield from _wrapped(f"      {'was said; ' if action.was_said else ''}needs {needs}", 8)


def _conflict(found: Candidates) -> str:
    """The fewest values that exclude what was said, as z3 tells them; empty if nothing does."""
    excluded = conflict(found)
    if excluded is None:
        return ""
    if not excluded.is_answer:
        bound = "whatever the values that guards ask for"
        return f"No action answers so, {bound if found.is_complete else 'of those looked at'}."
    facts = " and ".join(excluded.facts)
    looked = "" if found.is_complete else ", on the ways looked at"
    return f"What was said is excluded by {facts}; z3: no less will do{looked}."


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
    return textwrap.wrap(line, NARROW, subsequent_indent=" " * indent, break_on_hyphens=False)
