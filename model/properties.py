"""Every rule as a predicate over the model: `PROPERTIES` in the order of the rule index.

Several predicates may state one rule: one over steps, for example, and one over states that makes the rule
inductive. The explorer evaluates the predicates, and the prover evaluates them on symbols. If a step is
wrong, the violated predicate names the rule.
"""

from model.channel.properties import CHANNEL, EXCHANGE
from model.component_modules import BY_NAME, part_of
from model.coordinator.properties.checkpoint_end import COORDINATOR_ENDS
from model.coordinator.properties.checkpoint_start import COORDINATOR_BEGINS
from model.coordinator.properties.claim_modes import COORDINATOR_CLAIMS
from model.coordinator.properties.cleaning import COORDINATOR_CLEANING
from model.coordinator.properties.coordinator import COORDINATOR
from model.coordinator.properties.failures import COORDINATOR_FAILURES
from model.coordinator.properties.frames import COORDINATOR_FRAMES
from model.coordinator.properties.history import COORDINATOR_HISTORY
from model.coordinator.properties.input_output import COORDINATOR_IO
from model.coordinator.properties.job import COORDINATOR_LIFE
from model.coordinator.properties.requests import COORDINATOR_REQUESTS, COORDINATOR_TURNS
from model.coordinator.properties.scheduler import COORDINATOR_SCHEDULER
from model.coordinator.properties.store import COORDINATOR_FAILING_STORE, COORDINATOR_STORE, SUBSUMPTION
from model.dataflow.properties import DATAFLOW
from model.gate.properties.aligned import GATE
from model.gate.properties.alternating import PASSAGE
from model.gate.properties.buffering import BUFFER
from model.gate.properties.history import HISTORY
from model.gate.properties.polled import NETWORK
from model.gate.properties.tracking import TRACKER
from model.gate.properties.two_threads import THREADS
from model.gate.properties.unaligned import UNALIGNED_GATE
from model.registry import Property
from model.sink.properties import SINK, SINK_HISTORY
from model.source.properties import SOURCE
from model.store.properties import STORE
from model.subtask.properties.generations import SUBTASK_GENERATIONS
from model.subtask.properties.subtask import SUBTASK

__all__ = ["PROPERTIES", "Property", "of_component"]

PROPERTIES: tuple[Property, ...] = tuple(
    found
    for registry in (
        GATE,
        NETWORK,
        HISTORY,
        BUFFER,
        TRACKER,
        UNALIGNED_GATE,
        PASSAGE,
        THREADS,
        CHANNEL,
        EXCHANGE,
        SUBTASK,
        SUBTASK_GENERATIONS,
        SOURCE,
        COORDINATOR,
        COORDINATOR_REQUESTS,
        COORDINATOR_FAILURES,
        COORDINATOR_FAILING_STORE,
        COORDINATOR_FRAMES,
        COORDINATOR_ENDS,
        COORDINATOR_BEGINS,
        COORDINATOR_SCHEDULER,
        COORDINATOR_LIFE,
        COORDINATOR_STORE,
        COORDINATOR_TURNS,
        COORDINATOR_CLEANING,
        COORDINATOR_IO,
        COORDINATOR_CLAIMS,
        COORDINATOR_HISTORY,
        SUBSUMPTION,
        STORE,
        SINK,
        SINK_HISTORY,
        *(part_of(name, "properties", name.upper()) for name in BY_NAME),
        DATAFLOW,
    )
    for found in registry.properties
)


def of_component(component: str) -> tuple[Property, ...]:
    """The properties of one component."""
    return tuple(found for found in PROPERTIES if found.component == component)
