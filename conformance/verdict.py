"""Verdicts and exit codes. Only CONFORMS is a pass, and it always states its bound."""

from collections.abc import Iterable
from enum import Enum, IntEnum


class Exit(IntEnum):
    """Exit codes of the command."""

    CONFORMS = 0
    DIVERGES = 1
    UNDETERMINED = 2
    USAGE = 64
    OWN_FAULT = 70


class Verdict(Enum):
    """What a check found out.

    UNDETERMINED: the budget ended, rules were not exercised, or a part could not run. A skip is one too.
    """

    CONFORMS = "CONFORMS"
    DIVERGES = "DIVERGES"
    UNDETERMINED = "UNDETERMINED"

    @property
    def exit_code(self) -> Exit:
        """What the command ends with."""
        return Exit[self.name]


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """One verdict for many parts: any divergence counts, then any doubt; without parts it is UNDETERMINED."""
    found = set(verdicts)
    if Verdict.DIVERGES in found:
        return Verdict.DIVERGES
    return Verdict.CONFORMS if found == {Verdict.CONFORMS} else Verdict.UNDETERMINED
