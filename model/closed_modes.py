"""The closed models of the modes beside exactly-once: each mode has a room of its own."""

from model.closed import World
from model.closed_buffer import buffer_worlds
from model.closed_overtaking import overtaking_worlds
from model.closed_tracking import tracker_worlds


def mode_worlds() -> tuple[World, ...]:
    """Those that are explored, toured and mutated."""
    return (
        *buffer_worlds(),
        *tracker_worlds(),
        *overtaking_worlds(),
    )
