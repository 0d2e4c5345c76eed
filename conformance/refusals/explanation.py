"""Explains a refused answer: each action that the model has for the event, and the guards that fail."""

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.adapters.protocol import Errored
from conformance.divergence import Answer, Divergence
from conformance.drive.oracle import Oracle
from conformance.refusals.candidates import Candidate, Candidates, candidates
from conformance.refusals.conflict import conflict, same_as
from conformance.refusals.guards import guards_of, text
from conformance.refusals.refused_answer import RefusedAnswer
from conformance.report.divergence import phrases
from conformance.report.divergence import refusal as texts
from conformance.report.divergence.refusal import Action, Refusal
from model.checker.symbolic import SymbolicBool, SymbolicInt
from model.components import COMPONENTS, PARTS

SHOWN = 6
"""The maximum number of actions that are shown, the most similar ones."""


def lines(refused: RefusedAnswer) -> list[str]:
    """The explanation as lines of 80 columns."""
    return texts.lines(refusal(refused), refused.event)


def of_rejection(refused: RefusedAnswer | None, waiting: Sequence[str]) -> list[str]:
    """The explanation for a refused event of a log, and the events that wait for a cause at that point."""
    return [*(lines(refused) if refused is not None else ()), *texts.waiting(waiting)]


def of_divergence(divergence: Divergence) -> list[str]:
    """The explanation for the last step of a divergence, as lines; empty if there was no answer."""
    refused = refused_answer(divergence)
    return [] if refused is None else ["", *lines(refused)]


def refused_answer(divergence: Divergence) -> RefusedAnswer | None:
    """The refused answer of the last step; None if there was no answer."""
    got = divergence.got
    if not isinstance(got, Answer | Errored):
        return None
    edges = Oracle(divergence.component, divergence.config).transcript(divergence.events)
    before = edges[-2].after if len(edges) > 1 else Oracle(divergence.component, divergence.config).start
    answered = got.effects if isinstance(got, Answer) else None
    seen = got.state if isinstance(got, Answer) else None
    return RefusedAnswer(divergence.component, before.state, divergence.event, answered, seen)


def refusal(refused: RefusedAnswer) -> Refusal:
    """The explanation as values: the observed state, the most similar actions, and the conflict."""
    found = candidates(refused)
    groups = _grouped(found)
    observed = {**COMPONENTS, **PARTS}[refused.component].observe(refused.before)
    more = ""
    if len(groups) > SHOWN or not found.is_complete:
        more = f"{len(groups) - SHOWN} more" if found.is_complete else "more that were not examined"
    return Refusal(
        phrases.of_state(observed, observed),
        tuple(_action(way, found) for way in groups[:SHOWN]),
        more,
        _conflict(found),
    )


def _grouped(found: Candidates) -> list[Candidate]:
    """One path for each action: first the taken one, then those with the answer, then by failing guards."""
    nearest: dict[object, Candidate] = {}
    for way in found.ways:
        nearest.setdefault((way.rules, way.refused, len(way.failing) == 0 or _was_answered(way, found)), way)
    ways = {id(way): way for way in nearest.values()}.values()
    return sorted(ways, key=lambda way: (bool(way.failing), not _was_answered(way, found), len(way.failing)))


def _was_answered(way: Candidate, found: Candidates) -> bool:
    answered = found.refused.effects
    if way.refused or answered is None:
        return way.refused and answered is None
    return same_as(list(way.effects), list(answered)) is not None


def _action(way: Candidate, found: Candidates) -> Action:
    answer = "an error" if way.refused else phrases.of_effects(list(map(_named, way.effects)))
    needs = tuple(guards_of(way.failing, found.facts)) if way.failing else ()
    return Action(tuple(dict.fromkeys(way.rules)), answer, not way.failing, _was_answered(way, found), needs)


def _conflict(found: Candidates) -> str:
    """A sentence with the values that exclude the answer; empty if z3 finds none."""
    excluded = conflict(found)
    if excluded is None:
        return ""
    if not excluded.is_answer:
        bound = "whatever values its guards need" if found.is_complete else "of those examined"
        return f"No action gives this answer, {bound}."
    facts = " and ".join(excluded.facts)
    looked = "" if found.is_complete else ", on the paths examined"
    return f"The answer contradicts {facts}; z3 proves that none of these can be left out{looked}."


def _named(value: Any) -> Any:  # noqa: ANN401 - any JSON value, with symbols
    """The value, with each symbol replaced by the name of its field."""
    if isinstance(value, Mapping):
        return {name: _named(one) for name, one in value.items()}
    if isinstance(value, SymbolicInt | SymbolicBool):
        return text(value.term)
    if isinstance(value, list | tuple):
        return [_named(one) for one in value]
    return value
