"""The protocol core: one package for each component of the protocol, without input and output.

    gate          the input gate of a task, in every mode and generation
    channel       one channel whose barriers may overtake
    subtask       the snapshot steps of a subtask
    source        what a source's task does when it is triggered
    coordinator   the checkpoint coordinator of a job
    store         the completed checkpoints and their shared state
    sink          two-phase commit of a transactional sink
    offsets       a source that commits its offsets

`component` is the base of all: it takes an event and returns effects. `events` and `effects` have what
several components share, `wire` converts both to JSON, `errors` are the errors. No module here reads a file,
a clock or a random number, or knows the runtime.

`COMPONENTS` makes a component of a configuration of the wire (docs/adapter-protocol.md).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from impl.core.channel.channel import Channel as Channel
from impl.core.channel.channel import channel_from_config
from impl.core.component import Component as Component
from impl.core.component import Effects as Effects
from impl.core.coordinator.coordinator import Coordinator as Coordinator
from impl.core.coordinator.coordinator import coordinator_from_config
from impl.core.coordinator.failures import CheckpointFailureManager as CheckpointFailureManager
from impl.core.coordinator.job import Task as Task
from impl.core.coordinator.options import CoordinatorOptions as CoordinatorOptions
from impl.core.coordinator.pending import PendingCheckpoint as PendingCheckpoint
from impl.core.effects import Effect as Effect
from impl.core.errors import ConfigError as ConfigError
from impl.core.errors import ProtocolError as ProtocolError
from impl.core.errors import UnsupportedError as UnsupportedError
from impl.core.events import CheckpointType as CheckpointType
from impl.core.events import Event as Event
from impl.core.gate.aligned import AlignedGate as AlignedGate
from impl.core.gate.from_config import gate_from_config
from impl.core.gate.polled_gate import PolledGate as PolledGate
from impl.core.offsets.offsets import OffsetCommitter as OffsetCommitter
from impl.core.offsets.offsets import offsets_from_config
from impl.core.sink.two_phase_commit import Filed as Filed
from impl.core.sink.two_phase_commit import SinkSnapshot as SinkSnapshot
from impl.core.sink.two_phase_commit import TransactionalSink as TransactionalSink
from impl.core.sink.two_phase_commit import sink_from_config
from impl.core.source.source_task import SourceTask as SourceTask
from impl.core.source.source_task import source_from_config
from impl.core.store.store import CompletedCheckpointStore as CompletedCheckpointStore
from impl.core.store.store import store_from_config
from impl.core.subtask.subtask import Subtask as Subtask
from impl.core.subtask.subtask import subtask_from_config
from impl.core.wire import Wire as Wire

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
    }
)
"""From the name on the wire to a function that makes a new component of a configuration.

It raises ConfigError for a wrong configuration, UnsupportedError for one that is not offered.
"""
