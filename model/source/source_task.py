"""The steps of a source's task at the trigger of the coordinator. Rules TASK-21 to TASK-24.

Most sources begin a checkpoint at their trigger. At the trigger, the task of an externally induced source
only reports whether it runs. The system that the source reads from decides the position of the checkpoint,
and calls a hook of the source. A source of kind READER needs both: the hook gives the position, and the
trigger gives the options of the checkpoint. If the hook is called first, the source stops reading until the
trigger arrives.

The module describes Flink 1.15 and later. `model.source.generations` holds the steps of older generations.
The module knows one source. `model.subtask.subtask` holds the steps that follow a `Trigger`.
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
"""The exception with which a task manager refuses a trigger for a task that it does not have."""


@dataclass(frozen=True, eq=False, repr=False)
class SourceProfile:
    """The switches of one generation of sources. Each profile is a single object, to which states refer."""

    name: str
    """The name on the wire: the first release of the generation."""
    readers_await_triggers: bool = True
    """A reader needs both its hook and the trigger. Else the hook alone begins the checkpoint."""
    declines_refused: bool = True
    """A task that reports that it does not run declines the checkpoint. Else its answer has no effect."""

    def __repr__(self) -> str:
        return f"Flink {self.name}"

    def __reduce__(self) -> str | tuple[object, ...]:
        """Unpickles to the one object of that name, also in another process."""
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
"""The source begins a checkpoint at its trigger."""
READER = 2
"""Externally induced: the source needs both hook and trigger."""


class Source(NamedTuple):
    """A source's task, before its snapshot steps."""

    running: bool
    """The task runs."""
    external: int
    """PLAIN, READER, or 1 for an externally induced function, whose hook begins the checkpoint. Constant."""
    triggered: tuple[int, ...]
    """Ids that are triggered and whose hook was not called, ascending."""
    ahead: tuple[int, ...]
    """Ids whose hook was called and whose trigger has not arrived, ascending.

    The source reads nothing while there is such an id.
    """
    profile: SourceProfile = NEWEST_SOURCE
    """The generation. Never changes."""


def new_source(external: int, profile: SourceProfile = NEWEST_SOURCE) -> Source:
    """A running source before its first checkpoint."""
    return Source(running=True, external=external, triggered=(), ahead=(), profile=profile)


class SourceSteps:
    """The steps of a source's task, and the methods that older generations override."""

    def on_trigger(self, source: Source, checkpoint: int, here: bool) -> Step[Source]:
        """The coordinator's trigger arrives. `here`: at a task manager that has the task."""
        if not here:
            return Step(source, (Fail(UNKNOWN_TASK),), ("TASK-24",))
        if source.external == PLAIN:
            return Step(source, (Trigger(checkpoint),), ("TASK-21",))
        if holds(source.ahead, checkpoint):
            return begin(source, checkpoint)
        if self.awaits_both(source):
            source = source._replace(triggered=joined(source.triggered, checkpoint))
        return Step(source, self.answer(source, checkpoint), ("TASK-21",))

    def answer(self, source: Source, checkpoint: int) -> Effects:
        """The answer of the task, which reports whether it runs. If it does not, a decline follows."""
        if source.running:
            return (Answer(checkpoint, True),)
        return (Answer(checkpoint, False), Decline(checkpoint, TASK_FAILURE))

    def on_induce(self, source: Source, checkpoint: int) -> Step[Source]:
        """The hook of an externally induced source names `checkpoint` at the current position."""
        if not self.awaits_both(source) or holds(source.triggered, checkpoint):
            return begin(source, checkpoint)
        effects: Effects = () if source.ahead else (StopReading(),)
        return Step(source._replace(ahead=joined(source.ahead, checkpoint)), effects, ("TASK-22", "TASK-23"))

    def awaits_both(self, source: Source) -> bool:
        """A checkpoint begins only after both its hook and its trigger."""
        return source.external == READER


def on_ended(source: Source, checkpoint: int) -> Step[Source]:
    """The checkpoint was aborted, subsumed or declined. The source awaits no hook and no trigger for it."""
    triggered = tuple(known for known in source.triggered if known != checkpoint)
    ahead = tuple(known for known in source.ahead if known != checkpoint)
    after = source._replace(triggered=triggered, ahead=ahead)
    return Step(after, reading_again(source, after), ("TASK-23",))


def on_status(source: Source, running: bool) -> Step[Source]:
    """The task starts or stops running."""
    return Step(source._replace(running=running), (), ("TASK-21",))


def begin(source: Source, checkpoint: int) -> Step[Source]:
    """The checkpoint begins. No older checkpoint begins afterwards."""
    triggered = tuple(known for known in source.triggered if known > checkpoint)
    ahead = tuple(known for known in source.ahead if known > checkpoint)
    after = source._replace(triggered=triggered, ahead=ahead)
    return Step(after, (Trigger(checkpoint), *reading_again(source, after)), ("TASK-22",))


def reading_again(before: Source, after: Source) -> Effects:
    """A `GoOnReading` if the last awaited trigger has arrived."""
    return (GoOnReading(),) if before.ahead and not after.ahead else ()


def holds(ids: tuple[int, ...], checkpoint: int) -> bool:
    """The id is one of `ids`."""
    return any(known == checkpoint for known in ids)


def joined(ids: tuple[int, ...], new: int) -> tuple[int, ...]:
    """The ids with `new` added, each once, ascending."""
    below = tuple(known for known in ids if known < new)
    return (*below, new, *(known for known in ids if known > new))
