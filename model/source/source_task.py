"""The steps of a source's task at the trigger of the coordinator. Rules TASK-21 to TASK-24.

Most sources begin a checkpoint at their trigger. For an *externally induced* source, the system that it reads
from decides the position of the checkpoint, and calls a hook of the source. At the trigger, the task of such
a source only reports whether it runs. A source of kind READER needs both: the hook determines the position,
and the trigger contains the options of the checkpoint. If the hook is called first, the source stops reading
until the trigger arrives.

The module describes one source of Flink 1.15 and later. `model.source.generations` holds the steps of older
generations. `model.subtask.subtask` holds the steps that follow a `Trigger`.
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
"""The exception of a task manager that receives a trigger for a task that it does not have."""


@dataclass(frozen=True, eq=False, repr=False)
class SourceProfile:
    """The switches of one generation. There is one object for each generation, which all states share."""

    name: str
    """The name in the adapter protocol: the first release of the generation."""
    readers_await_triggers: bool = True
    """A checkpoint of a reader begins after both hook and trigger. Else the hook alone begins it."""
    declines_refused: bool = True
    """A trigger at a task that does not run is declined. Else the answer of the task has no effect."""

    def __repr__(self) -> str:
        return f"Flink {self.name}"

    def __reduce__(self) -> str | tuple[object, ...]:
        """Unpickling returns the existing profile of this name, also in another process."""
        return _profile_of, (self.name,)


def _profile_of(name: str) -> SourceProfile:
    return SOURCE_PROFILES[name]


SOURCE_PROFILES: Mapping[str, SourceProfile] = {
    profile.name: profile
    for profile in (
        SourceProfile("1.10", readers_await_triggers=False, declines_refused=False),
        SourceProfile("1.14", readers_await_triggers=False),
        SourceProfile("1.15"),
    )
}
"""Maps the name of each profile to the profile, oldest first."""

NEWEST_SOURCE = SOURCE_PROFILES["1.15"]

PLAIN = 0
"""The source begins a checkpoint at its trigger."""
READER = 2
"""Externally induced: a checkpoint begins after both hook and trigger. Up to 1.14 the hook suffices."""


class Source(NamedTuple):
    """A source's task, before its snapshot steps."""

    running: bool
    """The task runs."""
    external: int
    """PLAIN, READER, or 1 for an externally induced function, whose hook begins the checkpoint. Constant."""
    triggered: tuple[int, ...]
    """The ids whose trigger has arrived and whose hook was not called, ascending."""
    ahead: tuple[int, ...]
    """The ids whose hook was called and whose trigger has not arrived, ascending.

    While there is such an id, the source reads nothing.
    """
    profile: SourceProfile = NEWEST_SOURCE
    """The generation. Never changes."""


def new_source(external: int, profile: SourceProfile = NEWEST_SOURCE) -> Source:
    """A running source before its first checkpoint."""
    return Source(running=True, external=external, triggered=(), ahead=(), profile=profile)


class SourceSteps:
    """The steps of a source's task, and the methods that older generations override."""

    def on_trigger(self, source: Source, checkpoint: int, here: bool) -> Step[Source]:
        """The coordinator's trigger arrives at a task manager. `here`: the task manager has the task."""
        if not here:
            return Step(source, (Fail(UNKNOWN_TASK),), ("TASK-24",))
        if source.external == PLAIN:
            return Step(source, (Trigger(checkpoint), *self.refusal(source, checkpoint)), ("TASK-21",))
        if holds(source.ahead, checkpoint):
            return begin(source, checkpoint, self.refusal(source, checkpoint))
        refusal = self.refusal(source, checkpoint)
        if self.awaits_both(source):
            source = source._replace(triggered=joined(source.triggered, checkpoint))
        return Step(source, (Answer(checkpoint, source.running), *refusal), ("TASK-21",))

    def refusal(self, source: Source, checkpoint: int) -> Effects:
        """The decline that follows a trigger at a task that does not run."""
        return () if source.running else (Decline(checkpoint, TASK_FAILURE),)

    def on_induce(self, source: Source, checkpoint: int) -> Step[Source]:
        """The external system calls the hook: `checkpoint` is at the current position of the source."""
        if not self.awaits_both(source) or holds(source.triggered, checkpoint):
            return begin(source, checkpoint)
        effects: Effects = () if source.ahead else (StopReading(),)
        return Step(source._replace(ahead=joined(source.ahead, checkpoint)), effects, ("TASK-22", "TASK-23"))

    def awaits_both(self, source: Source) -> bool:
        """Whether a checkpoint begins only after both its hook and its trigger."""
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


def begin(source: Source, checkpoint: int, refusal: Effects = ()) -> Step[Source]:
    """The checkpoint begins, followed by `refusal`. No older checkpoint begins afterwards."""
    triggered = tuple(known for known in source.triggered if known > checkpoint)
    ahead = tuple(known for known in source.ahead if known > checkpoint)
    after = source._replace(triggered=triggered, ahead=ahead)
    return Step(after, (Trigger(checkpoint), *refusal, *reading_again(source, after)), ("TASK-22",))


def reading_again(before: Source, after: Source) -> Effects:
    """`GoOnReading` if the source now awaits no trigger any more, else no effect."""
    return (GoOnReading(),) if before.ahead and not after.ahead else ()


def holds(ids: tuple[int, ...], checkpoint: int) -> bool:
    """Whether the id is one of `ids`."""
    return any(known == checkpoint for known in ids)


def joined(ids: tuple[int, ...], new: int) -> tuple[int, ...]:
    """The ids with `new` added, each once, ascending."""
    below = tuple(known for known in ids if known < new)
    return (*below, new, *(known for known in ids if known > new))
