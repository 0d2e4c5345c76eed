"""The store of the completed checkpoints of one job, which decides which checkpoints are retained.

The store is a list in the order of addition, which may differ from the order of ids. An addition drops the
oldest elements until `retain` are left, but never the last element. From 1.12 on only the addition of a
stop-with-savepoint may drop the newest element that is not a savepoint. Rules: SUB-06 to SUB-09. The store
deletes no file. Its effects name the checkpoints to delete.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from impl.core import component
from impl.core.coordinator.events import DiscardCheckpoint
from impl.core.coordinator.profiles import (
    COORDINATOR_PROFILES,
    NEWEST_COORDINATOR,
    NEWEST_NAME,
    CoordinatorProfile,
)
from impl.core.errors import ConfigError, ProtocolError
from impl.core.events import CheckpointType
from impl.core.store import events


class StorePhase(Enum):
    """Whether the store accepts events."""

    OPEN = "open"
    SHUT_DOWN = "shut down"


class Completed(NamedTuple):
    """One element of the store. `shared`: the handles of files that other checkpoints may also use."""

    checkpoint: int
    type: CheckpointType
    shared: tuple[str, ...] = ()


class CompletedCheckpointStore(component.Component[events.StoreEvent, events.StoreEffect]):
    """The store. `retain`: number of retained checkpoints; `kept`: the first elements, oldest first.

    Raises ConfigError if `retain` is below 1.
    """

    def __init__(
        self,
        retain: int = 1,
        profile: CoordinatorProfile = NEWEST_COORDINATOR,
        kept: Iterable[Completed] = (),
    ) -> None:
        if retain < 1:
            raise ConfigError(
                f"retain must be at least 1, got {retain}; correct it, a restore needs a checkpoint"
            )
        self._retain = retain
        self._profile = profile
        self._phase = StorePhase.OPEN
        self._completed: list[Completed] = list(kept)

    @property
    def completed(self) -> tuple[int, ...]:
        """The retained ids, in the order of addition."""
        return tuple(one.checkpoint for one in self._completed)

    @property
    def elements(self) -> tuple[Completed, ...]:
        """The retained checkpoints, in the order of addition."""
        return tuple(self._completed)

    @property
    def newest(self) -> int | None:
        """The id added last; None for an empty store (SUB-06)."""
        return self._completed[-1].checkpoint if self._completed else None

    def add(self, checkpoint: int, type: CheckpointType = CheckpointType.CHECKPOINT) -> events.StoreEffects:  # noqa: A002
        """Add a completed checkpoint, and drop those above the limit (SUB-07).

        Raises ProtocolError if the id is in the store.
        """
        self._require_open()
        component.require_checkpoint_id(checkpoint)
        if any(one.checkpoint == checkpoint for one in self._completed):
            raise ProtocolError(
                f"expected an id that is not in the store, got {checkpoint}; add every id once"
            )
        dropped = self.put(Completed(checkpoint, type))
        discarded = [one.checkpoint for one in dropped if one.type is CheckpointType.CHECKPOINT]
        effects: list[events.StoreEffect] = [DiscardCheckpoint(one) for one in discarded]  # SUB-09
        if discarded and self._profile.subsumed_notifications:
            effects.append(events.Subsumed(max(discarded)))
        return tuple(effects)

    def put(self, completed: Completed) -> list[Completed]:
        """Add `completed`; returns the dropped checkpoints, oldest first."""
        self._completed.append(completed)
        if self._profile.protects_newest_checkpoint:
            return self._drop_above_limit()
        dropped = self._completed[: -self._retain]
        del self._completed[: -self._retain]
        return dropped

    def latest(self) -> events.StoreEffects:
        """The checkpoint to restore is requested."""
        self._require_open()
        return (events.Latest(self.newest),)

    def shutdown(self, discard: bool) -> events.StoreEffects:
        """The job has ended. With `discard`, the effects delete its checkpoints, but no savepoint."""
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
        """The state field `completed`."""
        return {"completed": list(self.completed)}

    def _drop_above_limit(self) -> list[Completed]:
        """Drop the oldest elements that SUB-07 allows to drop, until `retain` are left; returns them."""
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
            raise ProtocolError("the store was shut down and accepts no event; make a new one")

    _events = component.events_of(events.StoreEvent)


def store_from_config(
    config: Mapping[str, object], kept: Iterable[Completed] = ()
) -> CompletedCheckpointStore:
    """A store with the options of a configuration of the wire; `kept`: its first elements, oldest first.

    Raises ConfigError for a wrong value, UnsupportedError for an unknown profile.
    """
    component.only_keys(config, ("retain", "profile"))
    profile = component.supported(config, "profile", COORDINATOR_PROFILES, NEWEST_NAME)
    retain = component.positive_int(config, "retain")
    return CompletedCheckpointStore(retain, COORDINATOR_PROFILES[profile], kept)
