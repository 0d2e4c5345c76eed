"""A source's task on the wire: triggers, and the hook of an externally induced source."""

from model import fields
from model.events import Step
from model.fields import Wire, WireError
from model.source import source_task
from model.source.source_task import NEWEST_SOURCE, PLAIN, SOURCE_PROFILES, Source

EXTERNAL = ("no", "function", "reader")
"""The names of PLAIN, FUNCTION and READER on the wire."""

KINDS = ("trigger", "induce", "ended", "status")
ELSEWHERE = "elsewhere"


def new_source(config: Wire) -> Source:
    """A source of the configured `profile` and `external`. Raises WireError if they are not valid."""
    fields.only(config, ("profile", "external"), "config")
    name = fields.choice(config, "profile", tuple(SOURCE_PROFILES), default=NEWEST_SOURCE.name)
    external = fields.choice(config, "external", EXTERNAL, default=EXTERNAL[PLAIN])
    return source_task.new_source(EXTERNAL.index(external), SOURCE_PROFILES[name])


def step_source(source: Source, event: Wire) -> Step[Source]:
    """The step of one trigger, hook, end of a checkpoint, or status. Raises WireError if it is not legal."""
    kind = fields.kind_of(event, KINDS)
    if kind == "status":
        return source_task.on_status(source, fields.boolean(event, "running"))
    checkpoint = fields.checkpoint(event)
    if kind == "trigger":
        to = fields.choice(event, "to", ("here", ELSEWHERE), default="here")
        return source_task.on_trigger(source, checkpoint, to != ELSEWHERE)
    if kind == "ended":
        return source_task.on_ended(source, checkpoint)
    if source.external == PLAIN:
        raise WireError("induce: the source is not externally induced, it has no hook; trigger it")
    return source_task.on_induce(source, checkpoint)


def observe_source(source: Source) -> dict[str, object]:
    """The observable state: `running`, `told`, `ahead`, `reads`."""
    return {
        "running": source.running,
        "told": list(source.told),
        "ahead": list(source.ahead),
        "reads": not source.ahead,
    }
