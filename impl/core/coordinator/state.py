"""The state of one coordinator; `trigger`, `completion` and `timers` read and change it."""

from collections import deque
from collections.abc import Iterable

from impl.core.coordinator.events import IoStep
from impl.core.coordinator.failures import CheckpointFailureManager
from impl.core.coordinator.job import Job
from impl.core.coordinator.options import LEGACY, CoordinatorOptions
from impl.core.coordinator.pending import OrphanedMasterPhase, PendingCheckpoint
from impl.core.coordinator.requests import PostponedRequest, Request, RequestQueue
from impl.core.coordinator.scheduler import JobStatusListener, Scheduler
from impl.core.events import CheckpointType
from impl.core.store.retained import RetainedCheckpoints
from impl.core.store.store import Completed


class CoordinatorState:
    """The state of a coordinator whose next id is `first_id` and that retains `completed`, oldest first."""

    def __init__(self, options: CoordinatorOptions, first_id: int, completed: Iterable[int]) -> None:
        self.options = options
        self.profile = options.profile
        self.job = Job(options.tasks, options.profile, options.continues_after_tasks_finish)
        kept = [Completed(one, CheckpointType.CHECKPOINT) for one in completed][-options.retain :]
        savepoint = options.restored_savepoint
        if savepoint is None:
            self.retained = RetainedCheckpoints(options.retain, options.profile, kept)
        else:  # COORD-37; a claimed savepoint counts as a checkpoint of the job (SUB-13)
            owned = CheckpointType.CHECKPOINT if options.claims else CheckpointType.SAVEPOINT
            start, first_id = Completed(savepoint, owned), savepoint + 1
            self.retained = RetainedCheckpoints(
                options.retain, options.profile, savepoint=start, keeps_older=options.claim_mode == LEGACY
            )
        self.now = 0
        self.next_id = first_id
        self.failing_io: set[IoStep] = set()  # the steps that fail when they are taken next
        self._requests = 0
        self.begin()

    def begin(self) -> None:
        """Reset the state that is lost with a coordinator. Ids, time and durable checkpoints are kept."""
        options = self.options
        self.pending: dict[int, PendingCheckpoint] = {}  # ascending ids, as they are drawn
        self.queue = RequestQueue()
        self.postponed = PostponedRequest()
        self.failures = CheckpointFailureManager(options.tolerable_failures, options.profile)
        self.scheduler = Scheduler(
            options.interval_ms, options.initial_delay_ms, options.min_pause_ms, options.profile
        )
        self.shut_down = False
        self.turns = 0  # further turns that the queue gets within this event
        self.orphaned: OrphanedMasterPhase | None = None
        self.listener = JobStatusListener(self.job.tasks)
        self.pause_ends: int | None = None
        self.deletions: deque[bool] = deque()  # for each deletion under way: whether its end gives a turn

    def end_turns(self) -> int:
        """Reset the number of further turns of this event; returns the number before."""
        turns, self.turns = self.turns, 0
        return turns

    @property
    def has_capacity(self) -> bool:
        """Whether one more checkpoint may be pending (COORD-03)."""
        return len(self.pending) < self.options.max_concurrent

    def delete(self, number: int = 1, *, gives_turn: bool = True) -> None:
        """Begin deletions, which end at once unless cleaning is slow.

        `gives_turn`: the queue gets a turn when a deletion ends.
        """
        if self.options.slow_cleaning:
            self.deletions.extend([gives_turn] * number)
        elif gives_turn:
            self.turns += number

    def fails(self, step: IoStep) -> bool:
        """Whether this step fails now, because of `io_fails`; the next such step succeeds."""
        if step not in self.failing_io:
            return False
        self.failing_io.remove(step)
        return True

    @property
    def requires_full(self) -> bool:
        """Whether the next checkpoint must be full: none is complete since an unclaimed start (COORD-38)."""
        return self.options.is_unclaimed and self.retained.newest == self.options.restored_savepoint

    @property
    def too_many_deletions(self) -> bool:
        """Whether every request waits for the end of deletions (COORD-33)."""
        return len(self.deletions) > self.options.max_concurrent

    @property
    def pausing(self) -> bool:
        """Whether the minimum pause after the last completion lasts."""
        return self.pause_ends is not None and self.now < self.pause_ends

    @property
    def in_master_phase(self) -> bool:
        """Whether a checkpoint awaits an operator coordinator or a hook. At most one does so at a time."""
        newest = next(reversed(self.pending.values()), None)
        return self.orphaned is not None or (newest is not None and newest.in_master_phase)

    def request(
        self, requested: CheckpointType, *, periodic: bool, forced: bool = False, own: bool = False
    ) -> Request:
        """A new request; a savepoint is forced if the generation forces savepoints."""
        if requested is not CheckpointType.CHECKPOINT:
            may_wait = self.profile.savepoints_may_wait and self.options.unaligned
            forced = forced or not may_wait
        self._requests += 1
        return Request(requested, forced, periodic, own, self._requests)
