"""The symbolic cases of a source's task, with any ids, by the numbers of ids that it awaits.

The numbers have no bound in the protocol. The shapes have at most three ids.
"""

from collections.abc import Iterator

from model.checker.prove import Case
from model.checker.symbolic import symbolic_like
from model.events import Status
from model.source import source_task
from model.source.events import Ended, Induce, TriggerArrives
from model.source.properties import FUNCTION, PLAIN, READER, needs_both
from model.source.source_task import SOURCE_PROFILES, Source
from model.steps import step_of

EVENTS = (TriggerArrives(0), Induce(0), Ended(0), Status(running=True))
AWAITED = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (2, 1), (1, 2))
"""Pairs: the number of ids that await their hook, and the number of ids that await their trigger."""


def all_source_cases() -> Iterator[Case]:
    """Yields each event of every kind of source, in each generation. A plain source has no hook."""
    for profile in SOURCE_PROFILES.values():
        for external in (PLAIN, FUNCTION, READER):
            new = source_task.new_source(external, profile)
            for triggered, ahead in AWAITED if needs_both(new) else ((0, 0),):
                yield from source_cases(new, triggered, ahead)


def source_cases(new: Source, triggered: int, ahead: int) -> Iterator[Case]:
    """Yields each event at a source of the kind of `new` that awaits these numbers of hooks and triggers."""
    shape = new._replace(triggered=(0,) * triggered, ahead=(0,) * ahead)
    state = symbolic_like(shape, "source")._replace(external=new.external)
    for event in EVENTS:
        if new.external != PLAIN or type(event) is not Induce:
            yield Case(
                "source",
                f"{new.profile!r}, external {new.external}, {triggered} and {ahead} awaited, {event.kind}",
                state,
                symbolic_like(event, "event"),
                step_of("source"),
                (),
            )
