"""The outcome of a campaign of mutants: a row for each, the verdict, and a page in Markdown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from conformance import verdict as verdicts

if TYPE_CHECKING:
    from conformance.mutants.campaign import MutantResult


def heading() -> str:
    """The names of the columns."""
    return f"{'mutant':<44} {'rule':<9} {'outcome':<13} {'events':>6}  {'with':<11} where"


def row(fate: "MutantResult") -> str:
    """One mutant: the rule that it breaks, the outcome, the length of the shortest killing sequence, the
    fewest channels or tasks of such a sequence, and the model or the source of the case that killed it.

    For a mutant that its own rule did not kill, a second line describes it and names the charged rules.
    """
    events = f"{fate.length:>6}" if fate.rules else f"{'-':>6}"
    shown = f"{events}  {fate.size or '-':<11} {fate.where}"
    line = f"{fate.mutant.id:<44} {fate.mutant.rule:<9} {fate.outcome:<13} {shown}"
    if fate.killed:
        return line
    charged = f"charged: {', '.join(fate.rules)}" if fate.rules else "nothing was charged"
    return f"{line}\n    {fate.mutant.story} {charged}"


def verdict(fates: Sequence["MutantResult"]) -> verdicts.Verdict:
    """CONFORMS if every mutant was killed by its own rule; UNDETERMINED without a mutant."""
    if not fates:
        return verdicts.Verdict.UNDETERMINED
    killed = all(fate.killed for fate in fates)
    return verdicts.Verdict.CONFORMS if killed else verdicts.Verdict.DIVERGES


def closing(fates: Sequence["MutantResult"]) -> str:
    """The verdict in one line, with counts."""
    if not fates:
        return "\nUNDETERMINED   no mutant was tried"
    rules = {fate.mutant.rule for fate in fates}
    tried = f"{len(fates)} mutants of {len(rules)} rules"
    left = [fate for fate in fates if not fate.killed]
    if not left:
        return f"\nCONFORMS   {tried}, each killed by the rule that it names"
    names = ", ".join(f"{fate.mutant.id} ({fate.outcome})" for fate in left)
    return f"\nDIVERGES   of {tried}, {len(left)} not killed by its own rule: {names}"


def page(fates: Sequence["MutantResult"], catalogued: int, again: str, commit: str) -> str:
    """The table in Markdown, in the order of the rules; `again` is the command that makes it."""
    killed = sum(fate.killed for fate in fates)
    rules = {fate.mutant.rule for fate in fates}
    rest = "" if len(fates) == catalogued else "; `--resume` continues with the others"
    lines = [
        "# Mutation score",
        "",
        f"{killed} of {len(fates)} mutants of {len(rules)} rules were killed by the rule that they name; "
        f"the catalogue has {catalogued}. A mutant is one edited expression of the model or the "
        "implementation, or one replaced operator of the specification "
        "(`conformance/mutants/catalogue.toml`). *Events* is the length of the shortest sequence that kills "
        "it, *with* the fewest channels or tasks that it needs. "
        f"Made by `{again}` at commit {commit}{rest}.",
        "",
        "| rule | mutant | outcome | killed by | events | with | where |",
        "|---|---|---|---|---|---|---|",
    ]
    for fate in sorted(fates, key=lambda fate: (fate.mutant.rule, fate.mutant.id)):
        charged = fate.mutant.rule if fate.killed else ", ".join(fate.rules) or "-"
        length = str(fate.length) if fate.rules else "-"
        lines.append(
            f"| {fate.mutant.rule} | `{fate.mutant.id}` | {fate.outcome} | {charged} | {length} | "
            f"{fate.size or '-'} | {fate.where} |"
        )
    return "\n".join(lines) + "\n"
