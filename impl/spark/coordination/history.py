"""How the checkpoints of a job went: those that completed, those that were aborted, and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckpointReport:
    """A completed checkpoint: in which attempt, and the ms from its trigger to its publication."""

    checkpoint: int
    attempt: int
    duration_ms: float


class Course:
    """Of all attempts of one job; `tolerated`: how many may fail in a row."""

    def __init__(self, tolerated: int) -> None:
        self._tolerated = tolerated
        self._declined: dict[int, str] = {}
        self.completions: list[CheckpointReport] = []
        self.aborted: list[tuple[int, str]] = []

    def declined(self, task: str, checkpoint: int, why: str | None) -> None:
        """A task declines a checkpoint; `why`: in plain words, where it knows."""
        self._declined = {checkpoint: f" ({task}: {why})"} if why else {}

    def too_many_failures(self, reason: str) -> str:
        """What to say of the abort that was one too many."""
        checkpoint, _ = self.aborted[-1]  # the abort goes before its consequence
        return (
            f"checkpoint {checkpoint} was aborted with {reason}{self._declined.get(checkpoint, '')}: more "
            f"failures in a row than the {self._tolerated} tolerated"
        )
