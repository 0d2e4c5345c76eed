"""`barrierspec mutants --automatic`: tests first-order mutants of the protocol modules, one by one."""

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from conformance.mutants.automatic.operators import Edit


class Chosen(NamedTuple):
    """The mutants to test."""

    layers: tuple[str, ...]
    components: tuple[str, ...]
    """The folders of the modules; empty: all."""
    sample: int | None
    """The number of mutants, drawn by the seed; None: all."""
    seed: int

    def edits(self) -> tuple[list["Edit"], int]:
        """The chosen mutants, and the number of mutants from which they are drawn."""
        from conformance.mutants.automatic.modules import edits, folder_of

        every = [edit for layer in self.layers for edit in edits(layer)]
        every = [edit for edit in every if not self.components or folder_of(edit) in self.components]
        if self.sample is None:
            return every, len(every)
        return sorted(Random(self.seed).sample(every, min(self.sample, len(every)))), len(every)

    @property
    def again(self) -> str:
        """The command line that tests these mutants again."""
        words = [f"--layer {name}" for name in self.layers] + [
            f"--component {name}" for name in self.components
        ]
        words += [] if self.sample is None else [f"--sample {self.sample} --seed {self.seed}"]
        return " ".join(["barrierspec mutants --automatic", *words])


class How(NamedTuple):
    """The options for the test of mutants and for its report."""

    out: Path
    resume: bool
    judged: bool
    """Whether to test no mutant, and to report only the outcomes in `out`."""
    at_once: int
    first: bool
    """Whether the checks of a mutant end with the first check that detects it."""
    threshold: float
    """The minimum percentage of mutants that are killed or proved equivalent."""
    page: Path | None
    seconds: float
    """After this time no automatic mutant begins; inf: no limit."""


def judge_automatic(chosen: Chosen, how: How) -> int:
    """Test the mutants, and print which checks detect each mutant; returns the exit code.

    Raises UsageError if no protocol module has such mutants.
    """
    from conformance.machine import source
    from conformance.mutants.automatic.campaign import judge_all
    from conformance.mutants.automatic.modules import left_out
    from conformance.mutants.automatic.operators import NO_PROTOCOL
    from conformance.mutants.automatic.record import Record
    from conformance.parts.result import DUMPS
    from conformance.report import automatic_mutants as report

    edits, total = chosen.edits()
    if not edits:
        raise click.UsageError("no protocol module has this layer and component; leave one of them out")
    record = Record(how.out, how.first)
    before = record.resumed(edits) if how.resume or how.judged else {}
    if not (how.resume or how.judged):
        record.begin()
    edits = [edit for edit in edits if edit.id in before or not how.judged]
    found = list(before.values())
    click.echo(f"{len(edits):,} of {total:,} automatic mutants, {len(found):,} judged before; {how.out}")
    left = [edit for edit in edits if edit.id not in before]
    dumps = Path("build") / DUMPS
    for judged in judge_all(left, dumps, at_once=how.at_once, first=how.first, seconds=how.seconds):
        record.add(judged)
        found.append(judged)
        click.echo(report.row(judged))
    for line in (*report.score(found), *report.shares(found)):
        click.echo(line)
    again = " ".join(
        [
            chosen.again,
            *(["--first"] if how.first else []),
            *(["--threshold", f"{how.threshold:g}"] if how.threshold < 100 else []),
        ]
    )
    if not how.judged:
        record.end(again)
    click.echo(report.closing(found, total, how.threshold, again, drawn=len(edits)))
    if how.page is not None:
        out = {f"{name}: {NO_PROTOCOL[name]}": count for name, count in left_out(chosen.layers).items()}
        how.page.write_text(report.page(found, total, record.runs(), source(), out), "utf-8")
    return report.verdict(found, how.threshold, drawn=len(edits)).exit_code
