"""The history of a job's checkpoints: completed ones, aborted ones, and the reasons."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckpointReport:
    """A completed checkpoint: its attempt, and the ms from its trigger to its publication."""

    checkpoint: int
    attempt: int
    duration_ms: float


class CheckpointHistory:
    """The checkpoints of all attempts of a job. `tolerated`: failures in a row that fail no attempt."""

    def __init__(self, tolerated: int) -> None:
        self._tolerated = tolerated
        self._declined: dict[int, str] = {}
        self.completions: list[CheckpointReport] = []
        self.aborted: list[tuple[int, str]] = []

    def declined(self, task: str, checkpoint: int, cause: str | None) -> None:
        """A task declines a checkpoint. `cause`: the error behind it, if there is one."""
        self._declined = {checkpoint: f" ({task}: {cause})"} if cause else {}

    def too_many_failures(self, reason: str) -> str:
        """The message for the last abort, which was one too many."""
        checkpoint, _ = self.aborted[-1]
        return (
            f"checkpoint {checkpoint} was aborted with {reason}{self._declined.get(checkpoint, '')}: more "
            f"failures in a row than the {self._tolerated} tolerated"
        )
