"""The closed models that are explored, toured and mutated."""

from model.checker.closed_model import World
from model.coordinator.environment.plain import coordinator_world
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.gate.environment.aligned import gate_world, network_world
from model.gate.profiles import NEWEST, PROFILES
from model.store.environment import store_world


def small_worlds() -> tuple[World, ...]:
    """The closed models that are explored, toured and mutated: every rule of a component fires in one."""
    from model.coordinator.environment.subjects import coordinator_worlds  # they are made of World
    from model.gate.environment.modes import mode_worlds
    from model.offsets.environment import offsets_worlds
    from model.sink.environment import sink_worlds
    from model.source.environment import source_worlds
    from model.subtask.environment import subtask_worlds

    gates = tuple(
        gate_world(channels, ids, counts_as_aligned=counts_as_aligned, polled=polled)
        for channels, ids in ((1, 3), (2, 3), (3, 3))
        for counts_as_aligned in (True, False)
        for polled in (True, False)
    )
    older = tuple(
        gate_world(channels, ids, counts_as_aligned=False, polled=False, profile=profile)
        for profile in PROFILES.values()
        if profile is not NEWEST
        for channels, ids in ((1, 3), (2, 3), (3, 2))
    )
    return (
        *gates,
        *older,
        gate_world(2, 3, counts_as_aligned=True, polled=False, injects=True),
        gate_world(3, 2, counts_as_aligned=True, polled=True, injects=True),
        network_world(2, 2, 2),
        *mode_worlds(),
        *subtask_worlds(),
        coordinator_world(2, 3, max_concurrent=2, retain=1),
        coordinator_world(2, 2, max_concurrent=1, retain=2),
        *coordinator_worlds(),
        store_world(1, 4),
        store_world(2, 4),
        *(store_world(2, 3, COORDINATOR_PROFILES[name]) for name in ("1.11", "1.14")),
        *sink_worlds(),
        *offsets_worlds(),
        *source_worlds(),
    )
