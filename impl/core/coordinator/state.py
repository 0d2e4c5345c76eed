"""What one coordinator remembers; its steps, in `starting` and `ending`, read and write it."""

from collections.abc import Iterable

from impl.core.coordinator.failures import CheckpointFailureManager
from impl.core.coordinator.job import Job
from impl.core.coordinator.job_status_listener import ExecutionListener
from impl.core.coordinator.options import CoordinatorOptions
from impl.core.coordinator.pending import OutlivedPhase, PendingCheckpoint
from impl.core.coordinator.requests import Request, RequestQueue, Turnstile
from impl.core.coordinator.scheduler import Scheduler
from impl.core.events import CheckpointType
from impl.core.store.retained import Retained
from impl.core.store.store import Completed


class Books:
    """The state of a coordinator that draws `first_id` next and retains `completed`, oldest first."""

    def __init__(self, options: CoordinatorOptions, first_id: int, completed: Iterable[int]) -> None:
        self.options = options
        self.generation = options.generation
        self.job = Job(options.tasks, options.generation, options.goes_on_after_tasks_finish)
        kept = [Completed(one, CheckpointType.CHECKPOINT) for one in completed][-options.retain :]
        self.retained = Retained(options.retain, options.generation, kept)
        self.now = 0
        self.next_id = first_id
        self._asked = 0
        self.begin()

    def begin(self) -> None:
        """Whatever dies with a coordinator begins anew; ids, time and what is durable go on."""
        options = self.options
        self.pending: dict[int, PendingCheckpoint] = {}  # ascending ids, as they are drawn
        self.queue = RequestQueue()
        self.turnstile = Turnstile()
        self.failures = CheckpointFailureManager(options.tolerable_failures, options.generation)
        self.scheduler = Scheduler(
            options.interval_ms, options.initial_delay_ms, options.min_pause_ms, options.generation
        )
        self.shut_down = False
        self.turns = 0  # that what waits is still to get within this event, beyond the first
        self.outlived: OutlivedPhase | None = None
        self.listener = ExecutionListener(self.job.tasks)
        self.pause_ends: int | None = None

    @property
    def room(self) -> bool:
        """Whether one more checkpoint may be pending (COORD-03)."""
        return len(self.pending) < self.options.max_concurrent

    @property
    def pausing(self) -> bool:
        """Whether the pause after the last completion is not over."""
        return self.pause_ends is not None and self.now < self.pause_ends

    @property
    def in_master_phase(self) -> bool:
        """Whether somebody is awaited before tasks are triggered; for one checkpoint at a time."""
        newest = next(reversed(self.pending.values()), None)
        return self.outlived is not None or (newest is not None and newest.in_master_phase)

    def request(
        self, requested: CheckpointType, *, forced: bool = False, periodic: bool = False, own: bool = False
    ) -> Request:
        """A request as it is asked now; savepoints are forced where their generation says so."""
        if requested is not CheckpointType.CHECKPOINT:
            aligned_only = self.generation.forces_aligned_savepoints_only
            forced = forced or not (aligned_only and self.options.unaligned)
        self._asked += 1
        return Request(requested, forced, periodic, own, self._asked)
