"""A source's task on the wire: triggers, and the hook of an externally induced source."""

from typing import Any

from model.component import Component
from model.events import Event, Status, Step
from model.fields import Wire, WireError, Words, names_of
from model.source import source_task
from model.source.events import Ended, Induce, TriggerArrives
from model.source.generations import source_steps
from model.source.source_task import PLAIN, SOURCE_PROFILES, Source
from model.steps import step_of

HERE, ELSEWHERE = "here", "elsewhere"
WORDS = Words("source", (Induce, Ended, Status))
_STEP = step_of("source")


def new_source(config: Wire) -> Source:
    """A source of the configured `profile` and `external`. Raises WireError if they are not valid."""
    given = WORDS.config(config)
    return source_task.new_source(given["external"], SOURCE_PROFILES[given["profile"]])


def step_source(source: Source, wire: Wire) -> Step[Source]:
    """The step of one trigger, hook, end of a checkpoint, or status. Raises WireError if it is not legal."""
    kind, given = WORDS.event(wire)
    if kind == "trigger":
        return source_steps(source).on_trigger(source, given["checkpoint"], given["to"] == HERE)
    if kind == "induce" and source.external == PLAIN:
        raise WireError("induce: the source is not externally induced, it has no hook; trigger it")
    return _STEP(source, WORDS.read(wire))


def observe_source(source: Source) -> dict[str, object]:
    """The observable state: `running`, `told`, `ahead`, `reads`."""
    return {
        "running": source.running,
        "told": list(source.triggered),
        "ahead": list(source.ahead),
        "reads": not source.ahead,
    }


def config_of_source(source: Source) -> dict[str, Any]:
    """The configuration of a closed model's source."""
    return {"profile": source.profile.name, "external": names_of("external")[source.external]}


def script_of_source(event: Event, wire: dict[str, Any], handle: str, tasks: int) -> dict[str, Any]:
    """An event of a closed model: a trigger states where it arrives if the task is not there."""
    return wire | {"to": ELSEWHERE} if type(event) is TriggerArrives and not event.here else wire


COMPONENT = Component(
    "source", WORDS, new_source, step_source, observe_source, config_of_source, script=script_of_source
)
