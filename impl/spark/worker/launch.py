"""All that a worker is given to begin with."""

from dataclasses import dataclass, field
from pathlib import Path

from impl.config import ALTERNATING, UNALIGNED, ExecutionConfig
from impl.graph.plan import Plan


@dataclass(frozen=True, slots=True)
class Launch:
    """All that a worker is given to begin with; it travels inside the Spark job."""

    plan: Plan
    lineage: str
    """Of the checkpoint folder: what a sink names its transactions by."""
    attempt: int
    host: str
    port: int
    secret: bytes = field(repr=False)
    execution: ExecutionConfig
    max_concurrent: int
    mode: str
    """Of every gate: exactly-once, at-least-once, unaligned or alternating."""
    alignment_timeout_ms: int
    epoch: int
    """When the attempt began, in ms of the wall clock."""
    checkpoints: Path
    inline_bytes: int
    """A larger snapshot has a file of its own."""
    events: Path | None

    @property
    def overtakes(self) -> bool:
        """Whether barriers may overtake: channels wait for credits then."""
        return self.mode in (UNALIGNED, ALTERNATING)
