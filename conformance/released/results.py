"""The parts of a release that are compared with the model (targets), and their results."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field

from conformance.adapters.protocol import Failure, Unsupported, Wire
from conformance.components.gate.unaligned_walks import MODES as OVERTAKING
from conformance.divergence import Divergence
from conformance.released.known_divergences import Known
from conformance.verdict import Verdict
from model.gate.profiles import PROFILES

OVERTAKEN = (1, 11)
"""From this release on, a barrier can overtake records, and the channel stores the overtaken records."""


@dataclass(frozen=True)
class Target(ABC):
    """A part of a release: its gate in one mode at one level, or another component."""

    version: str
    profile: str
    mode: str
    level: str
    after_finish: bool
    """Whether the release can count ended channels as aligned."""
    component: str = "gate"
    """The component. If it is not `gate`, `mode` has the same value, and there are no levels."""

    @property
    def seed(self) -> str:
        """The seed of random sequences. Two releases with the same profile get the same sequences.

        There are two exceptions: known divergences affect the choice of sequences, and no release gets an
        event that it cannot receive.
        """
        return f"{self.profile}/{self.mode}/{self.level}"

    @property
    def draws(self) -> Hashable:
        """The values that determine the sequences, if the release shows no divergence."""
        return self.seed, self.after_finish

    @property
    def place(self) -> tuple[str, str, str]:
        """The cell of the release matrix: version, mode or other component, and level."""
        return self.version, self.mode, self.level

    @property
    def minor(self) -> tuple[int, int]:
        """The first two numbers of the version."""
        major, minor, *_ = self.version.split(".")
        return int(major), int(minor)

    @abstractmethod
    def configs(self) -> list[Wire]:
        """The configurations of random sequences, which take turns."""


@dataclass
class Conformed:
    """The result of one target."""

    target: Target
    sequences: int = 0
    events: int = 0
    transitions: int = 0
    """The number of transitions of the small models that tours took."""
    paths: tuple[int, int, int] | None = None
    """Numbers of paths of the step functions: all, those of directed cases, and those that no run can take.

    Set at level handler only: where items of a blocked channel wait, a case may take another path.
    """
    reached: dict[str, int] = field(default_factory=dict)
    """By kind (states, transitions, pairs, paths): the number of different ones that sequences reached."""
    seconds: float = 0.0
    fields: tuple[str, ...] = ()
    """The fields of the release's observable state."""
    rules: set[str] = field(default_factory=set)
    """The rules from which the answers of compared steps follow."""
    known: Counter[str] = field(default_factory=Counter)
    """By name of a known divergence: the number of sequences that ended at it."""
    gone: list[Known] = field(default_factory=list)
    """Known divergences that no longer diverge."""
    new: list[Divergence] = field(default_factory=list)
    not_offered: list[str] = field(default_factory=list)
    """The configurations of the component that the release does not have, in its own words."""
    stopped: Failure | None = None
    """The reason why the search stopped early."""

    @property
    def skipped(self) -> bool:
        """Whether no sequence was sent, because the release or its model lacks this mode or level."""
        return isinstance(self.stopped, Unsupported) and not self.sequences

    @property
    def absent(self) -> bool:
        """Whether the release is older than the mode, or, for a channel, than stored overtaken records."""
        if self.target.component == "channel":
            return self.target.minor < OVERTAKEN
        return self.target.mode in OVERTAKING and not PROFILES[self.target.profile].has_unaligned

    @property
    def verdict(self) -> Verdict:
        """DIVERGES if there is a new divergence, or a known one no longer diverges.

        UNDETERMINED if the search stopped early, else CONFORMS.
        """
        if self.new or self.gone:
            return Verdict.DIVERGES
        return Verdict.UNDETERMINED if self.stopped is not None else Verdict.CONFORMS
