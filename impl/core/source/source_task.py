"""What a source's task does when the coordinator triggers it.

A plain source begins its checkpoint. One that is externally induced reads from a system that decides itself
where the checkpoint is: its task answers the trigger and begins nothing, and a hook of the source's own does
begin it. From 1.15 on a reader (not the older source function) needs both, and reads nothing while its hook
is ahead of the trigger. Rules: TASK-21 to TASK-24. What a begun checkpoint makes the task do is `subtask`'s.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple, assert_never

from impl.core.component import Component, events_of, only_keys, require_checkpoint_id, supported
from impl.core.effects import Fail
from impl.core.errors import ProtocolError
from impl.core.gate.events import Trigger
from impl.core.source.events import (
    TASK_FAILURE,
    Addressee,
    Answer,
    CheckpointEnded,
    GoOnReading,
    Induce,
    SourceEffects,
    SourceEvent,
    StopReading,
    TriggerArrives,
)
from impl.core.subtask.events import SendDecline, Status

UNKNOWN_TASK: Final = "CheckpointException"


class External(StrEnum):
    """Whether somebody else decides where checkpoints are, and how the source hears of it."""

    NO = "no"
    FUNCTION = "function"
    READER = "reader"


class SourceGeneration(NamedTuple):
    """How releases differ."""

    readers_need_both: bool
    """Hook and trigger; up to 1.13 the hook is enough."""
    refusals_decline: bool
    """A task that answers that it does not run has declined; up to 1.13 nobody reads the answer."""


SOURCE_GENERATIONS: Final[Mapping[str, SourceGeneration]] = {
    "1.10": SourceGeneration(readers_need_both=False, refusals_decline=False),
    "1.15": SourceGeneration(readers_need_both=True, refusals_decline=True),
}
NEWEST_SOURCE: Final = "1.15"
_NEWEST: Final = SOURCE_GENERATIONS[NEWEST_SOURCE]


class SourceTask(Component):
    """The task of one source, in front of its snapshot steps."""

    def __init__(
        self,
        external: External = External.NO,
        generation: SourceGeneration = SOURCE_GENERATIONS[NEWEST_SOURCE],
    ) -> None:
        self._external = external
        self._needs_both = external is External.READER and generation.readers_need_both
        self._generation = generation
        self._running = True
        self._told: set[int] = set()  # triggered, without their hook
        self._ahead: set[int] = set()  # their hook has come, without the trigger

    @property
    def reads(self) -> bool:
        """Whether records may be read: not while the hook is ahead of a trigger."""
        return not self._ahead

    def trigger(self, checkpoint: int, to: Addressee = Addressee.HERE) -> SourceEffects:
        """The coordinator's trigger; for a task that is not here it is refused (TASK-24)."""
        require_checkpoint_id(checkpoint)
        if to is Addressee.ELSEWHERE:
            return (Fail(UNKNOWN_TASK),)
        if self._external is External.NO:
            return (Trigger(checkpoint),)
        if checkpoint in self._ahead:
            return self._begin(checkpoint)
        if self._needs_both:
            self._told.add(checkpoint)
        answer = Answer(checkpoint, self._running)  # TASK-21: and nothing begins
        if self._running or not self._generation.refusals_decline:
            return (answer,)
        return (answer, SendDecline(checkpoint, TASK_FAILURE))

    def induce(self, checkpoint: int) -> SourceEffects:
        """The source's own hook: the checkpoint is here (TASK-22); its trigger may be missing (TASK-23)."""
        require_checkpoint_id(checkpoint)
        if self._external is External.NO:
            raise ProtocolError(
                "a source that is not externally induced has no hook, and it was called; trigger it instead"
            )
        if not self._needs_both or checkpoint in self._told:
            return self._begin(checkpoint)
        stops = () if self._ahead else (StopReading(),)
        self._ahead.add(checkpoint)
        return stops

    def ended(self, checkpoint: int) -> SourceEffects:
        """The checkpoint was aborted or subsumed, or the task has declined it: nothing of it is awaited."""
        require_checkpoint_id(checkpoint)
        self._told.discard(checkpoint)
        return self._leave({checkpoint})

    def status(self, running: bool) -> SourceEffects:
        """The task starts or stops running."""
        self._running = running
        return ()

    def observe(self) -> dict[str, Any]:
        """`running`, `told` and `ahead` (sorted ids), `reads`."""
        return {
            "running": self._running,
            "told": sorted(self._told),
            "ahead": sorted(self._ahead),
            "reads": self.reads,
        }

    def _begin(self, checkpoint: int) -> SourceEffects:
        """TASK-22: and what is older will not begin any more."""
        self._told = {one for one in self._told if one > checkpoint}
        return (Trigger(checkpoint), *self._leave({one for one in self._ahead if one <= checkpoint}))

    def _leave(self, checkpoints: set[int]) -> SourceEffects:
        """These are ahead of no trigger any more; with the last of them the source goes on."""
        waited = bool(self._ahead)
        self._ahead -= checkpoints
        return (GoOnReading(),) if waited and not self._ahead else ()

    def handle(self, event: SourceEvent) -> SourceEffects:
        """Take one event; its effects in order. Raises ProtocolError if it is illegal now."""
        match event:
            case TriggerArrives(checkpoint, to):
                return self.trigger(checkpoint, to)
            case Induce(checkpoint):
                return self.induce(checkpoint)
            case CheckpointEnded(checkpoint):
                return self.ended(checkpoint)
            case Status(running):
                return self.status(running)
            case _:
                assert_never(event)

    _events = events_of(SourceEvent)


def source_from_config(config: Mapping[str, object]) -> SourceTask:
    """The source that a wire configuration asks for."""
    only_keys(config, ("profile", "external"))
    profile = supported(config, "profile", SOURCE_GENERATIONS, NEWEST_SOURCE)
    external = supported(config, "external", tuple(External), External.NO)
    return SourceTask(External(external), SOURCE_GENERATIONS[profile])
