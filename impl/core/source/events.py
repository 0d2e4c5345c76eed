"""The words of a source's task: what it is told and what it says, as docs/adapter-protocol.md has them."""

from enum import StrEnum
from typing import Final, TypeAlias

from impl.core.effects import Effect, Fail
from impl.core.events import Event
from impl.core.gate.events import Trigger
from impl.core.subtask.events import SendDecline, Status
from impl.core.wire import word

TASK_FAILURE: Final = "TASK_FAILURE"


class Addressee(StrEnum):
    """Whom a trigger is for: this task, or one that is not where the trigger has gone."""

    HERE = "here"
    ELSEWHERE = "elsewhere"


@word("trigger")
class TriggerArrives(Event):
    """The coordinator's trigger has come."""

    checkpoint: int
    to: Addressee = Addressee.HERE


@word("induce")
class Induce(Event):
    """The hook of an externally induced source: the checkpoint is here."""

    checkpoint: int


@word("ended")
class CheckpointEnded(Event):
    """The checkpoint was aborted or subsumed, or the task has declined it."""

    checkpoint: int


@word("answer")
class Answer(Effect):
    """Tell the coordinator whether the task runs; nothing begins."""

    checkpoint: int
    accepts: bool


@word("stop_reading")
class StopReading(Effect):
    """Read no record until told to go on."""


@word("go_on_reading")
class GoOnReading(Effect):
    """Read again."""


SourceEvent: TypeAlias = TriggerArrives | Induce | CheckpointEnded | Status
SourceEffect: TypeAlias = Trigger | Answer | SendDecline | StopReading | GoOnReading | Fail
SourceEffects: TypeAlias = tuple[SourceEffect, ...]
