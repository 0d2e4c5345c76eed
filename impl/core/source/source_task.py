"""The steps of a source's task when the coordinator triggers it. Rules TASK-21 to TASK-24.

A plain source begins the checkpoint. An *externally induced* source reads from an external system, and that
system decides between which records the checkpoint lies. Its task only answers the trigger, and a call from
the source itself, its *hook*, begins the checkpoint. From 1.15 on, a source that implements Flink's interface
of readers begins the checkpoint after both the call of the hook and the trigger. It stops reading while its
hook has announced a checkpoint that is not triggered. The snapshot steps that follow belong to
`impl.core.subtask`.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from impl.core.component import Component, events_of, only_keys, require_checkpoint_id, supported
from impl.core.effects import Fail
from impl.core.errors import ProtocolError
from impl.core.gate.events import Trigger
from impl.core.source import events
from impl.core.subtask.events import SendDecline

UNKNOWN_TASK: Final = "CheckpointException"


class External(StrEnum):
    """Whether the source is externally induced, and by which interface of Flink."""

    NO = "no"
    FUNCTION = "function"
    READER = "reader"


class SourceProfile(NamedTuple):
    """The switches of one generation of sources."""

    readers_need_both: bool
    """A reader begins after both its hook and the trigger; else after the hook."""
    refusals_decline: bool
    """A trigger at a task that does not run is declined, too; else the answer has no consequence."""


SOURCE_PROFILES: Final[Mapping[str, SourceProfile]] = {
    "1.10": SourceProfile(readers_need_both=False, refusals_decline=False),
    "1.14": SourceProfile(readers_need_both=False, refusals_decline=True),
    "1.15": SourceProfile(readers_need_both=True, refusals_decline=True),
}
NEWEST_SOURCE: Final = "1.15"
_NEWEST: Final = SOURCE_PROFILES[NEWEST_SOURCE]


class SourceTask(Component[events.SourceEvent, events.SourceEffect]):
    """The task of one source, before its snapshot steps."""

    def __init__(
        self, external: External = External.NO, profile: SourceProfile = SOURCE_PROFILES[NEWEST_SOURCE]
    ) -> None:
        self._external = external
        self._needs_both = external is External.READER and profile.readers_need_both
        self._profile = profile
        self._running = True
        self._triggered: set[int] = set()  # triggered, and not announced by the hook
        self._ahead: set[int] = set()  # announced by the hook, and not triggered

    @property
    def reads(self) -> bool:
        """Whether the source may read records: no checkpoint is announced ahead of its trigger."""
        return not self._ahead

    def trigger(self, checkpoint: int, to: events.Addressee = events.Addressee.HERE) -> events.SourceEffects:
        """The coordinator's trigger arrives. At a task manager without the task it fails (TASK-24)."""
        require_checkpoint_id(checkpoint)
        if to is events.Addressee.ELSEWHERE:
            return (Fail(UNKNOWN_TASK),)
        if self._external is External.NO:
            return (Trigger(checkpoint), *self._declined(checkpoint))
        if checkpoint in self._ahead:
            begun, *others = self._begin(checkpoint)
            return (begun, *self._declined(checkpoint), *others)
        if self._needs_both:
            self._triggered.add(checkpoint)
        return (events.Answer(checkpoint, self._running), *self._declined(checkpoint))  # TASK-21

    def induce(self, checkpoint: int) -> events.SourceEffects:
        """The hook of the source announces the checkpoint, perhaps ahead of the trigger (TASK-22, TASK-23).

        Raises ProtocolError if the source is not externally induced.
        """
        require_checkpoint_id(checkpoint)
        if self._external is External.NO:
            raise ProtocolError(
                "expected a trigger, because the source is not externally induced, got a call of its hook; "
                "trigger it"
            )
        if not self._needs_both or checkpoint in self._triggered:
            return self._begin(checkpoint)
        stops = () if self._ahead else (events.StopReading(),)
        self._ahead.add(checkpoint)
        return stops

    def ended(self, checkpoint: int) -> events.SourceEffects:
        """The checkpoint was aborted, subsumed or declined: the task awaits nothing for it."""
        require_checkpoint_id(checkpoint)
        self._triggered.discard(checkpoint)
        return self._forget_announced({checkpoint})

    def status(self, running: bool) -> events.SourceEffects:
        """The task starts or stops running."""
        self._running = running
        return ()

    def observe(self) -> dict[str, Any]:
        """The state fields `running`, `told`, `ahead` and `reads`."""
        return {
            "running": self._running,
            "told": sorted(self._triggered),
            "ahead": sorted(self._ahead),
            "reads": self.reads,
        }

    def _declined(self, checkpoint: int) -> events.SourceEffects:
        """The decline of a trigger at a task that does not run (TASK-21)."""
        if self._running or not self._profile.refusals_decline:
            return ()
        return (SendDecline(checkpoint, events.TASK_FAILURE),)

    def _begin(self, checkpoint: int) -> events.SourceEffects:
        """Begin the checkpoint; older checkpoints cannot begin afterwards (TASK-22)."""
        self._triggered = {one for one in self._triggered if one > checkpoint}
        older = {one for one in self._ahead if one <= checkpoint}
        return (Trigger(checkpoint), *self._forget_announced(older))

    def _forget_announced(self, checkpoints: set[int]) -> events.SourceEffects:
        """Forget these announced checkpoints; if none is left, the source reads again."""
        waited = bool(self._ahead)
        self._ahead -= checkpoints
        return (events.GoOnReading(),) if waited and not self._ahead else ()

    _events = events_of(events.SourceEvent)


def source_from_config(config: Mapping[str, object]) -> SourceTask:
    """A new source task with the options of a configuration of the wire.

    Raises ConfigError for an unknown key, UnsupportedError for an unknown value.
    """
    only_keys(config, ("profile", "external"))
    profile = supported(config, "profile", SOURCE_PROFILES, NEWEST_SOURCE)
    external = supported(config, "external", tuple(External), External.NO)
    return SourceTask(External(external), SOURCE_PROFILES[profile])
