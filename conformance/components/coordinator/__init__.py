"""The checkpoint coordinator in the suite: random events, its modules of TLA+, replays of a divergence."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from conformance.components.component import Component
from conformance.components.coordinator.parts import project_job, project_master_phase, project_scheduler
from conformance.components.coordinator.projection import project_coordinator, project_failures, project_files
from conformance.components.coordinator.tla_binding import bind_coordinator
from conformance.components.coordinator.walks import CONFIGS, walk_coordinator
from conformance.suites.coordinator import coordinator_alphabets

if TYPE_CHECKING:
    from model.checker.prove import Case


def directed_coordinator() -> "Iterator[Case]":
    """The symbolic cases of a coordinator of two tasks: pending and stored checkpoints, waiting requests."""
    from model.coordinator.proofs.coordinator import coordinator_cases

    for pending, queue, stored in ((0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1), (2, 0, 0), (2, 1, 0)):
        yield from coordinator_cases(2, pending, queue, stored, 2)


COMPONENT = Component(
    alphabets=coordinator_alphabets,
    configs=CONFIGS,
    walks=700,
    paths_hit=214,
    walk=walk_coordinator,
    cases=directed_coordinator,
    projections={
        "CoordinatorModel": project_coordinator,
        "ClaimModes": project_coordinator,
        "FailuresModel": project_failures,
        "SharedState": project_files,
        "Scheduler": project_scheduler,
        "TriggerModel": project_master_phase,
        "JobLifecycleModel": project_job,
    },
    bind=bind_coordinator,
)
