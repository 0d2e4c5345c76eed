"""What became of the mutants: a row each, and what the whole campaign shows."""

from collections.abc import Sequence

from conformance import verdict as verdicts
from conformance.mutants.campaign import Verdict as Fate


def heading() -> str:
    """The names of the columns."""
    return f"{'mutant':<44} {'rule':<9} {'outcome':<13} {'events':>6}  {'with':<11} where"


def row(fate: Fate) -> str:
    """One mutant: the rule it breaks, how it ended, the length of the shortest killing sequence, the
    fewest channels or tasks that it needs, where.

    Below it, if it was not killed by its own rule, what it breaks and what was charged instead.
    """
    events = f"{fate.length:>6}" if fate.rules else f"{'-':>6}"
    shown = f"{events}  {fate.size or '-':<11} {fate.where}"
    line = f"{fate.mutant.id:<44} {fate.mutant.rule:<9} {fate.outcome:<13} {shown}"
    if fate.killed:
        return line
    charged = f"charged: {', '.join(fate.rules)}" if fate.rules else "nothing was charged"
    return f"{line}\n    {fate.mutant.story} {charged}"


def verdict(fates: Sequence[Fate]) -> verdicts.Verdict:
    """CONFORMS if every mutant was killed by its own rule; of no mutants nothing is known."""
    if not fates:
        return verdicts.Verdict.UNDETERMINED
    killed = all(fate.killed for fate in fates)
    return verdicts.Verdict.CONFORMS if killed else verdicts.Verdict.DIVERGES


def closing(fates: Sequence[Fate]) -> str:
    """The verdict in one line, with counts."""
    if not fates:
        return "\nUNDETERMINED   no mutant was tried"
    rules = {fate.mutant.rule for fate in fates}
    told = f"{len(fates)} mutants of {len(rules)} rules"
    left = [fate for fate in fates if not fate.killed]
    if not left:
        return f"\nCONFORMS   {told}, each killed by the rule that it names"
    names = ", ".join(f"{fate.mutant.id} ({fate.outcome})" for fate in left)
    return f"\nDIVERGES   of {told}, {len(left)} not killed by its own rule: {names}"
