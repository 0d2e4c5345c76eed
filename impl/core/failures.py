"""When failing checkpoints fail the job: more consecutive counted failures than are tolerated.

Facts of Flink 1.15 to 2.3 (CheckpointFailureManager): only some reasons count; one checkpoint counts once
until the counter is cleared; a success clears the counter if it is the highest so far, and from then on
failures of checkpoints up to it are ignored (FLINK-18336). No rule of the index: the wire has no event
for it; the runtime asks it on every abort and completion.
"""

from typing import Final

from impl.core.effects import ASYNC_EXCEPTION, CHECKPOINT_EXPIRED
from impl.core.errors import ConfigError

UNLIMITED: Final = -1
UNKNOWN_CHECKPOINT: Final = -1
"""A failure before an id was drawn; it counts every time."""

CHECKPOINT_DECLINED: Final = "CHECKPOINT_DECLINED"
IO_EXCEPTION: Final = "IO_EXCEPTION"
FINALIZE_CHECKPOINT_FAILURE: Final = "FINALIZE_CHECKPOINT_FAILURE"

COUNTED_REASONS: Final = frozenset(
    {CHECKPOINT_DECLINED, ASYNC_EXCEPTION, CHECKPOINT_EXPIRED, IO_EXCEPTION, FINALIZE_CHECKPOINT_FAILURE}
)
"""Everything else, a subsumption, a cancellation or the end of a stream, is no failure of the job."""


class CheckpointFailureManager:
    """Counts failures. `tolerable`: how many in a row the job survives, -1 for any number."""

    def __init__(self, tolerable: int = 0) -> None:
        if tolerable < UNLIMITED:
            raise ConfigError(f"tolerable has to be -1 or more, came {tolerable}; -1 tolerates everything")
        self._tolerable = tolerable
        self._failures = 0
        self._counted: set[int] = set()
        self._highest_success = UNKNOWN_CHECKPOINT

    @property
    def failures(self) -> int:
        """Counted failures since the last success or the last failure of the job."""
        return self._failures

    def failed(self, checkpoint: int, reason: str) -> bool:
        """A checkpoint failed; answers whether the job has to fail, which clears the counter."""
        if self._tolerable == UNLIMITED or reason not in COUNTED_REASONS:
            return False
        if checkpoint != UNKNOWN_CHECKPOINT:
            if checkpoint <= self._highest_success or checkpoint in self._counted:
                return False
            self._counted.add(checkpoint)
        self._failures += 1
        if self._failures <= self._tolerable:
            return False
        self._clear()
        return True

    def completed(self, checkpoint: int) -> None:
        """A checkpoint completed; an older one than the highest so far says nothing about now."""
        if checkpoint > self._highest_success:
            self._highest_success = checkpoint
            self._clear()

    def _clear(self) -> None:
        self._failures = 0
        self._counted.clear()
