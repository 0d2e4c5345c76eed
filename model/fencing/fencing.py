"""Drivers that share a storage: attempts, starts and checkpoints. Rules FENCE-01 to FENCE-05.

A driver may be paused or disconnected at any time, and continue after another driver has taken over the job.
A driver does not know that it was paused. So the storage decides: each step of this module is one atomic
operation of a driver on the storage, such as the creation of a file that must not exist. A driver takes these
steps:

draw      draws the number of a new attempt, greater than all earlier numbers
close     closes each older attempt that has not started, so that it never starts
find      finds the newest published checkpoint that is not dead
start     records this checkpoint as the start of the attempt
reserve   reserves the id of a new checkpoint
check     checks whether a newer attempt was drawn
publish   publishes the checkpoint
confirm   checks again whether a newer attempt was drawn. If not, the checkpoint is complete

The order of the steps makes them safe. A driver draws before it finds, and confirms after it has published.
So either the newer driver finds the checkpoint, or the older driver sees the newer attempt.

The storage must make each creation visible to all drivers at once. If two drivers create the same file, one
of them must fail. A local file system guarantees this, and so does an object store with conditional writes.
"""

from typing import NamedTuple, TypeAlias, cast

from model.events import Effects, Event, Step
from model.fencing.events import (
    AttemptFails,
    CheckAttempt,
    CloseAttempt,
    Closed,
    Completed,
    ConfirmCheckpoint,
    DrawAttempt,
    Drawn,
    DriverCrashes,
    FindCheckpoint,
    Found,
    PublishCheckpoint,
    Published,
    ReserveCheckpoint,
    Reserved,
    StartAttempt,
    Started,
    Superseded,
)

DriverStep: TypeAlias = (
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

IDLE, DRAWN, FOUND, RUNNING, CHECKED, PUBLISHED = range(6)
"""The phases, by the last step of a driver.

In order: the driver has no attempt, or its attempt has failed; it has drawn an attempt; it has found a
checkpoint; it has started; it has checked before a publication; it has published.
"""

CLOSED, OPEN = -1, -2
"""Values in `starts`. CLOSED: the attempt never starts. OPEN: it has neither started nor been closed."""


class Fencing(NamedTuple):
    """The storage and the state of each driver. Drivers, attempts and checkpoints have numbers from 1 on."""

    phases: tuple[int, ...]
    """By driver: its phase."""
    attempts: tuple[int, ...]
    """By driver: the attempt that it has drawn last. 0 for none."""
    checkpoints: tuple[int, ...]
    """By driver: the checkpoint that it has found, or that it will publish. 0 for none."""
    starts: tuple[int, ...]
    """By attempt: CLOSED, OPEN, or the checkpoint from which it started (0: from the beginning)."""
    published: tuple[int, ...]
    """By checkpoint: the attempt that has published it. 0 if its id is only reserved."""
    completed: tuple[int, ...]
    """The checkpoints that a driver has confirmed, ascending."""


def new_fencing(drivers: int) -> Fencing:
    """An empty storage, and drivers without attempts."""
    return Fencing((IDLE,) * drivers, (0,) * drivers, (0,) * drivers, (), (), ())


# ---------------------------------------------------------------- queries of the storage


def newest(fencing: Fencing) -> int:
    """The newest attempt. 0 before the first."""
    return len(fencing.starts)


def is_newest(fencing: Fencing, driver: int) -> bool:
    """Whether no attempt is newer than the driver's attempt."""
    return fencing.attempts[driver - 1] == newest(fencing)


def open_below(fencing: Fencing, attempt: int) -> tuple[int, ...]:
    """The attempts before `attempt` that have neither started nor been closed."""
    return tuple(older for older in range(1, attempt) if fencing.starts[older - 1] == OPEN)


def is_dead(fencing: Fencing, checkpoint: int) -> bool:
    """Whether an attempt newer than the publisher's has started from an earlier checkpoint, or from none."""
    publisher = fencing.published[checkpoint - 1]
    return any(CLOSED < start < checkpoint for start in fencing.starts[publisher:])


def latest(fencing: Fencing) -> int:
    """The newest published checkpoint that is not dead. 0 if there is none."""
    found = 0
    for checkpoint in range(1, len(fencing.published) + 1):
        if fencing.published[checkpoint - 1] and not is_dead(fencing, checkpoint):
            found = checkpoint
    return found


# ---------------------------------------------------------------- the steps


def driver_of(event: Event) -> int:
    """The driver that takes the step."""
    return cast("DriverStep", event).driver


def is_next(fencing: Fencing, event: Event) -> bool:
    """Whether the phase of the driver permits this step next."""
    place = driver_of(event) - 1
    phase, attempt, checkpoint = fencing.phases[place], fencing.attempts[place], fencing.checkpoints[place]
    has_older = open_below(fencing, attempt) != ()
    return (
        (type(event) is DrawAttempt and phase == IDLE)
        or (type(event) is CloseAttempt and phase == DRAWN and has_older)
        or (type(event) is FindCheckpoint and phase == DRAWN and not has_older)
        or (type(event) is StartAttempt and phase == FOUND)
        or (type(event) is ReserveCheckpoint and phase == RUNNING and checkpoint == 0)
        or (type(event) is CheckAttempt and phase == RUNNING and checkpoint > 0)
        or (type(event) is PublishCheckpoint and phase == CHECKED)
        or (type(event) is ConfirmCheckpoint and phase == PUBLISHED)
        or (type(event) is AttemptFails and phase != IDLE)
        or (type(event) is DriverCrashes and attempt > 0)
    )


def on_draw(fencing: Fencing, driver: int) -> Step[Fencing]:
    """Draws the next attempt. The driver has no attempt, or its last attempt is the newest one.

    If a newer attempt exists, the driver is superseded and draws none.
    """
    if fencing.attempts[driver - 1] and not is_newest(fencing, driver):
        return _superseded(fencing, driver, "FENCE-01")
    attempt = newest(fencing) + 1
    after = _now(fencing, driver, DRAWN, 0)._replace(
        attempts=_with(fencing.attempts, driver, attempt), starts=(*fencing.starts, OPEN)
    )
    return Step(after, (Drawn(attempt),), ("FENCE-01",))


def on_close(fencing: Fencing, driver: int) -> Step[Fencing]:
    """Closes the oldest open attempt before the driver's own attempt."""
    older = open_below(fencing, fencing.attempts[driver - 1])[0]
    after = fencing._replace(starts=_with(fencing.starts, older, CLOSED))
    return Step(after, (Closed(older),), ("FENCE-02",))


def on_find(fencing: Fencing, driver: int) -> Step[Fencing]:
    """Finds the checkpoint to start from, after all older attempts have started or are closed."""
    found = latest(fencing)
    return Step(_now(fencing, driver, FOUND, found), (Found(found),), ("FENCE-02", "FENCE-05"))


def on_start(fencing: Fencing, driver: int) -> Step[Fencing]:
    """Records the start of the attempt, unless a newer attempt has closed it."""
    attempt, checkpoint = fencing.attempts[driver - 1], fencing.checkpoints[driver - 1]
    if fencing.starts[attempt - 1] == CLOSED:
        return _superseded(fencing, driver, "FENCE-02")
    after = _now(fencing, driver, RUNNING, 0)._replace(starts=_with(fencing.starts, attempt, checkpoint))
    return Step(after, (Started(attempt, checkpoint),), ("FENCE-02", "FENCE-03"))


def on_reserve(fencing: Fencing, driver: int) -> Step[Fencing]:
    """Reserves the next id."""
    checkpoint = len(fencing.published) + 1
    after = _now(fencing, driver, RUNNING, checkpoint)._replace(published=(*fencing.published, 0))
    return Step(after, (Reserved(checkpoint),), ("FENCE-04",))


def on_check(fencing: Fencing, driver: int) -> Step[Fencing]:
    """Checks for a newer attempt. If there is one, the driver ends and does not publish."""
    if not is_newest(fencing, driver):
        return _superseded(fencing, driver, "FENCE-04")
    return Step(_now(fencing, driver, CHECKED, fencing.checkpoints[driver - 1]), (), ("FENCE-04",))


def on_publish(fencing: Fencing, driver: int) -> Step[Fencing]:
    """Publishes the checkpoint. Another driver may have drawn a newer attempt since the check."""
    attempt, checkpoint = fencing.attempts[driver - 1], fencing.checkpoints[driver - 1]
    after = _now(fencing, driver, PUBLISHED, checkpoint)._replace(
        published=_with(fencing.published, checkpoint, attempt)
    )
    return Step(after, (Published(checkpoint),), ("FENCE-04",))


def on_confirm(fencing: Fencing, driver: int) -> Step[Fencing]:
    """Completes the checkpoint, unless there is a newer attempt."""
    if not is_newest(fencing, driver):
        return _superseded(fencing, driver, "FENCE-04")
    checkpoint = fencing.checkpoints[driver - 1]
    after = _now(fencing, driver, RUNNING, 0)._replace(completed=(*fencing.completed, checkpoint))
    return Step(after, (Completed(checkpoint),), ("FENCE-03", "FENCE-04"))


def on_fail(fencing: Fencing, driver: int) -> Step[Fencing]:
    """The attempt fails. The driver keeps only the number of the attempt."""
    return Step(_now(fencing, driver, IDLE, 0), (), ("FENCE-01",))


def on_crash(fencing: Fencing, driver: int) -> Step[Fencing]:
    """The driver ends. A new driver without an attempt takes its place."""
    return Step(_ended(fencing, driver), (), ("FENCE-01",))


def _superseded(fencing: Fencing, driver: int, rule: str) -> Step[Fencing]:
    effects: Effects = (Superseded(newest(fencing)),)
    return Step(_ended(fencing, driver), effects, (rule,))


def _ended(fencing: Fencing, driver: int) -> Fencing:
    return _now(fencing, driver, IDLE, 0)._replace(attempts=_with(fencing.attempts, driver, 0))


def _now(fencing: Fencing, driver: int, phase: int, checkpoint: int) -> Fencing:
    return fencing._replace(
        phases=_with(fencing.phases, driver, phase),
        checkpoints=_with(fencing.checkpoints, driver, checkpoint),
    )


def _with(values: tuple[int, ...], number: int, value: int) -> tuple[int, ...]:
    """The values with the value at `number` replaced. Numbers begin at 1."""
    return tuple(value if place == number else one for place, one in enumerate(values, 1))
