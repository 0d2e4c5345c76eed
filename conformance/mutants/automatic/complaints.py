"""The findings of a judge (a rule or difference, a crash, a time limit), and the outcome of a mutant."""

from collections.abc import Mapping
from typing import NamedTuple

from conformance.mutants.automatic.operators import Edit

UNPARSED = "no TLA+"
"""The complaint about an edit of the specification that is no mutant."""
UNTYPED = "no typed Python"
"""The complaint about an edit of model or implementation that is no mutant."""
_CRASH, _TOO_LONG = "crash: ", "too long: "


def crash(why: str) -> str:
    """The complaint of an exception, or of an expression that cannot be evaluated."""
    return f"{_CRASH}{why}"


def too_long(where: str) -> str:
    """The complaint of a judge that does not end, or of a model without bounds."""
    return f"{_TOO_LONG}{where}"


def is_crash(complaint: str) -> bool:
    """Whether a judge could not go on."""
    return complaint.startswith(_CRASH)


def is_by_rule(complaint: str) -> bool:
    """Whether a rule is broken, or two layers differ."""
    return bool(complaint) and not complaint.startswith((_CRASH, _TOO_LONG))


class Judged(NamedTuple):
    """One mutant, and what each judge complains of."""

    edit: Edit
    complaints: Mapping[str, str]
    """By judge: rules, a model, an exception; empty if the judge found nothing wrong.

    A judge that was not consulted is missing.
    """
    same_paths: int = 0
    """Paths of the proofs on which the mutant was proved to agree with the original; 0 if it was not."""
    is_run: bool = True
    """Some judge runs the edited statement."""

    @property
    def is_mutant(self) -> bool:
        """Whether the edited text has a meaning at all."""
        return not {UNPARSED, UNTYPED}.intersection(self.complaints.values())

    @property
    def survives(self) -> bool:
        """Whether no judge complains, and no proof shows that nothing has changed."""
        return not self.same_paths and not any(self.complaints.values())

    @property
    def crashed(self) -> bool:
        """No rule is broken, and some judge could not go on."""
        return not self._is_killed and any(map(is_crash, self.complaints.values()))

    @property
    def took_too_long(self) -> bool:
        """No rule is broken, no judge crashed, and some judge did not end."""
        return not self._is_killed and not self.crashed and any(self.complaints.values())

    @property
    def _is_killed(self) -> bool:
        return self.killed_by(*self.complaints)

    def killed_by(self, *judges: str) -> bool:
        """Whether one of the judges finds a rule broken, or a difference."""
        return any(is_by_rule(self.complaints.get(judge, "")) for judge in judges)
