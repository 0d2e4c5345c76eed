"""Verdicts and exit codes. Only CONFORMS is a pass, and it always states its bound."""

from collections.abc import Iterable
from enum import Enum, IntEnum


class Exit(IntEnum):
    """Exit codes of the command."""

    CONFORMS = 0
    DIVERGES = 1
    UNDETERMINED = 2
    USAGE = 64
    INTERNAL_ERROR = 70


class Verdict(Enum):
    """The result of a check.

    UNDETERMINED: the budget ended, rules were not exercised, or a part could not run or was skipped.
    """

    CONFORMS = "CONFORMS"
    DIVERGES = "DIVERGES"
    UNDETERMINED = "UNDETERMINED"

    @property
    def exit_code(self) -> Exit:
        """The exit code of a command with this verdict."""
        return Exit[self.name]


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """DIVERGES if a part diverges; else CONFORMS if there are parts and all conform; else UNDETERMINED."""
    found = set(verdicts)
    if Verdict.DIVERGES in found:
        return Verdict.DIVERGES
    return Verdict.CONFORMS if found == {Verdict.CONFORMS} else Verdict.UNDETERMINED
