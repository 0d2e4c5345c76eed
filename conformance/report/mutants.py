"""The outcome of a campaign of mutants: a row for each, the verdict, and a page in Markdown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from conformance import verdict as verdicts

if TYPE_CHECKING:
    from conformance.mutants.campaign import MutantResult


def heading() -> str:
    """The names of the columns."""
    return f"{'mutant':<44} {'rule':<9} {'outcome':<13} {'events':>6}  {'with':<11} where"


def row(result: "MutantResult") -> str:
    """One mutant: the rule that it breaks, the outcome, the length of the shortest killing sequence, the
    fewest channels or tasks of such a sequence, and the model or the source of the case that killed it.

    For a mutant that its own rule did not kill, a second line describes it and names the charged rules.
    """
    events = f"{result.length:>6}" if result.rules else f"{'-':>6}"
    shown = f"{events}  {result.size or '-':<11} {result.where}"
    line = f"{result.mutant.id:<44} {result.mutant.rule:<9} {result.outcome:<13} {shown}"
    if result.killed:
        return line
    charged = f"charged: {', '.join(result.rules)}" if result.rules else "no rule was charged"
    return f"{line}\n    {result.mutant.story} {charged}"


def verdict(results: Sequence["MutantResult"]) -> verdicts.Verdict:
    """CONFORMS if every mutant was killed by its own rule; UNDETERMINED without a mutant."""
    if not results:
        return verdicts.Verdict.UNDETERMINED
    killed = all(result.killed for result in results)
    return verdicts.Verdict.CONFORMS if killed else verdicts.Verdict.DIVERGES


def closing(results: Sequence["MutantResult"]) -> str:
    """The verdict in one line, with counts."""
    if not results:
        return "\nUNDETERMINED   no mutant was tried"
    rules = {result.mutant.rule for result in results}
    tried = f"{len(results)} mutants of {len(rules)} rules"
    left = [result for result in results if not result.killed]
    if not left:
        return f"\nCONFORMS   {tried}, each killed by the rule that it names"
    names = ", ".join(f"{result.mutant.id} ({result.outcome})" for result in left)
    return f"\nDIVERGES   of {tried}, {len(left)} not killed by its own rule: {names}"


def page(results: Sequence["MutantResult"], catalogued: int, again: str, commit: str) -> str:
    """The table in Markdown, in the order of the rules; `again` is the command that makes it."""
    killed = sum(result.killed for result in results)
    rules = {result.mutant.rule for result in results}
    rest = "" if len(results) == catalogued else "; `--resume` continues with the others"
    lines = [
        "# Mutation score",
        "",
        f"{killed} of {len(results)} mutants of {len(rules)} rules were killed by the rule that they name; "
        f"the catalogue has {catalogued}. A mutant is one edited expression of the model or the "
        "implementation, or one replaced operator of the specification "
        "(`conformance/mutants/catalogue.toml`). *Events* is the length of the shortest sequence that kills "
        "it, *with* the fewest channels or tasks that it needs. "
        f"Made by `{again}` at commit {commit}{rest}.",
        "",
        "| rule | mutant | outcome | killed by | events | with | where |",
        "|---|---|---|---|---|---|---|",
    ]
    for result in sorted(results, key=lambda result: (result.mutant.rule, result.mutant.id)):
        charged = result.mutant.rule if result.killed else ", ".join(result.rules) or "-"
        length = str(result.length) if result.rules else "-"
        lines.append(
            f"| {result.mutant.rule} | `{result.mutant.id}` | {result.outcome} | {charged} | {length} | "
            f"{result.size or '-'} | {result.where} |"
        )
    return "\n".join(lines) + "\n"
