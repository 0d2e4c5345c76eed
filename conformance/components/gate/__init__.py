"""The input gate in the suite: for each mode its random events and its binding to TLA+, for replays."""

from conformance.components.component import Component
from conformance.components.gate.aligned import project_gate, project_storing, project_tracker
from conformance.components.gate.tla_binding import bind_gate
from conformance.components.gate.unaligned import project_first_decides, project_threads, project_unaligned
from conformance.components.gate.walks import CONFIGS, walk_gate

COMPONENT = Component(
    configs=CONFIGS,
    walks=2500,
    paths_hit=794,
    walk=walk_gate,
    projections={
        "AlignedModel": project_gate,
        "BufferingModel": project_storing,
        "TrackingModel": project_tracker,
        "UnalignedModel": project_unaligned,
        "FirstDecidesModel": project_first_decides,
        "TwoThreadsModel": project_threads,
    },
    bind=bind_gate,
)
