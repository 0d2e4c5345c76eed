"""The list of closed models for the exploration, for tours, and for the judges of mutants."""

from model.checker.closed_model import ClosedModel
from model.component_modules import BY_NAME, part_of
from model.coordinator.environment.whole_coordinator import closed_coordinator, closed_coordinator_history
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.gate.environment.aligned import closed_gate, closed_history, closed_network
from model.gate.profiles import NEWEST, PROFILES
from model.store.environment import closed_store


def closed_models() -> tuple[ClosedModel, ...]:
    """Returns the closed models that the suite explores. Every rule fires in one of them."""
    from model.coordinator.environment.cleaning import closed_cleaning_models
    from model.coordinator.environment.subject_models import closed_coordinator_models
    from model.gate.environment.modes import closed_mode_models
    from model.sink.environment import closed_sink_models
    from model.source.environment import closed_source_models
    from model.subtask.environment import closed_subtask_models

    gates = tuple(
        closed_gate(channels, ids, counts_as_aligned=counts_as_aligned, polled=polled)
        for channels, ids in ((1, 3), (2, 3), (3, 3))
        for counts_as_aligned in (True, False)
        for polled in (True, False)
    )
    older = tuple(
        closed_gate(channels, ids, counts_as_aligned=False, polled=False, profile=profile)
        for profile in PROFILES.values()
        if profile is not NEWEST
        for channels, ids in ((1, 3), (2, 3), (3, 2))
    )
    return (
        *gates,
        *older,
        closed_gate(2, 3, counts_as_aligned=True, polled=False, injects=True),
        closed_gate(3, 2, counts_as_aligned=True, polled=True, injects=True),
        closed_network(2, 2, 2),
        closed_history(2, 3),
        *closed_mode_models(),
        *closed_subtask_models(),
        closed_coordinator(2, 3, max_concurrent=2, retain=1),
        closed_coordinator(2, 2, max_concurrent=1, retain=2),
        *closed_coordinator_models(),
        *closed_cleaning_models(),
        closed_coordinator_history(2, 2),
        closed_store(1, 4),
        closed_store(2, 4),
        *(closed_store(2, 3, COORDINATOR_PROFILES[name]) for name in ("1.11", "1.14")),
        *closed_sink_models(),
        *(one for name in BY_NAME for one in part_of(name, "environment", f"closed_{name}_models")()),
        *closed_source_models(),
    )
