"""Events and effects of the store of completed checkpoints."""

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
class AskLatest(Event):
    """Somebody asks for the latest checkpoint."""


@word("shutdown")
class Shutdown(Event):
    """The job ended for good; `discard` if its checkpoints are not kept."""

    discard: bool


@word("subsumed")
class Subsumed(Effect):
    """The highest id that an addition to the store dropped and discarded."""

    checkpoint: int


@word("latest")
class Latest(Effect):
    """The last checkpoint added; None for an empty store."""

    checkpoint: int | None


StoreEvent: TypeAlias = AddCheckpoint | AskLatest | Shutdown
StoreEffect: TypeAlias = DiscardCheckpoint | Subsumed | Latest
StoreEffects: TypeAlias = tuple[StoreEffect, ...]
