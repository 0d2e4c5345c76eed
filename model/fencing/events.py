# Made from spec/vocabulary by `pytest tests/spec/test_model_classes.py --rewrite`; do not edit.
"""Events and effects of the component `fencing`. Drivers that share a storage."""

from typing import NamedTuple


class DrawAttempt(NamedTuple):
    """The driver draws the number of a new attempt."""

    driver: int
    kind: str = "draw"


class CloseAttempt(NamedTuple):
    """The driver closes the oldest open attempt that is older than its own."""

    driver: int
    kind: str = "close"


class FindCheckpoint(NamedTuple):
    """The driver looks for the newest checkpoint that is not dead."""

    driver: int
    kind: str = "find"


class StartAttempt(NamedTuple):
    """The driver records from which checkpoint its attempt starts."""

    driver: int
    kind: str = "start"


class ReserveCheckpoint(NamedTuple):
    """The driver reserves the id of a new checkpoint."""

    driver: int
    kind: str = "reserve"


class CheckAttempt(NamedTuple):
    """The driver looks for a newer attempt before it publishes its checkpoint."""

    driver: int
    kind: str = "check"


class PublishCheckpoint(NamedTuple):
    """The driver publishes its checkpoint."""

    driver: int
    kind: str = "publish"


class ConfirmCheckpoint(NamedTuple):
    """The driver looks for a newer attempt after it has published its checkpoint."""

    driver: int
    kind: str = "confirm"


class AttemptFails(NamedTuple):
    """The driver's attempt fails; the driver lives and may draw another."""

    driver: int
    kind: str = "fail"


class DriverCrashes(NamedTuple):
    """The driver ends; another one may follow in its place."""

    driver: int
    kind: str = "crash"


class Drawn(NamedTuple):
    """The driver has drawn this attempt."""

    attempt: int
    kind: str = "drawn"


class Closed(NamedTuple):
    """This attempt can no longer start."""

    attempt: int
    kind: str = "closed"


class Found(NamedTuple):
    """The driver has found this checkpoint; 0: none."""

    checkpoint: int
    kind: str = "found"


class Started(NamedTuple):
    """The attempt starts from this checkpoint; 0: from the beginning."""

    attempt: int
    checkpoint: int
    kind: str = "started"


class Reserved(NamedTuple):
    """The id belongs to the driver."""

    checkpoint: int
    kind: str = "reserved"


class Published(NamedTuple):
    """Other drivers can find the checkpoint."""

    checkpoint: int
    kind: str = "published"


class Completed(NamedTuple):
    """The checkpoint is complete: the driver may act on it."""

    checkpoint: int
    kind: str = "completed"


class Superseded(NamedTuple):
    """A newer attempt was drawn: the driver ends and does nothing more."""

    newest: int
    kind: str = "superseded"


EVENTS: tuple[type, ...] = (
    DrawAttempt,
    CloseAttempt,
    FindCheckpoint,
    StartAttempt,
    ReserveCheckpoint,
    CheckAttempt,
    PublishCheckpoint,
    ConfirmCheckpoint,
    AttemptFails,
    DriverCrashes,
)
