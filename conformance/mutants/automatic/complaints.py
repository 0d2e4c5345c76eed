"""Complaints, which are the findings of a judge, and the outcome of a mutant.

A complaint is a broken rule, a difference of two layers, a crash, or an exceeded limit of time.
"""

from collections.abc import Mapping
from typing import NamedTuple

from conformance.mutants.automatic.operators import Edit

UNPARSED = "no TLA+"
"""The complaint about an edit of the specification that is not valid TLA+. Such an edit is not a mutant."""
UNTYPED = "no typed Python"
"""The complaint about an edit of model or implementation that mypy rejects. Such an edit is not a mutant."""
_CRASH, _TOO_LONG = "crash: ", "too long: "


def crash(why: str) -> str:
    """The complaint for an exception, or for an expression that TLC cannot evaluate."""
    return f"{_CRASH}{why}"


def too_long(where: str) -> str:
    """The complaint if a judge exceeds its time, or if a model has more states than its limit."""
    return f"{_TOO_LONG}{where}"


def is_crash(complaint: str) -> bool:
    """Whether the complaint is a crash of the judge."""
    return complaint.startswith(_CRASH)


def is_by_rule(complaint: str) -> bool:
    """Whether the complaint is a broken rule, or a difference of two layers."""
    return bool(complaint) and not complaint.startswith((_CRASH, _TOO_LONG))


class Judged(NamedTuple):
    """One mutant, with the complaint of each judge."""

    edit: Edit
    complaints: Mapping[str, str]
    """By judge: the complaint; empty if the judge has none. A judge that did not run is missing."""
    same_paths: int = 0
    """Number of paths on which z3 proved that mutant and original agree; 0 if it did not prove this."""
    is_run: bool = True
    """Whether the edited statement runs in some judge."""

    @property
    def is_mutant(self) -> bool:
        """Whether the edited text is TLA+, or Python that mypy accepts."""
        return not {UNPARSED, UNTYPED}.intersection(self.complaints.values())

    @property
    def survives(self) -> bool:
        """Whether no judge complains, and no proof shows that the mutant is equivalent to the original."""
        return not self.same_paths and not any(self.complaints.values())

    @property
    def crashed(self) -> bool:
        """Whether no rule is broken, and some judge crashed."""
        return not self._is_killed and any(map(is_crash, self.complaints.values()))

    @property
    def took_too_long(self) -> bool:
        """Whether no rule is broken, no judge crashed, and some judge exceeded its time."""
        return not self._is_killed and not self.crashed and any(self.complaints.values())

    @property
    def _is_killed(self) -> bool:
        return self.killed_by(*self.complaints)

    def killed_by(self, *judges: str) -> bool:
        """Whether one of these judges complains of a broken rule or a difference."""
        return any(is_by_rule(self.complaints.get(judge, "")) for judge in judges)
