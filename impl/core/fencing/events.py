"""Events and effects of drivers that share a storage (vocabulary: `fencing`). Drivers are numbered from 1."""

from typing import TypeAlias

from impl.core.effects import Effect
from impl.core.events import Event
from impl.core.wire import word


@word("draw")
class DrawAttempt(Event):
    """The driver draws the number of a new attempt."""

    driver: int


@word("close")
class CloseAttempt(Event):
    """The driver closes the oldest open attempt that is older than the driver's attempt."""

    driver: int


@word("find")
class FindCheckpoint(Event):
    """The driver looks for the newest checkpoint that is not dead."""

    driver: int


@word("start")
class StartAttempt(Event):
    """The driver records from which checkpoint its attempt starts."""

    driver: int


@word("reserve")
class ReserveCheckpoint(Event):
    """The driver reserves the id of a new checkpoint."""

    driver: int


@word("check")
class CheckAttempt(Event):
    """The driver looks for a newer attempt before it publishes its checkpoint."""

    driver: int


@word("publish")
class PublishCheckpoint(Event):
    """The driver publishes its checkpoint."""

    driver: int


@word("confirm")
class ConfirmCheckpoint(Event):
    """The driver looks for a newer attempt after it has published its checkpoint."""

    driver: int


@word("fail")
class AttemptFails(Event):
    """The driver's attempt fails; the driver continues and may draw another attempt."""

    driver: int


@word("crash")
class DriverCrashes(Event):
    """The driver ends; a new driver with the same number may begin."""

    driver: int


@word("drawn")
class Drawn(Effect):
    """The driver has drawn this attempt."""

    attempt: int


@word("closed")
class Closed(Effect):
    """This attempt can no longer start."""

    attempt: int


@word("found")
class Found(Effect):
    """The driver has found this checkpoint; 0: none."""

    checkpoint: int


@word("started")
class Started(Effect):
    """The attempt starts from this checkpoint; 0: from the beginning."""

    attempt: int
    checkpoint: int


@word("reserved")
class Reserved(Effect):
    """The id belongs to the driver."""

    checkpoint: int


@word("published")
class Published(Effect):
    """Other drivers can find the checkpoint."""

    checkpoint: int


@word("completed")
class Completed(Effect):
    """The checkpoint is complete: the driver may notify its tasks of it."""

    checkpoint: int


@word("superseded")
class Superseded(Effect):
    """A newer attempt was drawn: the driver ends and takes no further step."""

    newest: int


FencingEvent: TypeAlias = (
    DrawAttempt
    | CloseAttempt
    | FindCheckpoint
    | StartAttempt
    | ReserveCheckpoint
    | CheckAttempt
    | PublishCheckpoint
    | ConfirmCheckpoint
    | AttemptFails
    | DriverCrashes
)
FencingEffect: TypeAlias = Drawn | Closed | Found | Started | Reserved | Published | Completed | Superseded
FencingEffects: TypeAlias = tuple[FencingEffect, ...]
