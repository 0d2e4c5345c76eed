"""The closed models of gates in all modules except `aligned`, and those of channels."""

from model.channel.environment import closed_channel_models
from model.checker.closed_model import ClosedModel
from model.gate.environment.buffering import closed_buffer_models
from model.gate.environment.tracking import closed_tracker_models
from model.gate.environment.two_threads import closed_threads_models
from model.gate.environment.unaligned import closed_overtaking_models


def closed_mode_models() -> tuple[ClosedModel, ...]:
    """Returns the closed models of these modules that the suite explores."""
    return (
        *closed_buffer_models(),
        *closed_tracker_models(),
        *closed_overtaking_models(),
        *closed_threads_models(),
        *closed_channel_models(),
    )
