"""A divergence as a value: the case up to its last event, with the permitted and the actual answer.

A hang and a flaky answer are such values too, with the verdict UNDETERMINED.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from conformance.adapters.protocol import FAILURES, Crashed, Effects, Failure, Hung, Malformed, Wire
from conformance.verdict import Verdict


class Answer(NamedTuple):
    """The effects of one event and the state after it, or the reason for which it was refused (`refused`)."""

    effects: Effects
    state: Wire
    refused: str | None = None


@dataclass(frozen=True)
class Divergence:
    """The first step at which the answer of an implementation differs from the model's."""

    component: str
    config: Wire
    events: tuple[Wire, ...]
    """All events up to and including the one that shows the divergence."""
    expected: Answer
    got: Answer | Failure
    rules: tuple[str, ...]
    """The rules that fired in the model at this step; the first is the primary one."""
    before: tuple[Answer, ...] = ()
    """For each event before the last one: the model's answer, and the answer of the implementation."""
    repeats: tuple[int, int] | None = None
    """For a flaky answer: the number of plays with this answer, and the number of all plays; else None."""

    @property
    def step(self) -> int:
        """The number of the step, from 1."""
        return len(self.events)

    @property
    def event(self) -> Wire:
        """The event that shows the divergence: the last one."""
        return self.events[-1]

    @property
    def rule(self) -> str | None:
        """The primary rule; None if no rule fires, or if the implementation did not answer."""
        return self.rules[0] if self.rules and self.lost is None else None

    @property
    def lost(self) -> str | None:
        """`crashed`, `hung` or `malformed` if the implementation did not give a valid answer; else None."""
        return _LOST.get(type(self.got))

    @property
    def charge(self) -> str | None:
        """The charged rule, or the value of `lost`; None if no rule fires."""
        return self.lost or self.rule

    @property
    def verdict(self) -> Verdict:
        """UNDETERMINED for a hang or a flaky answer, else DIVERGES (docs/adapter-protocol.md)."""
        if self.repeats is not None or isinstance(self.got, Hung):
            return Verdict.UNDETERMINED
        return Verdict.DIVERGES

    def values(self) -> dict[str, Any]:
        """The case as JSON values: each event with the expected and the actual answer."""
        permitted = (*self.before, self.expected)
        given = (*self.before, self.got)
        return {
            "component": self.component,
            "config": dict(self.config),
            "steps": [
                {"event": dict(event), "expected": answer_values(due), "got": answer_values(came)}
                for event, due, came in zip(self.events, permitted, given, strict=True)
            ],
            "rules": list(self.rules),
            "repeats": list(self.repeats) if self.repeats is not None else None,
        }


def answer_values(answer: Answer | Failure) -> dict[str, Any]:
    """An answer as JSON values; `outcome` is `applied`, `refused`, or the failure."""
    if isinstance(answer, FAILURES):
        return {"outcome": type(answer).__name__.lower(), **answer._asdict()}
    return {"outcome": "refused" if answer.refused is not None else "applied", **answer._asdict()}


_LOST: Mapping[type, str] = {Crashed: "crashed", Hung: "hung", Malformed: "malformed"}
"""Failures to answer. They break no rule, because there is no answer that could break one."""
