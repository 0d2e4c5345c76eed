"""The completed checkpoints of one job: which are kept, which are dropped, which is the latest.

The list is in the order of adding, which need not be the order of ids. An addition drops from the oldest
on until `retain` are left, but never the last element, and from 1.12 on never the newest checkpoint in
favour of a savepoint: a restore may need it. Rules: SUB-06 to SUB-09. The store deletes nothing; it says
what to.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple, assert_never

from impl.core.component import (
    Component,
    events_of,
    only_keys,
    positive_int,
    require_checkpoint_id,
    supported,
)
from impl.core.coordinator.events import DiscardCheckpoint
from impl.core.coordinator.profiles import (
    COORDINATOR_GENERATIONS,
    NEWEST_COORDINATOR,
    NEWEST_NAME,
    CoordinatorGeneration,
)
from impl.core.errors import ConfigError, ProtocolError
from impl.core.events import CheckpointType
from impl.core.store.events import (
    AddCheckpoint,
    AskLatest,
    Latest,
    Shutdown,
    StoreEffect,
    StoreEffects,
    StoreEvent,
    Subsumed,
)


class StorePhase(Enum):
    """Whether the store takes events."""

    OPEN = "open"
    SHUT_DOWN = "shut down"


class Completed(NamedTuple):
    """One element of the store; `shared`: the handles of files that others may use too."""

    checkpoint: int
    type: CheckpointType
    shared: tuple[str, ...] = ()


class CompletedCheckpointStore(Component):
    """Keeps at least the newest `retain` checkpoints."""

    def __init__(
        self,
        retain: int = 1,
        generation: CoordinatorGeneration = NEWEST_COORDINATOR,
        kept: Iterable[Completed] = (),
    ) -> None:
        if retain < 1:
            raise ConfigError(f"retain has to be at least 1, came {retain}; a job without any cannot restore")
        self._retain = retain
        self._generation = generation
        self._phase = StorePhase.OPEN
        self._completed: list[Completed] = list(kept)

    @property
    def completed(self) -> tuple[int, ...]:
        """The ids kept, in the order of adding."""
        return tuple(one.checkpoint for one in self._completed)

    @property
    def elements(self) -> tuple[Completed, ...]:
        """What is kept, in the order of adding."""
        return tuple(self._completed)

    @property
    def newest(self) -> int | None:
        """The last id added, None for an empty store (SUB-06)."""
        return self._completed[-1].checkpoint if self._completed else None

    def add(self, checkpoint: int, type: CheckpointType = CheckpointType.CHECKPOINT) -> StoreEffects:  # noqa: A002
        """A completed checkpoint is added, and what need not be kept is dropped."""
        self._require_open()
        require_checkpoint_id(checkpoint)
        if any(one.checkpoint == checkpoint for one in self._completed):
            raise ProtocolError(f"the store holds checkpoint {checkpoint} already; add every id once")
        dropped = self.put(Completed(checkpoint, type))
        discarded = [one.checkpoint for one in dropped if one.type is CheckpointType.CHECKPOINT]
        effects: list[StoreEffect] = [DiscardCheckpoint(one) for one in discarded]  # SUB-09
        if discarded and self._generation.subsumption_messages:
            effects.append(Subsumed(max(discarded)))
        return tuple(effects)

    def put(self, completed: Completed) -> list[Completed]:
        """`completed` is the newest now; answers what is kept no longer, oldest first."""
        self._completed.append(completed)
        if self._generation.keeps_the_newest_checkpoint:
            return self._drop_what_may_go()
        dropped = self._completed[: -self._retain]
        del self._completed[: -self._retain]
        return dropped

    def latest(self) -> StoreEffects:
        """Somebody asks for the latest."""
        self._require_open()
        return (Latest(self.newest),)

    def shutdown(self, discard: bool) -> StoreEffects:
        """The job ended for good; with `discard` its checkpoints go, savepoints belong to the user."""
        self._require_open()
        kept = self._completed
        self._completed = []
        self._phase = StorePhase.SHUT_DOWN
        if not discard:
            return ()
        return tuple(
            DiscardCheckpoint(one.checkpoint) for one in kept if one.type is CheckpointType.CHECKPOINT
        )

    def observe(self) -> dict[str, Any]:
        """`completed`: the ids in the order of adding."""
        return {"completed": list(self.completed)}

    def _drop_what_may_go(self) -> list[Completed]:
        """SUB-07: from the oldest on while more than `retain` are kept, whatever may go."""
        last = self._completed[-1]
        checkpoints = [one for one in self._completed if one.type is CheckpointType.CHECKPOINT]
        newest_checkpoint = checkpoints[-1] if checkpoints else None
        dropped: list[Completed] = []
        for one in tuple(self._completed):
            if len(self._completed) <= self._retain:
                break
            if one == last:  # SUB-06
                continue
            if one == newest_checkpoint and last.type is not CheckpointType.STOP:  # SUB-08
                continue
            self._completed.remove(one)
            dropped.append(one)
        return dropped

    def _require_open(self) -> None:
        if self._phase is StorePhase.SHUT_DOWN:
            raise ProtocolError("the store was shut down and takes no event; make a new one")

    def handle(self, event: StoreEvent) -> StoreEffects:
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
        match event:
            case AddCheckpoint(checkpoint, type):
                return self.add(checkpoint, type)
            case AskLatest():
                return self.latest()
            case Shutdown(discard):
                return self.shutdown(discard)
            case _:
                assert_never(event)

    _events = events_of(StoreEvent)


def store_from_config(config: Mapping[str, object]) -> CompletedCheckpointStore:
    """The store that a wire configuration asks for."""
    only_keys(config, ("retain", "profile"))
    profile = supported(config, "profile", COORDINATOR_GENERATIONS, NEWEST_NAME)
    return CompletedCheckpointStore(positive_int(config, "retain"), COORDINATOR_GENERATIONS[profile])
