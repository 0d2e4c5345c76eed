"""What a source's task does with the coordinator's trigger. Rules TASK-21 to TASK-24.

Most sources begin a checkpoint when they are triggered. One that is externally induced takes no heed: its
task only answers whether it runs, and the system that the source reads from decides where the checkpoint
is, through a hook of the source's own. In newer generations a reader needs both, the hook for the place and
the trigger for what kind of checkpoint it is; where the hook comes first nothing more is read until the
trigger has come.

The file knows one source. What follows a `Trigger` is `model.subtask.subtask`'s.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from model.events import Effects, Fail, Step
from model.gate.events import Trigger
from model.source.events import Answer, GoOnReading, StopReading
from model.subtask.events import Decline

TASK_FAILURE = "TASK_FAILURE"
UNKNOWN_TASK = "CheckpointException"
"""What a trigger for a task that is not there is refused with."""


@dataclass(frozen=True, eq=False, repr=False)
class SourceProfile:
    """The switches of one generation of sources. There is one object of each, and states refer to it."""

    name: str
    """As the wire calls it: the first release of the generation."""
    readers_await_triggers: bool = True
    """A reader's hook and the trigger have both to come; else the hook begins by itself."""
    declines_refused: bool = True
    """A task that answers that it does not run declines the checkpoint; else nobody minds the answer."""

    def __repr__(self) -> str:
        return f"Flink {self.name}"

    def __reduce__(self) -> str | tuple[object, ...]:
        """The one object of that name, also in another process."""
        return _profile_of, (self.name,)


def _profile_of(name: str) -> SourceProfile:
    return SOURCE_PROFILES[name]


SOURCE_PROFILES: Mapping[str, SourceProfile] = {
    profile.name: profile
    for profile in (
        SourceProfile("1.10", readers_await_triggers=False, declines_refused=False),
        SourceProfile("1.15"),
    )
}
"""By name, oldest first."""

NEWEST_SOURCE = SOURCE_PROFILES["1.15"]

PLAIN = 0
"""It begins when it is triggered."""
FUNCTION = 1
"""Externally induced: its hook begins, in every generation."""
READER = 2
"""Externally induced: in newer generations hook and trigger have to come."""


class Source(NamedTuple):
    """A source's task, before its snapshot steps."""

    running: bool
    """The task runs."""
    external: int
    """PLAIN, FUNCTION or READER. Never changes."""
    told: tuple[int, ...]
    """Triggered, and the hook has not come; ascending."""
    ahead: tuple[int, ...]
    """The hook has come, and the trigger has not; ascending. While there are any, nothing is read."""
    profile: SourceProfile = NEWEST_SOURCE
    """The generation. Never changes."""


def new_source(external: int, profile: SourceProfile = NEWEST_SOURCE) -> Source:
    """A running source that has heard of no checkpoint."""
    return Source(running=True, external=external, told=(), ahead=(), profile=profile)


def on_trigger(source: Source, checkpoint: int, here: bool = True) -> Step[Source]:
    """The coordinator's trigger comes; `here`: the task that it is for is this one."""
    if not here:
        return Step(source, (Fail(UNKNOWN_TASK),), ("TASK-24",))
    if source.external == PLAIN:
        return Step(source, (Trigger(checkpoint),), ("TASK-21",))
    if holds(source.ahead, checkpoint):
        return begin(source, checkpoint)
    if awaits_both(source):
        source = source._replace(told=joined(source.told, checkpoint))
    effects: Effects = (Answer(checkpoint, source.running),)
    if not source.running and source.profile.declines_refused:
        effects = (*effects, Decline(checkpoint, TASK_FAILURE))
    return Step(source, effects, ("TASK-21",))


def on_induce(source: Source, checkpoint: int) -> Step[Source]:
    """The hook of an externally induced source says that the checkpoint is here."""
    if not awaits_both(source) or holds(source.told, checkpoint):
        return begin(source, checkpoint)
    effects: Effects = () if source.ahead else (StopReading(),)
    return Step(source._replace(ahead=joined(source.ahead, checkpoint)), effects, ("TASK-22", "TASK-23"))


def on_ended(source: Source, checkpoint: int) -> Step[Source]:
    """The checkpoint was aborted, subsumed or declined: neither half of it is awaited any more."""
    told = tuple(known for known in source.told if known != checkpoint)
    ahead = tuple(known for known in source.ahead if known != checkpoint)
    after = source._replace(told=told, ahead=ahead)
    return Step(after, reading_again(source, after), ("TASK-23",))


def on_status(source: Source, running: bool) -> Step[Source]:
    """The task starts or stops running."""
    return Step(source._replace(running=running), (), ("TASK-21",))


def begin(source: Source, checkpoint: int) -> Step[Source]:
    """All that has to come has: the checkpoint begins, and no older one will."""
    told = tuple(known for known in source.told if known > checkpoint)
    ahead = tuple(known for known in source.ahead if known > checkpoint)
    after = source._replace(told=told, ahead=ahead)
    return Step(after, (Trigger(checkpoint), *reading_again(source, after)), ("TASK-22",))


def reading_again(before: Source, after: Source) -> Effects:
    """With the last trigger that was awaited the source goes on."""
    return (GoOnReading(),) if before.ahead and not after.ahead else ()


def awaits_both(source: Source) -> bool:
    """Neither the hook nor the trigger begins a checkpoint alone."""
    return source.external == READER and source.profile.readers_await_triggers


def holds(ids: tuple[int, ...], checkpoint: int) -> bool:
    """Whether the id is among them."""
    return any(known == checkpoint for known in ids)


def joined(ids: tuple[int, ...], new: int) -> tuple[int, ...]:
    """The ids and one more, each once, ascending."""
    below = tuple(known for known in ids if known < new)
    return (*below, new, *(known for known in ids if known > new))
