"""Which component two names are generations of."""

from collections.abc import Iterable, Sequence

from model.channel.channel import CHANNEL_PROFILES
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.gate.profiles import PROFILES
from model.sink.two_phase_commit import SINK_PROFILES
from model.subtask.profiles import TASK_PROFILES

GENERATIONS: dict[str, Iterable[str]] = {
    "gate": PROFILES,
    "channel": CHANNEL_PROFILES,
    "coordinator": COORDINATOR_PROFILES,
    "store": COORDINATOR_PROFILES,
    "subtask": TASK_PROFILES,
    "sink": SINK_PROFILES,
}


def component_of(old: str, new: str, wanted: Sequence[str]) -> str | None:
    """The first component, of those that are wanted, that has both; None if they are no generations."""
    for component, names in GENERATIONS.items():
        if (component in wanted or not wanted) and {old, new} <= set(names):
            return component
    return None
