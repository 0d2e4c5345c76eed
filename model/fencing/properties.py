"""FENCE-01 to FENCE-05, stated over drivers that share a storage."""

from model.event_frames import Frame
from model.events import Effects, Event
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
from model.fencing.fencing import CLOSED, DRAWN, IDLE, OPEN, RUNNING, Fencing, driver_of
from model.registry import Registry

_DRIVER = "phases attempts checkpoints"

FENCING = Registry("fencing")
FENCING.frames({
    DrawAttempt: Frame("FENCE-01", f"{_DRIVER} starts", "drawn | superseded"),
    CloseAttempt: Frame("FENCE-02", "starts", "closed"),
    FindCheckpoint: Frame("FENCE-05", "phases checkpoints", "found"),
    StartAttempt: Frame("FENCE-02", f"{_DRIVER} starts", "started | superseded"),
    ReserveCheckpoint: Frame("FENCE-04", "checkpoints published", "reserved"),
    CheckAttempt: Frame("FENCE-04", _DRIVER, "superseded?"),
    PublishCheckpoint: Frame("FENCE-04", "phases published", "published"),
    ConfirmCheckpoint: Frame("FENCE-04", f"{_DRIVER} completed", "completed | superseded"),
    AttemptFails: Frame("FENCE-01", "phases checkpoints"),
    DriverCrashes: Frame("FENCE-01", _DRIVER),
})  # fmt: skip


@FENCING.initial("FENCE-01")
def fence_01_at_first(fencing: Fencing) -> bool:
    """In a new storage no attempt is drawn, and no checkpoint is published or completed."""
    return fencing[3:] == ((), (), ()) and not any((*fencing.phases, *fencing.attempts, *fencing.checkpoints))


@FENCING.state("FENCE-01")
def fence_01_owners(fencing: Fencing) -> bool:
    """No two drivers have drawn the same attempt."""
    drawn = [attempt for attempt in fencing.attempts if attempt]
    return len(set(drawn)) == len(drawn)


@FENCING.step("FENCE-01", DrawAttempt, AttemptFails, DriverCrashes)
def fence_01(before: Fencing, event: Event, effects: Effects, after: Fencing) -> bool:
    """A new attempt has the next number. A driver with a last attempt that is not the newest draws none."""
    own, newest = before.attempts[driver_of(event) - 1], len(before.starts)
    if type(event) is AttemptFails:
        return _is(after, driver_of(event), IDLE, own, 0)
    if type(event) is DriverCrashes:
        return _is(after, driver_of(event), IDLE, 0, 0)
    if own not in {0, newest}:
        is_over = _is(after, driver_of(event), IDLE, 0, 0) and after.starts == before.starts
        return is_over and effects == (Superseded(newest),)
    is_open = after.starts == (*before.starts, OPEN)
    return is_open and _is(after, driver_of(event), DRAWN, newest + 1, 0) and effects == (Drawn(newest + 1),)


@FENCING.state("FENCE-02")
def fence_02_closed(fencing: Fencing) -> bool:
    """No attempt stays open after the driver of a newer one has found its checkpoint."""
    return all(
        OPEN not in fencing.starts[: attempt - 1]
        for phase, attempt in zip(fencing.phases, fencing.attempts, strict=True)
        if phase > DRAWN
    )


@FENCING.step("FENCE-02", CloseAttempt, StartAttempt)
def fence_02(before: Fencing, event: Event, effects: Effects, after: Fencing) -> bool:
    """The entry of an attempt in `starts` changes once: at its start, or when a newer attempt closes it."""
    own, found = before.attempts[driver_of(event) - 1], before.checkpoints[driver_of(event) - 1]
    changed = [
        (attempt, start)
        for attempt, (was, start) in enumerate(zip(before.starts, after.starts, strict=True), 1)
        if start != was
    ]
    if any(before.starts[attempt - 1] != OPEN for attempt, _ in changed):
        return False
    if type(event) is CloseAttempt:
        older = before.starts.index(OPEN) + 1
        return older < own and changed == [(older, CLOSED)] and effects == (Closed(older),)
    if before.starts[own - 1] == CLOSED:
        is_over = _is(after, driver_of(event), IDLE, 0, 0) and not changed
        return is_over and effects == (Superseded(len(before.starts)),)
    starts = changed == [(own, found)] and _is(after, driver_of(event), RUNNING, own, 0)
    return starts and effects == (Started(own, found),)


@FENCING.state("FENCE-03")
def fence_03(fencing: Fencing) -> bool:
    """An attempt starts from no checkpoint older than a completed one, or than that of an earlier start."""
    newest_start = 0
    for attempt, start in enumerate(fencing.starts, 1):
        if start < 0:
            continue
        of_older = [one for one in fencing.completed if fencing.published[one - 1] < attempt]
        if start < max(newest_start, *of_older, 0):
            return False
        newest_start = start
    return True


@FENCING.step("FENCE-04", ReserveCheckpoint, CheckAttempt, PublishCheckpoint, ConfirmCheckpoint)
def fence_04(before: Fencing, event: Event, effects: Effects, after: Fencing) -> bool:
    """An id belongs to one driver. Only the newest attempt completes a checkpoint, after its publication."""
    own, checkpoint = before.attempts[driver_of(event) - 1], before.checkpoints[driver_of(event) - 1]
    newest, published = len(before.starts), before.published
    if type(event) is ReserveCheckpoint:
        reserved = len(published) + 1
        is_new = after.published == (*published, 0) and after.checkpoints[driver_of(event) - 1] == reserved
        return is_new and effects == (Reserved(reserved),)
    if type(event) is PublishCheckpoint:
        expected = (*published[: checkpoint - 1], own, *published[checkpoint:])
        is_free = published[checkpoint - 1] == 0
        return is_free and after.published == expected and effects == (Published(checkpoint),)
    if own != newest:
        is_over = _is(after, driver_of(event), IDLE, 0, 0) and after.completed == before.completed
        return is_over and effects == (Superseded(newest),)
    if type(event) is CheckAttempt:
        return after.attempts == before.attempts and not effects
    is_complete = after.completed == (*before.completed, checkpoint) and published[checkpoint - 1] == own
    return (
        is_complete and _is(after, driver_of(event), RUNNING, own, 0) and effects == (Completed(checkpoint),)
    )


@FENCING.state("FENCE-05")
def fence_05(fencing: Fencing) -> bool:
    """No attempt has started from a dead checkpoint."""
    for attempt, start in enumerate(fencing.starts, 1):
        between = fencing.starts[fencing.published[start - 1] : attempt - 1] if start > 0 else ()
        if start > 0 and (fencing.published[start - 1] == 0 or any(0 <= one < start for one in between)):
            return False
    return True


@FENCING.step("FENCE-05", FindCheckpoint)
def fence_05_finds(before: Fencing, event: Event, effects: Effects, after: Fencing) -> bool:
    """The checkpoint that a driver finds is published, and every newer published one is dead."""
    found = after.checkpoints[driver_of(event) - 1]
    if effects != (Found(found),) or (found and not before.published[found - 1]):
        return False
    newer = range(found + 1, len(before.published) + 1)
    return all(
        before.published[one - 1] == 0
        or any(0 <= start < one for start in before.starts[before.published[one - 1] :])
        for one in newer
    )


def _is(fencing: Fencing, driver: int, phase: int, attempt: int, checkpoint: int) -> bool:
    place = driver - 1
    there = fencing.phases[place], fencing.attempts[place], fencing.checkpoints[place]
    return there == (phase, attempt, checkpoint)
