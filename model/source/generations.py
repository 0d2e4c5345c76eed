"""The steps of a source's task in Flink 1.10 to 1.13. `source_steps` selects the steps of a task."""

from collections.abc import Mapping

from model.events import Effects
from model.source.events import Answer
from model.source.source_task import NEWEST_SOURCE, SOURCE_PROFILES, Source, SourceProfile, SourceSteps


class HookBeginsAlone(SourceSteps):
    """1.10 to 1.13: the hook of a reader begins the checkpoint, and no task declines at a trigger."""

    def answer(self, source: Source, checkpoint: int) -> Effects:
        """The effect of the answer: whether the task runs. No decline follows."""
        return (Answer(checkpoint, source.running),)

    def awaits_both(self, source: Source) -> bool:
        """False: the hook alone begins the checkpoint."""
        return False


_STEPS: Mapping[SourceProfile, SourceSteps] = {
    SOURCE_PROFILES["1.10"]: HookBeginsAlone(),
    NEWEST_SOURCE: SourceSteps(),
}


def source_steps(source: Source) -> SourceSteps:
    """The steps of the source's generation."""
    return _STEPS[source.profile]
