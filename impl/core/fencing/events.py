"""Events and effects of drivers that share a storage (vocabulary: `fencing`)."""

from typing import TypeAlias

from impl.core.effects import Effect
from impl.core.events import Event
from impl.core.wire import word


class DriverEvent(Event):
    """A step of one driver, numbered from 1."""

    driver: int


@word("draw")
class DrawAttempt(DriverEvent):
    """The driver draws the number of a new attempt."""


@word("close")
class CloseAttempt(DriverEvent):
    """The driver closes the oldest older attempt that has not recorded its start."""


@word("find")
class FindCheckpoint(DriverEvent):
    """The driver looks for the newest checkpoint that belongs to no dead attempt."""


@word("start")
class StartAttempt(DriverEvent):
    """The driver records from which checkpoint its attempt starts."""


@word("reserve")
class ReserveCheckpoint(DriverEvent):
    """The driver reserves the id of a new checkpoint."""


@word("check")
class CheckAttempt(DriverEvent):
    """The driver looks for a newer attempt before it publishes its checkpoint."""


@word("publish")
class PublishCheckpoint(DriverEvent):
    """The driver publishes its checkpoint."""


@word("confirm")
class ConfirmCheckpoint(DriverEvent):
    """The driver looks for a newer attempt after it has published its checkpoint."""


@word("fail")
class AttemptFails(DriverEvent):
    """The driver's attempt fails; the driver lives and may draw another."""


@word("crash")
class DriverCrashes(DriverEvent):
    """The driver ends; another one may follow in its place."""


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
    """The checkpoint is complete: the driver may act on it."""

    checkpoint: int


@word("superseded")
class Superseded(Effect):
    """A newer attempt was drawn: the driver ends and does nothing more."""

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
