"""Drivers and the storage that they share, in memory. Rules: FENCE-01 to FENCE-05.

`impl.state.checkpoint_storage` takes the same steps on a file system or an object store. Each event here
stands for one atomic operation of that module.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from impl.core.component import Component, events_of, only_keys, positive_int
from impl.core.errors import ConfigError, ProtocolError
from impl.core.fencing import events
from impl.core.fencing.attempts import overtaken_by, to_close

MOST_DRIVERS = 8


class Phase(Enum):
    """The last step of a driver."""

    IDLE = "idle"
    DRAWN = "drawn"
    FOUND = "found"
    RUNNING = "running"
    CHECKED = "checked"
    PUBLISHED = "published"


@dataclass
class _Driver:
    phase: Phase = Phase.IDLE
    attempt: int = 0
    checkpoint: int = 0
    """The checkpoint that the driver has found, or is publishing; 0 for none."""


class Fencing(Component[events.FencingEvent, events.FencingEffect]):
    """`drivers` drivers, and a storage that is empty at first."""

    def __init__(self, drivers: int = 2) -> None:
        self._drivers = [_Driver() for _ in range(drivers)]
        self._newest = 0
        self._starts: dict[int, int | None] = {}  # attempt to checkpoint; None: the beginning
        self._closed: set[int] = set()
        self._published: dict[int, int] = {}  # checkpoint to attempt; 0 while it is only reserved
        self._completed: list[int] = []

    def draw(self, driver: int) -> events.FencingEffects:
        """Draw the number of a new attempt (FENCE-01).

        Each method of an event raises ProtocolError if the driver's phase does not allow the event.
        """
        own = self._at(driver, Phase.IDLE)
        if own.attempt and self._is_superseded(own):
            return self._superseded(driver)
        self._newest += 1
        own.attempt = self._newest
        own.phase = Phase.DRAWN
        return (events.Drawn(own.attempt),)

    def close(self, driver: int) -> events.FencingEffects:
        """Close the oldest open attempt that is older than the driver's attempt (FENCE-02)."""
        own = self._at(driver, Phase.DRAWN)
        older = self._open_before(own.attempt)
        if not older:
            raise ProtocolError(f"no attempt before {own.attempt} is open; send find")
        self._closed.add(older[0])
        return (events.Closed(older[0]),)

    def find(self, driver: int) -> events.FencingEffects:
        """Find the newest checkpoint that is not dead (FENCE-05), when no older attempt is open."""
        own = self._at(driver, Phase.DRAWN)
        older = self._open_before(own.attempt)
        if older:
            raise ProtocolError(f"attempts {older} before {own.attempt} are open; send close")
        alive = (
            checkpoint
            for checkpoint, publisher in self._published.items()
            if publisher and overtaken_by(self._starts, checkpoint, publisher) is None
        )
        own.checkpoint = max(alive, default=0)
        own.phase = Phase.FOUND
        return (events.Found(own.checkpoint),)

    def start(self, driver: int) -> events.FencingEffects:
        """Record from which checkpoint the attempt starts, unless the attempt was closed (FENCE-02)."""
        own = self._at(driver, Phase.FOUND)
        if own.attempt in self._closed:
            return self._superseded(driver)
        self._starts[own.attempt] = own.checkpoint or None
        started = events.Started(own.attempt, own.checkpoint)
        own.phase, own.checkpoint = Phase.RUNNING, 0
        return (started,)

    def reserve(self, driver: int) -> events.FencingEffects:
        """Reserve the next id (FENCE-04)."""
        own = self._at(driver, Phase.RUNNING)
        if own.checkpoint:
            raise ProtocolError(f"driver {driver} publishes checkpoint {own.checkpoint}; send check")
        own.checkpoint = len(self._published) + 1
        self._published[own.checkpoint] = 0
        return (events.Reserved(own.checkpoint),)

    def check(self, driver: int) -> events.FencingEffects:
        """Look for a newer attempt before the publication (FENCE-04)."""
        own = self._at(driver, Phase.RUNNING)
        if not own.checkpoint:
            raise ProtocolError(f"driver {driver} has reserved no checkpoint; send reserve")
        if self._is_superseded(own):
            return self._superseded(driver)
        own.phase = Phase.CHECKED
        return ()

    def publish(self, driver: int) -> events.FencingEffects:
        """Publish the checkpoint (FENCE-04)."""
        own = self._at(driver, Phase.CHECKED)
        self._published[own.checkpoint] = own.attempt
        own.phase = Phase.PUBLISHED
        return (events.Published(own.checkpoint),)

    def confirm(self, driver: int) -> events.FencingEffects:
        """Look for a newer attempt after the publication. Completes the checkpoint if there is none."""
        own = self._at(driver, Phase.PUBLISHED)
        if self._is_superseded(own):
            return self._superseded(driver)
        self._completed.append(own.checkpoint)
        completed = events.Completed(own.checkpoint)
        own.phase, own.checkpoint = Phase.RUNNING, 0
        return (completed,)

    def fail(self, driver: int) -> events.FencingEffects:
        """The attempt fails. The driver remembers the attempt's number."""
        own = self._of(driver)
        if own.phase is Phase.IDLE:
            raise ProtocolError(f"driver {driver} has no attempt that could fail; send draw")
        own.phase, own.checkpoint = Phase.IDLE, 0
        return ()

    def crash(self, driver: int) -> events.FencingEffects:
        """The driver ends. A new driver with the same number begins without an attempt."""
        if not self._of(driver).attempt:
            raise ProtocolError(f"driver {driver} has drawn no attempt, so a crash has no effect; send draw")
        self._drivers[driver - 1] = _Driver()
        return ()

    def observe(self) -> dict[str, Any]:
        """The state fields `phases`, `attempts`, `checkpoints`, `starts`, `published` and `completed`.

        The first three have an element for each driver, `starts` for each attempt, `published` for each id.
        """
        return {
            "phases": [own.phase.value for own in self._drivers],
            "attempts": [own.attempt for own in self._drivers],
            "checkpoints": [own.checkpoint for own in self._drivers],
            "starts": [self._record_of(attempt) for attempt in range(1, self._newest + 1)],
            "published": list(self._published.values()),
            "completed": list(self._completed),
        }

    def _record_of(self, attempt: int) -> int:
        """The checkpoint of an attempt on the wire: -1 for a closed attempt, -2 for an open attempt."""
        if attempt in self._closed:
            return -1
        return (self._starts[attempt] or 0) if attempt in self._starts else -2

    def _open_before(self, attempt: int) -> list[int]:
        return to_close(range(1, self._newest + 1), {*self._starts, *self._closed}, attempt)

    def _is_superseded(self, own: _Driver) -> bool:
        return own.attempt < self._newest

    def _superseded(self, driver: int) -> events.FencingEffects:
        self._drivers[driver - 1] = _Driver()
        return (events.Superseded(self._newest),)

    def _of(self, driver: int) -> _Driver:
        if not 1 <= driver <= len(self._drivers):
            raise ProtocolError(f"driver: expected an int from 1 to {len(self._drivers)}, got {driver}")
        return self._drivers[driver - 1]

    def _at(self, driver: int, phase: Phase) -> _Driver:
        own = self._of(driver)
        if own.phase is not phase:
            raise ProtocolError(
                f"the phase of driver {driver} is {own.phase.value}, expected {phase.value}; send an event "
                "of its present phase"
            )
        return own

    _events = events_of(events.FencingEvent)


def fencing_from_config(config: Mapping[str, object]) -> Fencing:
    """New drivers with an empty storage. Raises ConfigError for a wrong configuration."""
    only_keys(config, ("drivers",))
    drivers = positive_int(config, "drivers", 2)
    if drivers > MOST_DRIVERS:
        raise ConfigError(f"drivers: expected at most {MOST_DRIVERS}, got {drivers}; take fewer")
    return Fencing(drivers)
