"""Defects that Flink once had, each with the shortest run that shows it: historic.toml.

`python -m tests.historic_defects TICKET [RELEASE...]` plays the runs of a ticket with the defect, in an older
generation or in a mutant, and without it. With releases it also plays them in their own classes, and compares
the answers with the generation of each. Ends with 1 if a run no longer shows its defect, or a release answers
otherwise.
"""

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import click

from conformance.adapters.flink.adapter import flink_adapter
from conformance.adapters.flink.releases import Release, release
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Wire
from conformance.divergence import Answer
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.errors import InputError
from conformance.own_process import own_process
from conformance.report.divergence import phrases
from conformance.vectors.transcripts import event_of
from conformance.verdict import Exit

SECONDS = 60.0
"""The time limit of one answer of a mutant."""


class HistoricError(InputError):
    """The ticket does not exist, or the file of defects cannot be read."""


class Defect(NamedTuple):
    """One defect. Its fields are those of historic.toml."""

    ticket: str
    wrong: str
    had: str
    fixed: str
    rule: str
    mutants: Sequence[str] = ()
    divergences: Sequence[str] = ()
    component: str = ""
    """Of the run; empty: the model checker alone sees it, or the known divergences have the run."""
    config: Wire = {}  # noqa: RUF012 - read only
    events: Sequence[str] = ()
    older: str = ""
    newer: str = ""
    mutant: str = ""
    seen: Sequence[str] = ()

    @property
    def number(self) -> str:
        """The ticket number, without the suffix that names a part of the ticket."""
        return self.ticket.partition(",")[0]

    @property
    def run(self) -> tuple[Wire, ...]:
        """The events of the run as JSON objects."""
        return tuple(map(event_of, self.events))


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(files("conformance.mutants").joinpath("historic.toml").read_text("utf-8"))


@cache
def load_defects() -> tuple[Defect, ...]:
    """All defects that can be put back, in the order of the file. Raises HistoricError."""
    try:
        return tuple(Defect(**entry) for entry in _read()["defect"])
    except TypeError as wrong:
        raise HistoricError(f"historic.toml: {wrong}") from wrong


def left_out() -> Iterator[tuple[str, str, str]]:
    """The tickets that cannot be put back: number, subject, and reason."""
    for group in _read()["outside"]:
        yield from ((ticket, subject, group["reason"]) for ticket, subject in group["tickets"])


def last_answers(defect: Defect) -> tuple[str, str]:
    """The answers to the last event of the run, with the defect and without it.

    They are equal if the run does not show the defect. They are also equal if a mutant already differs from
    the model at an earlier event.
    """
    if defect.mutant:
        oracle = Oracle(defect.component, defect.config)
        served = ProcessAdapter(own_process("conformance.mutants.mutant_adapter", defect.mutant), SECONDS)
        with served as adapter:
            found = replay(oracle, adapter, defect.run).divergence
        without = oracle.transcript(defect.run)[-1]
        if found is None or found.step < len(defect.events):
            return phrases.of_effects(without.effects), phrases.of_effects(without.effects)
        got, due = phrases.of_answer(found.got), phrases.of_answer(found.expected)
        states = isinstance(found.got, Answer) and got == due
        return (f"{got}, in another state" if states else got), due
    sides = [
        Oracle(defect.component, {**defect.config, "profile": name}).transcript(defect.run)[-1]
        for name in (defect.older, defect.newer)
    ]
    return phrases.of_effects(sides[0].effects), phrases.of_effects(sides[1].effects)


def is_answered_by(defect: Defect, one: Release) -> str | None:
    """Plays the run in a release. Returns the generation whose answer the release gives, or None."""
    of_release = {"gate": one.profile, "channel": one.channel, "subtask": one.subtask, "sink": one.sink}
    profile = of_release.get(defect.component, one.coordinator)
    oracle = Oracle(defect.component, {**defect.config, "profile": profile})
    with flink_adapter(one) as adapter:
        played = replay(oracle, adapter, defect.run)
    return profile if played.is_sound else None


def of_ticket(ticket: str) -> list[Defect]:
    """The defects of a ticket. Raises HistoricError if there is none."""
    found = [defect for defect in load_defects() if defect.number == ticket]
    if not found:
        reasons = [why for number, _, why in left_out() if number == ticket]
        raise HistoricError(f"{ticket}: " + (reasons[0] if reasons else "expected a ticket of historic.toml"))
    return found


@click.command()
@click.argument("ticket")
@click.argument("releases", nargs=-1)
def main(ticket: str, releases: tuple[str, ...]) -> None:
    """Plays the runs of TICKET with its defect and without it, and in RELEASES."""
    try:
        defects = of_ticket(ticket)
    except HistoricError as unknown:
        click.echo(unknown, err=True)
        raise SystemExit(Exit.USAGE) from unknown
    failed = False
    for defect in defects:
        click.echo(f"{defect.ticket}: {defect.wrong}")
        click.echo(f"  breaks {defect.rule}; releases: {defect.had}; fixed in {defect.fixed}")
        if not defect.component:
            where = ", ".join(defect.divergences) or "the model checker: " + ", ".join(defect.mutants)
            click.echo(f"  no run here; shown by {where}")
            continue
        for event in defect.run:
            click.echo(f"  {phrases.of_event(event)}")
        given, due = last_answers(defect)
        click.echo(f"  with it:    {given}   ({defect.mutant or 'generation ' + defect.older})")
        click.echo(f"  without it: {due}")
        failed = failed or given == due
        for version in releases if defect.older else ():
            profile = is_answered_by(defect, release(version))
            failed = failed or profile is None
            answers = (
                f"answers as generation {profile}" if profile else "ANSWERS OTHERWISE than its generation"
            )
            click.echo(f"  Flink {version} {answers}")
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
