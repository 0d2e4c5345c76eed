"""The steps of a source's task in Flink 1.10 to 1.14. `source_steps` selects the steps of a task."""

from collections.abc import Mapping

from model.events import Effects
from model.source.source_task import NEWEST_SOURCE, SOURCE_PROFILES, Source, SourceProfile, SourceSteps


class HookBeginsAlone(SourceSteps):
    """1.10 to 1.14: the hook of a reader begins the checkpoint."""

    def awaits_both(self, source: Source) -> bool:
        """False: the hook alone begins the checkpoint."""
        return False


class AnswersHaveNoEffect(HookBeginsAlone):
    """1.10 to 1.13: no trigger is declined because the task does not run."""

    def refusal(self, source: Source, checkpoint: int) -> Effects:
        """No decline."""
        return ()


_STEPS: Mapping[SourceProfile, SourceSteps] = {
    SOURCE_PROFILES["1.10"]: AnswersHaveNoEffect(),
    SOURCE_PROFILES["1.14"]: HookBeginsAlone(),
    NEWEST_SOURCE: SourceSteps(),
}


def source_steps(source: Source) -> SourceSteps:
    """The steps of the source's generation."""
    return _STEPS[source.profile]
