"""A source's task behind the words of the wire: triggers, and the hook of one that is externally induced."""

from model import inducing
from model.components import words
from model.components.words import Wire, WireError
from model.events import Step
from model.inducing import NEWEST_SOURCE, PLAIN, SOURCE_PROFILES, Source

EXTERNAL = ("no", "function", "reader")
"""Words for PLAIN, FUNCTION and READER."""

KINDS = ("trigger", "induce", "ended", "status")
ELSEWHERE = "elsewhere"


def new_source(config: Wire) -> Source:
    """`profile`, `external`."""
    words.only(config, ("profile", "external"), "config")
    name = words.choice(config, "profile", tuple(SOURCE_PROFILES), default=NEWEST_SOURCE.name)
    external = words.choice(config, "external", EXTERNAL, default=EXTERNAL[PLAIN])
    return inducing.new_source(EXTERNAL.index(external), SOURCE_PROFILES[name])


def step_source(source: Source, event: Wire) -> Step[Source]:
    """One trigger, call of the hook, end of a checkpoint, or status."""
    kind = words.kind_of(event, KINDS)
    if kind == "status":
        return inducing.on_status(source, words.boolean(event, "running"))
    checkpoint = words.checkpoint(event)
    if kind == "trigger":
        to = words.choice(event, "to", ("here", ELSEWHERE), default="here")
        return inducing.on_trigger(source, checkpoint, to != ELSEWHERE)
    if kind == "ended":
        return inducing.on_ended(source, checkpoint)
    if source.external == PLAIN:
        raise WireError("induce: the source is not externally induced, it has no hook; trigger it")
    return inducing.on_induce(source, checkpoint)


def observe_source(source: Source) -> dict[str, object]:
    """`running`, `told`, `ahead`, `reads`."""
    return {
        "running": source.running,
        "told": list(source.told),
        "ahead": list(source.ahead),
        "reads": not source.ahead,
    }
