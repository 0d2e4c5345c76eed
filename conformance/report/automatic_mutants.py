"""The outcome of automatic mutants: a row each, the score of each folder by judge, and the survivors."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.mutants.automatic.campaign import Judged

RULES = ("proofs", "exploration")
"""The judges that need nothing but the rules."""


def row(judged: "Judged") -> str:
    """One mutant: what was edited, and the complaint of each judge."""
    edit = judged.edit
    complaints = ", ".join(f"{judge} {found or '-'}" for judge, found in judged.complaints.items())
    if judged.same_paths:
        complaints = f"equivalent on all {judged.same_paths:,} paths of the proofs"
    return f"{edit.id}  line {edit.line}: {_short(edit.before)} -> {_short(edit.after)}\n    {complaints}"


def score(found: Sequence["Judged"]) -> Iterator[str]:
    """A line for each folder: mutants, and how many of them each judge complains of."""
    for folder in sorted({_folder(one) for one in found}):
        edited = [one for one in found if _folder(one) == folder]
        here = [one for one in edited if one.is_mutant]
        judges = tuple(edited[0].complaints)
        counts = [f"{judge} {sum(one.killed_by(judge) for one in here)}" for judge in judges]
        if set(RULES) <= {*judges}:
            counts.append(f"rules alone {sum(one.killed_by(*RULES) for one in here)}")
        killed = sum(one.killed_by(*judges) for one in here)
        same = sum(bool(one.same_paths) for one in here)
        apart = f"; {same} proved equivalent" if same else ""
        apart += f"; {len(edited) - len(here)} edits are no TLA+" if len(edited) > len(here) else ""
        yield f"{folder:<18} {len(here):>5} mutants, {killed} killed: {', '.join(counts)}{apart}"


def survivors(found: Sequence["Judged"]) -> list["Judged"]:
    """The mutants that no judge complains of, and that are not proved equivalent."""
    return [one for one in found if one.survives]


def closing(found: Sequence["Judged"], total: int, again: str) -> str:
    """The verdict with its bound, and the command that repeats it."""
    left = survivors(found)
    outcome = f"{len(left)} survived every judge" if left else "no mutant survived every judge"
    edits = f"{len(found):,} of {total:,} first-order edits judged"
    return f"{verdict(found).value}   {edits}; {outcome}\nagain   {again}"


def verdict(found: Sequence["Judged"]) -> Verdict:
    """CONFORMS if each mutant was killed; without a mutant nothing is known."""
    if not any(one.is_mutant for one in found):
        return Verdict.UNDETERMINED
    return Verdict.DIVERGES if survivors(found) else Verdict.CONFORMS


def _folder(judged: "Judged") -> str:
    layer, *_, folder, _ = judged.edit.module.split(".")
    return f"{layer}/{folder}"


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 60 else f"{one_line[:57]}..."
