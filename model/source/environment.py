"""The closed models of a source's task. spec/source/SourceModel.tla specifies the same system."""

from collections.abc import Iterator

from model.checker.closed_model import ClosedModel, Environment
from model.events import Event, Status
from model.source import source_task
from model.source.events import Ended, Induce, TriggerArrives
from model.source.source_task import NEWEST_SOURCE, PLAIN, READER, SOURCE_PROFILES, Source, SourceProfile
from model.steps import step_of

FUNCTION = 1
"""The kind of an externally induced function, with the number of the vocabulary. No step reads it."""
_NAMES = {PLAIN: "source", FUNCTION: "externally induced function", READER: "externally induced reader"}


def closed_source(ids: int, external: int, profile: SourceProfile = NEWEST_SOURCE) -> ClosedModel:
    """A source for which triggers and ends of ids from 1 to `ids` arrive at any time. The task may stop.

    Unless `external` is PLAIN, the external system may also call the hook for every id.
    """

    def offers(source: Source) -> Iterator[tuple[str, Event]]:
        yield "Status", Status(not source.running)
        for checkpoint in range(1, ids + 1):
            yield "TriggerArrives", TriggerArrives(checkpoint)
            yield "TriggerArrives", TriggerArrives(checkpoint, here=False)
            yield "Ended", Ended(checkpoint)
            if external != PLAIN:
                yield "Induce", Induce(checkpoint)

    return ClosedModel(
        f"{_NAMES[external]} of {profile!r}, ids to {ids}",
        "source",
        source_task.new_source(external, profile),
        (),
        offers,
        _anything,
        step_of("source"),
    )


def closed_source_models() -> tuple[ClosedModel, ...]:
    """The closed models of every kind of source, in each generation in which its behaviour differs."""
    oldest, older = SOURCE_PROFILES["1.10"], SOURCE_PROFILES["1.14"]
    return (
        closed_source(1, PLAIN),
        closed_source(2, FUNCTION),
        closed_source(3, READER),
        closed_source(2, READER, older),
        closed_source(1, PLAIN, oldest),
        closed_source(2, FUNCTION, oldest),
        closed_source(2, READER, oldest),
    )


def _anything(environment: Environment, event: Event) -> Environment:
    return environment
