"""The outcome of automatic mutants: a row for each, the scores of folders and judges, and the survivors."""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.mutants.automatic.complaints import Judged

RULES = ("proofs", "exploration")
"""The judges that test a mutant of the model with the rules alone."""
COLUMNS = ("TLC", *RULES, "rules alone", "triangle", "lock-step")
"""The columns of the table: the judges, in the order in which they run."""
SHARES = (
    ("model", "rules alone", RULES),
    ("model", "every judge", (*RULES, "triangle", "lock-step")),
    ("model", "triangle or lock-step", ("triangle", "lock-step")),
    ("impl", "lock-step", ("lock-step",)),
    ("spec", "TLC with its properties", ("TLC",)),
)
"""Layer, name and judges of each share. It counts mutants of the layer that one of the judges kills."""
ABOUT = (
    "A mutation operator edits one place of a protocol module of specification, model or implementation: a "
    "comparison, a boundary, a constant, an argument, a condition, a statement, an effect, or a change of "
    "the state. The operators edit every place that they match. *Judges* then test "
    "each edited module, the *mutant*. *Proofs* and *exploration* test a mutant of the model with the rules "
    "alone, *triangle* compares it with the specification, and *lock-step* with the implementation. *TLC* "
    "tests a mutant of the specification with its properties; it does not compare the pinned numbers of "
    "states. TLC stops after 4 times the model's number of states and 2,000 more, or after 3 times its depth "
    "and 5 more. If it has found no broken rule by then, the mutant is *too long*.\n\n"
    "If no judge detects a mutant, z3 compares it with the original, in all cases of the proofs that run the "
    "edit. If effects and states are equal after every event, the mutant is *proved equivalent*; otherwise "
    "it *survives*. The column of a judge counts the mutants for which it found a broken rule or a "
    "difference. *Crashed* counts the mutants for which judges report only that an expression cannot be "
    "evaluated, *too long* those that only exceed the limit of time or of states. With `--first`, no judge "
    "runs after the first one that finds a broken rule, and a judge stops if its first 25 units all crash. "
    "An edit of the specification that SANY rejects does not count as a mutant. Neither does an edit of "
    "Python that `mypy --strict` rejects; mypy checks an edit that crashes, and swapped arguments that "
    "survive."
)
"""The first two paragraphs of the page."""


def row(judged: "Judged") -> str:
    """The text about one mutant: the edit, and the result of each judge."""
    return f"{_edit(judged)}\n    {_outcome(judged)}"


def score(found: Sequence["Judged"]) -> Iterator[str]:
    """A line for each folder: the number of mutants, and how many of them each judge kills."""
    for one in _scores(found):
        counts = ", ".join(f"{judge} {number}" for judge, number in one.by_judge.items())
        apart = f"; {one.same} proved equivalent" if one.same else ""
        apart += f"; {one.crashed} crashed" if one.crashed else ""
        apart += f"; {one.too_long} too long" if one.too_long else ""
        apart += f"; {one.no_mutants} edits are no TLA+ or no typed Python" if one.no_mutants else ""
        yield f"{one.folder:<18} {one.mutants:>5} mutants, {one.killed} killed: {counts}{apart}"


def survivors(found: Sequence["Judged"]) -> list["Judged"]:
    """The mutants that no judge detects and that are not proved equivalent."""
    return sorted((one for one in found if one.survives), key=lambda one: one.edit)


def closing(found: Sequence["Judged"], total: int, threshold: float, again: str, drawn: int = 0) -> str:
    """The verdict with its bound, and the command that repeats it. `drawn`: the number of edits drawn."""
    left = survivors(found)
    outcome = f"{len(left)} survived every judge" if left else "no mutant survived every judge"
    permitted = f", {100 - threshold:g} % may" if threshold < 100 else ""
    edits = f"{len(found):,} of {total:,} first-order edits judged"
    if drawn > len(found):
        edits += f", the time was too short for {drawn - len(found)} of {drawn:,}"
    return f"{verdict(found, threshold, drawn).value}   {edits}; {outcome}{permitted}\nagain   {again}"


def verdict(found: Sequence["Judged"], threshold: float = 100, drawn: int = 0) -> Verdict:
    """CONFORMS if at least `threshold` percent of the mutants do not survive.

    UNDETERMINED without a mutant, and if the time was too short for half of the `drawn` edits.
    """
    mutants = sum(one.is_mutant for one in found)
    if not mutants or 2 * len(found) < drawn:
        return Verdict.UNDETERMINED
    return Verdict.DIVERGES if 100 * len(survivors(found)) > (100 - threshold) * mutants else Verdict.CONFORMS


def shares(found: Sequence["Judged"]) -> Iterator[str]:
    """One sentence for each share: the share of killed mutants, with its interval of 95 % (Wilson).

    Mutants that are proved equivalent do not count. A share is left out if one of its mutants was tested by
    none of its judges. This cannot happen with RULES, because these judges run first.
    """
    for layer, what, judges in SHARES:
        here = [one for one in found if _folder(one).startswith(layer) and one.is_mutant]
        here = [one for one in here if not one.same_paths]
        if here and (judges[0] in RULES or all({*judges} & {*one.complaints} for one in here)):
            killed = sum(one.killed_by(*judges) for one in here)
            stopped = sum(one.crashed or one.took_too_long for one in here)
            least, most = interval(killed, len(here))
            yield (
                f"{layer}, {what}: {killed} of {len(here)} killed, {killed / len(here):.1%}; "
                f"{least:.1%} to {most:.1%}; {stopped} more crash or exceed a limit"
            )


def interval(successes: int, trials: int) -> tuple[float, float]:
    """The interval of 95 % for a probability, by Wilson."""
    share, z = successes / trials, 1.96
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return middle - half, middle + half


def page(
    found: Sequence["Judged"], total: int, runs: Sequence[str], commit: str, left_out: Mapping[str, int]
) -> str:
    """The score, the survivors and what is left out (`left_out`, by class and reason) in Markdown."""
    rows = [*_scores(found)]
    judges = [judge for judge in COLUMNS if any(judge in one.by_judge for one in rows)]
    heads = ("folder", "mutants", "killed", *judges, "crashed", "too long", "proved equivalent", "survive")
    lines = [
        "# Automatic mutants",
        "",
        ABOUT,
        "",
        f"{len(found):,} of {total:,} edits were judged at commit {commit}; {len(survivors(found))} survive. "
        f"Made by {', '.join(f'`{run}`' for run in runs)}.",
        "",
        "Of the mutants that are not proved equivalent, with the interval of 95 % (Wilson) for all mutants:",
        "",
        *(f"- {share}." for share in shares(found)),
        "",
        f"| {' | '.join(heads)} |",
        f"|---|{'--:|' * (len(heads) - 1)}",
    ]
    for one in rows:
        counts = [str(one.by_judge.get(judge, "")) for judge in judges]
        left = one.mutants - one.killed - one.crashed - one.too_long - one.same
        others = (one.crashed, one.too_long, one.same, left)
        columns = (one.folder, one.mutants, one.killed, *counts, *others)
        lines.append(f"| {' | '.join(map(str, columns))} |")
    if listed := [f"- `{_edit(one)}`" for one in survivors(found)]:
        lines += [
            "",
            "The survivors. Each one shows a gap in the rules, or is equivalent although no proof shows it:",
            "",
            *listed,
        ]
    if left_out:
        lines += ["", "Edits that are left out, because they do not change the protocol:", ""]
        lines += [f"- {number} of {why}." for why, number in left_out.items()]
    return "\n".join([*lines, ""])


class _Score(NamedTuple):
    """The results for one folder."""

    folder: str
    mutants: int
    killed: int
    by_judge: Mapping[str, int]
    crashed: int
    too_long: int
    same: int
    """Proved equivalent."""
    no_mutants: int


def _scores(found: Sequence["Judged"]) -> Iterator[_Score]:
    for folder in sorted({_folder(one) for one in found}):
        edited = [one for one in found if _folder(one) == folder]
        here = [one for one in edited if one.is_mutant]
        judges = tuple(dict.fromkeys(judge for one in edited for judge in one.complaints))
        counts = {judge: sum(one.killed_by(judge) for one in here) for judge in judges}
        if set(RULES) & {*judges}:
            counts["rules alone"] = sum(one.killed_by(*RULES) for one in here)
        killed = sum(one.killed_by(*judges) for one in here)
        same = sum(bool(one.same_paths) for one in here)
        crashed = sum(one.crashed for one in here)
        too_long = sum(one.took_too_long for one in here)
        yield _Score(folder, len(here), killed, counts, crashed, too_long, same, len(edited) - len(here))


def _edit(judged: "Judged") -> str:
    edit = judged.edit
    unread = "" if judged.is_run else "; no judge runs it"
    return f"{edit.id}  line {edit.line}: {_short(edit.before)} -> {_short(edit.after)}{unread}"


def _outcome(judged: "Judged") -> str:
    if judged.same_paths:
        return f"equivalent on all {judged.same_paths:,} paths of the proofs"
    return ", ".join(f"{judge} {found or '-'}" for judge, found in judged.complaints.items())


def _folder(judged: "Judged") -> str:
    layer, *_, folder, _ = judged.edit.module.split(".")
    return f"{layer}/{folder}"


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 60 else f"{one_line[:57]}..."
