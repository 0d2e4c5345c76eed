"""The data and the clocks that the modules of a job's coordinator share."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from impl.config import CheckpointConfig
from impl.eventlog import EventLog
from impl.graph.plan import Plan
from impl.monitoring.wall_clock import wall_seconds
from impl.state import CheckpointStorage


@dataclass(frozen=True, slots=True)
class JobContext:
    """The data of one job on the driver, the same for all its attempts."""

    plan: Plan
    config: CheckpointConfig
    storage: CheckpointStorage
    log: EventLog | None = None
    clock: Callable[[], float] = time.monotonic
    """The clock for delays and intervals, in seconds."""
    wall_clock: Callable[[], float] = wall_seconds
    """The clock for times that people read, in seconds since 1970."""

    def line(self, **fields: object) -> None:
        """Append a line to the coordinator's log, if there is one."""
        if self.log:
            self.log.line(fields)
