"""The closed models of the modes beside exactly-once: each mode has a room of its own."""

from model.channel.environment import channel_worlds
from model.checker.closed_model import World
from model.gate.environment.buffering import buffer_worlds
from model.gate.environment.tracking import tracker_worlds
from model.gate.environment.two_threads import threads_worlds
from model.gate.environment.unaligned import overtaking_worlds


def mode_worlds() -> tuple[World, ...]:
    """Those that are explored, toured and mutated."""
    return (
        *buffer_worlds(),
        *tracker_worlds(),
        *overtaking_worlds(),
        *threads_worlds(),
        *channel_worlds(),
    )
