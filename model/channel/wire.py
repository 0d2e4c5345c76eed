"""One channel in the adapter protocol, from its sender to its receiver."""

from collections.abc import Hashable
from typing import Any

from model.channel import channel
from model.channel.channel import AWAITED, CHANNEL_PROFILES, Channel, Queue
from model.channel.events import MakeUrgent, ResumeSender
from model.channel.generations import channel_steps
from model.channel.items import Mark
from model.component import Component
from model.events import NONE, Step
from model.fields import Wire, WireError, Words, names_of
from model.steps import HANDLERS, step_of

_ALIGNMENTS = names_of("alignment")
WORDS = Words("channel", HANDLERS["channel"])
_STEP = step_of("channel")


def new_channel(config: Wire) -> Channel:
    """An empty channel of the configured `profile`. Raises WireError if the configuration is not valid."""
    return channel.new_channel(CHANNEL_PROFILES[WORDS.config(config)["profile"]])


def step_channel(state: Channel, wire: Wire) -> Step[Channel]:
    """The step of one event at either end, or of a transfer. Raises WireError if the event is not legal."""
    event = WORDS.read(wire)
    if type(event) is ResumeSender and not state.blocked:
        raise WireError("resume: the sender has not stopped after an aligned barrier; leave it out")
    if type(event) is MakeUrgent and not channel_steps(state).may_prioritise(state, event.checkpoint):
        raise WireError(
            f"prioritise: the barrier of checkpoint {event.checkpoint} must be announced and wait at the "
            "receiver, no newer barrier may have arrived, and its snapshot must not have ended (1.13+)"
        )
    return _STEP(state, event)


def observe_channel(state: Channel) -> dict[str, object]:
    """The observable state: `output`, `input`, `blocked`, `promised`, `persisting`, `recovering`."""
    return {
        "output": _shown(state.output),
        "input": _shown(state.input),
        "blocked": state.blocked,
        "promised": None if state.promised == NONE else state.promised,
        "persisting": state.seen if state.phase == AWAITED else None,
        "recovering": state.restored,
    }


def _shown(queue: Queue) -> list[list[object]]:
    shown: list[list[object]] = []
    for item in queue:
        shown.append([item.kind, item[0]])
        if type(item) is Mark:
            shown[-1].append(_ALIGNMENTS[item.alignment])
    return shown


def key_of_channel(state: Channel) -> Hashable:
    """The state as a key. While it holds items, the key is text, because Python's 1 and True are equal."""
    return repr(state) if state.output or state.input else state


def config_of_channel(state: Channel) -> dict[str, Any]:
    """The configuration of a closed model's channel."""
    return {"profile": state.profile.name}


COMPONENT = Component(
    "channel", WORDS, new_channel, step_channel, observe_channel, config_of_channel, key=key_of_channel
)
