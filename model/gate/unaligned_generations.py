"""The steps of unaligned gates in Flink 1.13 and 1.14. `unaligned_steps` selects the steps of any gate.

`model.gate.first_decides` holds the steps of Flink 1.11 and 1.12.
"""

from collections.abc import Mapping

from model.events import Step
from model.gate.alignment import ALIGNED, TIMED, UNALIGNED, Options
from model.gate.alternating import UnalignedSteps
from model.gate.first_decides import CountsBarriers, FirstDecides, TypeDecides
from model.gate.profiles import PROFILES, Profile
from model.gate.unaligned import UnalignedGate


class SavepointsOvertake(UnalignedSteps):
    """1.13 and 1.14: the alignment of a savepoint may also continue unaligned."""

    def is_convertible(self, options: Options) -> bool:
        """Whether a checkpoint or savepoint with these options may continue unaligned (UNAL-21)."""
        return options.alignment == ALIGNED or options.alignment == TIMED or options.alignment == UNALIGNED


class TimesFromFirst(SavepointsOvertake, CountsBarriers):
    """1.13: a time-out counts from the first barrier or announcement. The gate counts repeated barriers."""

    def begin(self, gate: UnalignedGate, checkpoint: int, options: Options) -> Step[UnalignedGate]:
        """The checkpoint begins. The gate stores the time at which it begins."""
        step = super().begin(gate, checkpoint, options)
        return step._replace(state=step.state._replace(since=gate.now))

    def aligning_since(self, gate: UnalignedGate, options: Options) -> int:
        """Returns the virtual time in ms at which the first barrier or announcement arrived."""
        return gate.since


_STEPS: Mapping[Profile, UnalignedSteps] = {
    PROFILES["flink-1.11"]: TypeDecides(),
    PROFILES["flink-1.12"]: FirstDecides(),
    PROFILES["flink-1.13"]: TimesFromFirst(),
    PROFILES["flink-1.14.0"]: SavepointsOvertake(),
    PROFILES["flink-1.14"]: UnalignedSteps(),
}


def unaligned_steps(gate: UnalignedGate) -> UnalignedSteps:
    """The steps of the gate's generation, which has unaligned checkpoints."""
    return _STEPS[gate.profile]
