"""The protocol core, sans I/O: what a checkpoint is to each part of a job.

`gate` aligns the barriers of one task's input and `network` plays the channels behind it, `gates` picks
the mode and `generations` knows how releases differ; `link` is one channel whose barriers may overtake,
from its `sending` end to its `receiving` one; `subtask` takes the snapshot steps, and `source` stands before
those of a source; `transactions` is the two-phase commit of a sink. `coordinator` hears of all that happens
to a job's checkpoints: `starting` and `ending` are its steps, `books` what it remembers of the `job`, of
`requests` that wait, of `pending` checkpoints and of `retained` ones (`store`, `shared_state`); `failures`
counts, `scheduler` asks by itself. `schedule` is what a runtime with a clock asks on top. `events`,
`effects`, `coordinator_events` and `coordinator_effects` are the vocabulary, `words` its form on the wire,
`component` the frame of all. No file, clock, random or engine is known here.

`COMPONENTS` makes a component from a configuration of the wire (docs/adapter-protocol.md). It raises
`ConfigError` for a bad configuration, `UnsupportedError` for one that is not offered.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from impl.core.channel.channel import Link, link_from_config
from impl.core.component import Component, Effects
from impl.core.coordinator.coordinator import Coordinator, coordinator_from_config
from impl.core.coordinator.failures import CheckpointFailureManager
from impl.core.coordinator.job import Task
from impl.core.coordinator.options import CoordinatorOptions
from impl.core.coordinator.pending import PendingCheckpoint
from impl.core.effects import Effect
from impl.core.errors import ConfigError, ProtocolError, UnsupportedError
from impl.core.events import CheckpointType, Event
from impl.core.gate.aligned import InputGate
from impl.core.gate.from_config import gate_from_config
from impl.core.gate.polled_gate import PolledGate
from impl.core.offsets.offsets import OffsetCommits, offset_commits_from_config
from impl.core.sink.two_phase_commit import Filed, SinkSnapshot, TransactionalSink, sink_from_config
from impl.core.source.source_task import SourceTask, source_from_config
from impl.core.store.store import CompletedCheckpointStore, store_from_config
from impl.core.subtask.subtask import Subtask, subtask_from_config
from impl.core.wire import Wire

COMPONENTS: Final[Mapping[str, Callable[[Mapping[str, object]], Component]]] = MappingProxyType(
    {
        "gate": gate_from_config,
        "channel": link_from_config,
        "subtask": subtask_from_config,
        "coordinator": coordinator_from_config,
        "store": store_from_config,
        "sink": sink_from_config,
        "offsets": offset_commits_from_config,
        "source": source_from_config,
    }
)
"""By wire name: from a configuration to a fresh component."""

__all__ = [
    "COMPONENTS",
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
    "Filed",
    "InputGate",
    "Link",
    "OffsetCommits",
    "PendingCheckpoint",
    "PolledGate",
    "ProtocolError",
    "SinkSnapshot",
    "SourceTask",
    "Subtask",
    "Task",
    "TransactionalSink",
    "UnsupportedError",
    "Wire",
]
