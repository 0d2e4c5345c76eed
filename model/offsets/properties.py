"""OFFSET-01 to OFFSET-07, stated over the reader that commits its offsets."""

from model.event_frames import Frame
from model.events import NONE, Crash, Effects, Event
from model.offsets.events import (
    AbortNotification,
    CommitOffsets,
    CompleteNotification,
    Ignored,
    RestoreOffsets,
    Seek,
    SnapshotOffsets,
)
from model.offsets.offsets import Reader, Remembered
from model.registry import Registry

OFFSETS = Registry("offsets")
OFFSETS.frames({
    SnapshotOffsets: Frame("OFFSET-01", "newest remembered"),
    CompleteNotification: Frame("OFFSET-03", "remembered committed", "commit_offsets | ignored"),
    AbortNotification: Frame("OFFSET-05"),
    Crash: Frame("OFFSET-06", "running remembered"),
    RestoreOffsets: Frame("OFFSET-06", "running", "seek"),
})  # fmt: skip


@OFFSETS.initial("OFFSET-01")
def offset_01_at_first(reader: Reader) -> bool:
    """A new reader runs, has taken no snapshot and committed nothing."""
    nothing = Remembered(NONE, 0)
    return reader == Reader(True, reader.remembered_at_most, NONE, (), nothing)


@OFFSETS.step("OFFSET-01")
def offset_01(before: Reader, event: Event, effects: Effects, after: Reader) -> bool:
    """A snapshot stores its offsets and commits none. Only a completion commits."""
    if type(event) is SnapshotOffsets:
        filed = Remembered(event.checkpoint, event.offsets)
        return not effects and after.remembered[-1] == filed and after.newest == event.checkpoint
    commits = any(type(effect) is CommitOffsets for effect in effects)
    return type(event) is CompleteNotification or (not commits and after.committed == before.committed)


@OFFSETS.state("OFFSET-02")
def offset_02(reader: Reader) -> bool:
    """The number of remembered snapshots does not exceed the bound. A crashed reader remembers none."""
    if not reader.running:
        return not reader.remembered
    return len(reader.remembered) <= reader.remembered_at_most


@OFFSETS.step("OFFSET-02")
def offset_02_oldest(before: Reader, event: Event, effects: Effects, after: Reader) -> bool:
    """A snapshot drops the oldest offsets, and only if the number exceeds the bound."""
    if type(event) is not SnapshotOffsets:
        return True
    is_full = len(before.remembered) >= before.remembered_at_most
    kept = before.remembered[1:] if is_full else before.remembered
    return after.remembered[:-1] == kept


@OFFSETS.step("OFFSET-03")
def offset_03(before: Reader, event: Event, effects: Effects, after: Reader) -> bool:
    """The reader commits the offsets of the completed id, and no others, and drops the older ones."""
    if type(event) is not CompleteNotification:
        return True
    for place, filed in enumerate(before.remembered):
        if filed.checkpoint == event.checkpoint:
            commits = effects == (CommitOffsets(filed.checkpoint, filed.offsets),)
            return commits and after.committed == filed and after.remembered == before.remembered[place + 1 :]
    return True


@OFFSETS.step("OFFSET-04")
def offset_04(before: Reader, event: Event, effects: Effects, after: Reader) -> bool:
    """A completion of an id that is not remembered changes nothing."""
    if type(event) is not CompleteNotification:
        return True
    if any(filed.checkpoint == event.checkpoint for filed in before.remembered):
        return True
    return effects == (Ignored(event.checkpoint),) and after == before


@OFFSETS.step("OFFSET-05")
def offset_05(before: Reader, event: Event, effects: Effects, after: Reader) -> bool:
    """An abort changes nothing."""
    return type(event) is not AbortNotification or (not effects and after == before)


@OFFSETS.step("OFFSET-06")
def offset_06(before: Reader, event: Event, effects: Effects, after: Reader) -> bool:
    """A restore continues at the restored offsets, not at committed ones. A crash drops all offsets."""
    if type(event) is Crash:
        return not effects and not after.running and not after.remembered
    if type(event) is not RestoreOffsets:
        return True
    return effects == (Seek(event.offsets),) and after.running and not after.remembered


@OFFSETS.state("OFFSET-07")
def offset_07(reader: Reader) -> bool:
    """Remembered offsets ascend, are newer than the committed ones, and are not above the newest id."""
    below = reader.committed.checkpoint
    if below < NONE:
        return False
    for filed in reader.remembered:
        if filed.checkpoint <= below:
            return False
        below = filed.checkpoint
    return below <= reader.newest


@OFFSETS.step("OFFSET-07")
def offset_07_forward(before: Reader, event: Event, effects: Effects, after: Reader) -> bool:
    """Each commit belongs to a newer checkpoint than the previous commit."""
    if after.committed == before.committed:
        return True
    return after.committed.checkpoint > before.committed.checkpoint
