"""Every rule as a predicate over the model: `PROPERTIES` in the order of the rule index.

A rule may be stated by several predicates (a step and the state that makes it inductive). They are
read three ways: evaluated by the explorer, read symbolically by the prover, and used to tell which
rule a wrong step breaks.
"""

from model.properties.buffer import BUFFER
from model.properties.channel import CHANNEL, EXCHANGE
from model.properties.coordinator import COORDINATOR
from model.properties.coordinator_generations import COORDINATOR_GENERATIONS
from model.properties.coordinator_life import COORDINATOR_LIFE
from model.properties.coordinator_store import COORDINATOR_STORE
from model.properties.coordinator_turns import COORDINATOR_TURNS
from model.properties.dataflow import DATAFLOW
from model.properties.gate import GATE, NETWORK
from model.properties.offsets import OFFSETS
from model.properties.registry import Property
from model.properties.sink import SINK
from model.properties.source import SOURCE
from model.properties.store import STORE
from model.properties.subsumption import SUBSUMPTION
from model.properties.subtask import SUBTASK
from model.properties.subtask_generations import SUBTASK_GENERATIONS
from model.properties.threads import THREADS
from model.properties.tracking import TRACKER
from model.properties.unaligned import UNALIGNED_GATE
from model.properties.unaligned_time import PASSAGE

__all__ = ["PROPERTIES", "Property", "of_component"]

PROPERTIES: tuple[Property, ...] = tuple(
    found
    for registry in (
        GATE,
        NETWORK,
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
        COORDINATOR_GENERATIONS,
        COORDINATOR_LIFE,
        COORDINATOR_STORE,
        COORDINATOR_TURNS,
        SUBSUMPTION,
        STORE,
        SINK,
        OFFSETS,
        DATAFLOW,
    )
    for found in registry.properties
)


def of_component(component: str) -> tuple[Property, ...]:
    """The properties of one component."""
    return tuple(found for found in PROPERTIES if found.component == component)
