"""The tables of planted defects, in Markdown, made from the outcomes of `conformance.mutants.planted`.

`with_tables` puts them into docs/verify/planted-defects.md. A defect without an outcome is named as not
measured, so the page never states more than was run.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from conformance.mutants.planted import CONFORMS, RUNS, Outcome, Planted

LAYERS = ("impl", "model")
_MARK = re.compile(r"(<!-- planted: (\w+) -->\n\n)(?:[^\n]+\n)*")
Found = Sequence[tuple[Planted, Outcome]]


def with_tables(page: str, planted: Sequence[Planted], outcomes: Mapping[str, Outcome]) -> str:
    """The page with the text below its marks `<!-- planted: NAME -->`: `measured`, `mutants`, `classes`."""
    mutants = [one for one in planted if one.kind in LAYERS]
    found = [(one, outcomes[one.id]) for one in planted if one.id in outcomes]
    of_mutants = [(one, outcome) for one, outcome in found if one.kind in LAYERS]
    missing = [one.id for one in mutants if one.id not in outcomes]
    count = f"{len(of_mutants)} of {len(mutants)} mutants have an outcome"
    texts = {
        "measured": f"{count}{'; not measured: ' + ', '.join(missing) if missing else ''}.\n",
        "mutants": mutant_table(of_mutants),
        "classes": class_table([(one, outcomes.get(one.id)) for one in planted]),
    }
    return _MARK.sub(lambda mark: mark[1] + texts[mark[2]], page)


def mutant_table(found: Found) -> str:
    """One row for each component of each layer: by the source of the case that first showed the defect."""
    found = sorted(
        ((one, outcome) for one, outcome in found if one.kind in LAYERS),
        key=lambda pair: (pair[0].kind, pair[0].component),
    )
    columns = list(dict.fromkeys(outcome.shown_by for _, outcome in found if outcome.run == "default"))
    rows: dict[str, Counter[str]] = {}
    for planted, outcome in found:
        shown = outcome.shown_by if outcome.run == "default" else outcome.run
        rows.setdefault(f"{planted.kind}, {planted.component}", Counter())[shown] += 1
    rows["all"] = sum(rows.values(), Counter())
    lines = [f"| planted in | defects | {' | '.join(columns)} | only `--thorough` | conform |"]
    lines.append("|---|" + "--:|" * (len(columns) + 3))
    for row, counts in rows.items():
        cells = (str(counts[name] or "") for name in (*columns, "thorough", CONFORMS))
        lines.append(f"| {row} | {counts.total()} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def class_table(found: Sequence[tuple[Planted, Outcome | None]]) -> str:
    """One row for each class of broken adapters: how many each run detects first, and by what."""
    lines = ["| class | adapters | detected by default, first by | only by `--thorough`, by | not measured |"]
    lines.append("|---|--:|---|---|---|")
    listed = [(one, outcome) for one, outcome in found if one.kind not in LAYERS]
    for kind in dict.fromkeys(one.kind for one, _ in listed):
        own = [(one, outcome) for one, outcome in listed if one.kind == kind]
        cells = [
            ", ".join(
                f"{number} {shown}"
                for shown, number in Counter(
                    outcome.shown_by for _, outcome in own if outcome is not None and outcome.run == run
                ).items()
            )
            for run in RUNS
        ]
        missing = ", ".join(f"`{one.id.rpartition('/')[2]}`" for one, outcome in own if outcome is None)
        lines.append(f"| {kind} | {len(own)} | {' | '.join(cells)} | {missing} |")
    return "\n".join(lines) + "\n"
