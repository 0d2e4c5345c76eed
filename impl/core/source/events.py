"""Events and effects of a source's task (vocabulary: `source`)."""

from enum import StrEnum
from typing import Final, TypeAlias

from impl.core.effects import Effect, Fail
from impl.core.events import Event
from impl.core.gate.events import Trigger
from impl.core.subtask.events import SendDecline, Status
from impl.core.wire import word

TASK_FAILURE: Final = "TASK_FAILURE"


class Addressee(StrEnum):
    """The place at which a trigger arrives: the task, or a task manager that does not have the task."""

    HERE = "here"
    ELSEWHERE = "elsewhere"


@word("trigger")
class TriggerArrives(Event):
    """The coordinator's trigger arrives, at the task or elsewhere."""

    checkpoint: int
    to: Addressee = Addressee.HERE


@word("induce")
class Induce(Event):
    """The hook of the source announces the checkpoint."""

    checkpoint: int


@word("ended")
class CheckpointEnded(Event):
    """The checkpoint was aborted, subsumed or declined."""

    checkpoint: int


@word("answer")
class Answer(Effect):
    """The task answers whether it runs, and begins nothing."""

    checkpoint: int
    accepts: bool


@word("stop_reading")
class StopReading(Effect):
    """The source stops reading until it may continue."""


@word("go_on_reading")
class GoOnReading(Effect):
    """The source reads again."""


SourceEvent: TypeAlias = TriggerArrives | Induce | CheckpointEnded | Status
SourceEffect: TypeAlias = Trigger | Answer | SendDecline | StopReading | GoOnReading | Fail
SourceEffects: TypeAlias = tuple[SourceEffect, ...]
