"""The closed models of the modes beside exactly-once: each mode has a room of its own."""

from model.closed.buffer import buffer_worlds
from model.closed.channel import channel_worlds
from model.closed.overtaking import overtaking_worlds
from model.closed.threads import threads_worlds
from model.closed.tracking import tracker_worlds
from model.closed.worlds import World


def mode_worlds() -> tuple[World, ...]:
    """Those that are explored, toured and mutated."""
    return (
        *buffer_worlds(),
        *tracker_worlds(),
        *overtaking_worlds(),
        *threads_worlds(),
        *channel_worlds(),
    )
