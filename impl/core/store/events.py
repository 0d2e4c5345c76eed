"""Events and effects of the completed-checkpoint store (vocabulary: `store`)."""

from typing import TypeAlias

from impl.core.coordinator.events import DiscardCheckpoint
from impl.core.effects import Effect
from impl.core.events import CheckpointType, Event
from impl.core.wire import word


@word("add")
class AddCheckpoint(Event):
    """A completed checkpoint is added."""

    checkpoint: int
    type: CheckpointType


@word("latest")
class LatestRequest(Event):
    """The checkpoint to restore is requested."""


@word("shutdown")
class Shutdown(Event):
    """The job has ended. `discard`: its checkpoints are not kept."""

    discard: bool


@word("subsumed")
class Subsumed(Effect):
    """The highest checkpoint that the addition has dropped and deleted."""

    checkpoint: int


@word("latest")
class Latest(Effect):
    """The checkpoint to restore; None for none."""

    checkpoint: int | None


StoreEvent: TypeAlias = AddCheckpoint | LatestRequest | Shutdown
StoreEffect: TypeAlias = DiscardCheckpoint | Subsumed | Latest
StoreEffects: TypeAlias = tuple[StoreEffect, ...]
