"""A source's task in the adapter protocol: triggers, and the hook of an externally induced source."""

from typing import Any

from model.component import Component
from model.events import Step
from model.fields import Wire, WireError, Words, names_of
from model.source import source_task
from model.source.events import Induce
from model.source.source_task import PLAIN, SOURCE_PROFILES, Source
from model.steps import HANDLERS, step_of

WORDS = Words("source", HANDLERS["source"])
_STEP = step_of("source")


def new_source(config: Wire) -> Source:
    """A source of the configured `profile` and `external`. Raises WireError if they are not valid."""
    given = WORDS.config(config)
    return source_task.new_source(given["external"], SOURCE_PROFILES[given["profile"]])


def step_source(source: Source, wire: Wire) -> Step[Source]:
    """The step of one trigger, hook, end of a checkpoint, or status. Raises WireError if it is not legal."""
    event = WORDS.read(wire)
    if type(event) is Induce and source.external == PLAIN:
        raise WireError("induce: the source is not externally induced, so it has no hook; send trigger")
    return _STEP(source, event)


def observe_source(source: Source) -> dict[str, object]:
    """The observable state: `running`, `told` (the triggered ids), `ahead`, `reads`."""
    return {
        "running": source.running,
        "told": list(source.triggered),
        "ahead": list(source.ahead),
        "reads": not source.ahead,
    }


def config_of_source(source: Source) -> dict[str, Any]:
    """The configuration of a closed model's source."""
    return {"profile": source.profile.name, "external": names_of("external")[source.external]}


COMPONENT = Component("source", WORDS, new_source, step_source, observe_source, config_of_source)
