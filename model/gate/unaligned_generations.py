"""The steps of older generations of unaligned gates: `unaligned_steps` picks those of a gate.

`model.gate.first_decides` has Flink 1.11 and 1.12; 1.13 and 1.14 are here.
"""

from collections.abc import Mapping

from model.events import Step
from model.gate.alignment import ALIGNED, TIMED, UNALIGNED, Options
from model.gate.alternating import UnalignedSteps
from model.gate.first_decides import CountsBarriers, FirstDecides, TypeDecides
from model.gate.profiles import PROFILES, Profile
from model.gate.unaligned import UnalignedGate


class SavepointsOvertake(UnalignedSteps):
    """1.13 and 1.14: the alignment of a savepoint may be given up too."""

    def is_convertible(self, options: Options) -> bool:
        """A checkpoint or savepoint with these options may continue unaligned (UNAL-21)."""
        return options.alignment == ALIGNED or options.alignment == TIMED or options.alignment == UNALIGNED


class TimesFromFirst(SavepointsOvertake, CountsBarriers):
    """1.13: a time-out runs from the first barrier or announcement."""

    def begin(self, gate: UnalignedGate, checkpoint: int, options: Options) -> Step[UnalignedGate]:
        """The gate keeps when the checkpoint began."""
        step = super().begin(gate, checkpoint, options)
        return step._replace(state=step.state._replace(since=gate.now))

    def aligning_since(self, gate: UnalignedGate, options: Options) -> int:
        """When the first barrier or announcement arrived, in ms of virtual time."""
        return gate.since


_STEPS: Mapping[Profile, UnalignedSteps] = {
    PROFILES["flink-1.11"]: TypeDecides(),
    PROFILES["flink-1.12"]: FirstDecides(),
    PROFILES["flink-1.13"]: TimesFromFirst(),
    PROFILES["flink-1.14.0"]: SavepointsOvertake(),
    PROFILES["flink-1.14"]: UnalignedSteps(),
}


def unaligned_steps(gate: UnalignedGate) -> UnalignedSteps:
    """The steps of the gate's generation, which is one that has unaligned checkpoints."""
    return _STEPS[gate.profile]
