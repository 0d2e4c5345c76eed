"""The protocol core: one package for each component of the protocol, without input and output.

    gate          the input gate of a task, in every mode and generation
    channel       one channel whose barriers may overtake
    subtask       the snapshot steps of a subtask
    source        the answers of a source's task when it is triggered
    coordinator   the checkpoint coordinator of a job
    store         the completed checkpoints and their shared state
    sink          two-phase commit of a transactional sink
    offsets       a source that commits its offsets
    fencing       drivers that share a storage

`component` has the base class of all components, which take an event and return effects. `events` and
`effects` have the events and effects that several components share. `wire` converts them to JSON and back.
`errors` has the errors. No module of this package reads a file, a clock or a random number, or imports the
runtime.

`COMPONENTS` makes a component from the JSON configuration of a request (docs/adapter-protocol.md).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from impl.core.channel.channel import Channel, channel_from_config
from impl.core.component import Component, Effects
from impl.core.coordinator.coordinator import Coordinator, coordinator_from_config
from impl.core.coordinator.failures import CheckpointFailureManager
from impl.core.coordinator.job import Task
from impl.core.coordinator.options import CoordinatorOptions
from impl.core.coordinator.pending import PendingCheckpoint
from impl.core.effects import Effect
from impl.core.errors import ConfigError, ProtocolError, UnsupportedError
from impl.core.events import CheckpointType, Event
from impl.core.fencing.fencing import fencing_from_config
from impl.core.gate.aligned import AlignedGate
from impl.core.gate.from_config import gate_from_config
from impl.core.gate.polled_gate import PolledGate
from impl.core.offsets.offsets import OffsetCommitter, offsets_from_config
from impl.core.sink.two_phase_commit import PreCommitted, SinkSnapshot, TransactionalSink, sink_from_config
from impl.core.source.source_task import SourceTask, source_from_config
from impl.core.store.store import CompletedCheckpointStore, store_from_config
from impl.core.subtask.subtask import Subtask, subtask_from_config
from impl.core.wire import Wire

__all__ = [
    "AlignedGate",
    "Channel",
    "CheckpointFailureManager",
    "CheckpointType",
    "CompletedCheckpointStore",
    "Component",
    "ConfigError",
    "Coordinator",
    "CoordinatorOptions",
    "Effect",
    "Effects",
    "Event",
    "OffsetCommitter",
    "PendingCheckpoint",
    "PolledGate",
    "PreCommitted",
    "ProtocolError",
    "SinkSnapshot",
    "SourceTask",
    "Subtask",
    "Task",
    "TransactionalSink",
    "UnsupportedError",
    "Wire",
]

COMPONENTS: Final[Mapping[str, Callable[[Mapping[str, object]], Component[Any, Any]]]] = MappingProxyType(
    {
        "gate": gate_from_config,
        "channel": channel_from_config,
        "subtask": subtask_from_config,
        "coordinator": coordinator_from_config,
        "store": store_from_config,
        "sink": sink_from_config,
        "offsets": offsets_from_config,
        "source": source_from_config,
        "fencing": fencing_from_config,
    }
)
"""Maps each component's name on the wire to a function that makes a component from a configuration.

The function raises ConfigError for a wrong configuration, UnsupportedError for a valid configuration that
this implementation does not offer.
"""
