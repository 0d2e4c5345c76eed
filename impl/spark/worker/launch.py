"""The data that a worker receives with the Spark job."""

from dataclasses import dataclass
from pathlib import Path

from impl.config import ALTERNATING, UNALIGNED, ExecutionConfig
from impl.graph.plan import Plan
from impl.spark.channels.handshake import Credentials
from impl.state.locations import Where


@dataclass(frozen=True, slots=True)
class Launch:
    """The data of one attempt that is the same for all its workers."""

    plan: Plan
    lineage: str
    """The lineage of the checkpoint folder. The names of a sink's transactions contain it."""
    credentials: Credentials
    driver: tuple[str, int]
    """Host and port of the driver's listener."""
    execution: ExecutionConfig
    max_concurrent: int
    mode: str
    """The mode of every gate: exactly-once, at-least-once, unaligned or alternating."""
    alignment_timeout_ms: int
    checkpoints: Where
    inline_bytes: int
    """The maximum size in bytes of a snapshot in the manifest. A larger snapshot has its own file."""
    events: Path | None
    """The folder of the event log; None without one."""

    @property
    def attempt(self) -> int:
        """The number of the attempt."""
        return self.credentials.attempt

    @property
    def overtakes(self) -> bool:
        """Whether barriers may overtake. If so, the senders of channels need credits."""
        return self.mode in (UNALIGNED, ALTERNATING)
