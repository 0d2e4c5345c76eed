"""In what order the lines of a log are replayed: as written within a thread, by causes between threads.

A line whose cause has not come yet waits, and with it the rest of its thread. When the cause comes from
another thread, the file had the two the other way round: a tolerated reordering, which is counted. A line
that waits in the end has no cause, or its cause stands behind it on its own thread.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import Said
from conformance.observe.replay import Rejected

Key = tuple[str | int, ...]


class Wait(NamedTuple):
    """A line has to wait until `key` happens."""

    key: Key
    rules: tuple[str, ...]
    """Charged if it never does."""
    why: str
    """The guard, in plain words."""
    reordering: str
    """What it is called if it does: one of `REORDERINGS`."""


REORDERINGS: dict[str, str] = {
    "checkpoint triggered before its tasks are seen running": "the coordinator's timer and the scheduler",
    "checkpoint triggered before the completion of an earlier one": "the timer and the acknowledging threads",
    "task starts a checkpoint before its trigger": "the task and the coordinator's timer",
    "barrier received before it was sent": "the receiving and the sending task",
    "asynchronous part starts before the synchronous one ends": "the writing thread and the task",
    "acknowledgement before its trigger": "an acknowledging thread and the timer",
    "acknowledgement before the asynchronous part starts": "an acknowledging and the writing thread",
    "completion before an acknowledgement of another thread": "two acknowledging threads",
    "discarded before the completion that replaces it": "the cleaning and an acknowledging thread",
    "notification before its completion": "the task and an acknowledging thread",
    "notification before the abort": "the task and the scheduler or the timer",
    "failure told before its cause": "the failure manager and the scheduler or the timer",
    "late answer before the end of its checkpoint": "an acknowledging thread and whoever ended it",
    "acknowledgement after the job left RUNNING": "an acknowledging thread and the scheduler",
    "job changes its state out of turn": "two threads of the scheduler",
    "asynchronous part told finished after its acknowledgement": "the writing and an acknowledging thread",
    "request refused after the tasks are seen running": "the timer and the scheduler",
}
"""The reorderings that are tolerated, and the threads between which they come about."""

_OF_TASK = frozenset(
    {
        grammar.BARRIER,
        grammar.GATE_TRIGGER,
        grammar.ALIGNED,
        grammar.CANCELLATION,
        grammar.OVERTAKEN,
        grammar.ENDED_EARLY,
        grammar.START,
        grammar.BROADCAST,
        grammar.SNAPSHOT,
        grammar.NO_SNAPSHOT,
        grammar.ABORTED_BEFORE,
        grammar.OUT_OF_ORDER,
        grammar.CANCELS,
        grammar.HEARD,
        grammar.TOLD,
        grammar.TASK,
    }
)
_OF_WRITER = frozenset({grammar.STORING, grammar.STORED, grammar.STORE_CLOSED, grammar.STORE_FAILED})
_OF_SCHEDULER = frozenset(
    {grammar.JOB, grammar.EXECUTION, grammar.DEPLOYED, grammar.RESTORED, grammar.ID_RESET}
)
_WITHOUT_THREAD = {
    grammar.TRIGGER: "timer",
    grammar.REFUSED: "timer",
    grammar.EXPIRED: "timer",
    grammar.FAILED: "failures",
}
GIVES: dict[str, tuple[str, ...]] = {
    grammar.TRIGGER: ("triggered",),
    grammar.ACK: ("completed", "ended", "free", "aborted"),
    grammar.COMPLETED: ("told completed",),
    grammar.START: ("broadcast",),
    grammar.SNAPSHOT: ("snapshot",),
    grammar.STORING: ("storing",),
    grammar.EXECUTION: ("running",),
    grammar.RESTORED: ("running",),
    grammar.JOB: ("job", "restarting", "free", "aborted", "ended"),
    grammar.DECLINED: ("free", "aborted", "ended"),
    grammar.EXPIRED: ("free", "aborted", "ended"),
    grammar.FAILED: ("free", "aborted", "ended"),
}
"""What a line of each kind may be the cause of: first words of keys."""
_OF_ITS_CHECKPOINT = frozenset(
    {"triggered", "completed", "told completed", "broadcast", "snapshot", "storing"}
)
_OF_ITS_TASK = frozenset({"snapshot", "storing"})


def lane_of(line: Said) -> str:
    """The thread whose order is trusted for this line.

    A task is one thread. The scheduler is one too, although it hops between threads of its pool. The
    threads that write snapshots are pooled by task: of them one snapshot's lines are in order.
    """
    if line.kind in _OF_TASK:
        return line.task
    if line.kind in _OF_WRITER:
        return f"{line.task} writing {line.checkpoint}"
    if line.kind in _OF_SCHEDULER:
        return "scheduler"
    return line.thread or _WITHOUT_THREAD.get(line.kind, "messages")


class Stuck(NamedTuple):
    """The line to name when lines wait for ever."""

    line: Said
    rules: tuple[str, ...]
    why: str


class Order:
    """Replays lines with `handle`, which answers with a Wait if the line's cause has not come."""

    def __init__(self, handle: Callable[[Said], Wait | None]) -> None:
        self.tolerated: Counter[str] = Counter()
        self.line: Said | None = None
        """The line that is being replayed."""
        self._handle = handle
        self._parked: dict[str, deque[Said]] = {}
        self._waits: dict[str, Wait] = {}
        self._waiting: dict[Key, list[str]] = defaultdict(list)
        self._ready: deque[str] = deque()

    def happened(self, *key: str | int) -> None:
        """Wake whoever waits for that."""
        if key in self._waiting:
            self._ready.extend(self._waiting.pop(key))

    def replay(self, said: Sequence[Said]) -> Stuck | None:
        """Replay all; answers the line that waits for ever, if one does. Raises Rejected."""
        parked = self._parked
        position = 0
        try:
            for position, line in enumerate(said):  # noqa: B007 - told when a line is rejected
                lane = lane_of(line)
                if lane in parked:
                    parked[lane].append(line)
                    continue
                self.line = line
                wait = self._handle(line)
                if wait is not None:
                    self._park(lane, wait, deque([line]))
                if self._ready:
                    self._go_on()
        except Rejected:
            rejected = self.line
            earlier = self.stuck(said[position + 1 :])
            if rejected is not None and earlier is not None and earlier.line.number < rejected.number:
                return earlier
            raise
        return self.stuck(())

    def _park(self, lane: str, wait: Wait, lines: deque[Said]) -> None:
        self._parked[lane] = lines
        self._waits[lane] = wait
        self._waiting[wait.key].append(lane)

    def _go_on(self) -> None:
        while self._ready:
            lane = self._ready.popleft()
            lines = self._parked.pop(lane)
            waited: Wait | None = self._waits.pop(lane)
            while lines:
                self.line = lines[0]
                wait = self._handle(lines[0])
                if wait is not None:
                    if waited is not None and waited.key != wait.key:
                        self.tolerated[waited.reordering] += 1
                        waited = None
                    self._park(lane, waited or wait, lines)
                    break
                if waited is not None:
                    self.tolerated[waited.reordering] += 1
                    waited = None
                lines.popleft()

    def waiting(self, number: int) -> Iterator[str]:
        """The first line that waits on each thread, but for the one of that number, and its guard."""
        heads = sorted((lines[0].number, lane) for lane, lines in self._parked.items())
        for line, lane in heads:
            if line != number:
                yield f"line {line}: {self._waits[lane].why}"

    def stuck(self, unread: Sequence[Said]) -> Stuck | None:
        """Of the lines that wait and that nothing to come can release, the first."""
        by_lane: dict[str, set[Key]] = {}
        for lane, lines in self._parked.items():
            by_lane[lane] = set(_keys(lines))
        given: set[Key] = set()
        for line in unread:
            lane = lane_of(line)
            by_lane.get(lane, given).update(_keys((line,)))
        hopeless = dict(self._waits)
        while True:
            released = [lane for lane, wait in hopeless.items() if wait.key in given]
            if not released:
                break
            for lane in released:
                del hopeless[lane]
                given |= by_lane[lane]
        first = min(hopeless, key=lambda lane: self._parked[lane][0].number, default=None)
        if first is None:
            return None
        wait = hopeless[first]
        behind = wait.key in by_lane[first] and not any(
            wait.key in keys for lane, keys in by_lane.items() if lane != first
        )
        why = f"{wait.why}: its cause stands behind it on the same thread" if behind else wait.why
        return Stuck(self._parked[first][0], wait.rules, why)


def _keys(lines: Iterable[Said]) -> Iterator[Key]:
    """The keys that lines may cause, as far as the lines themselves tell."""
    for line in lines:
        for word in GIVES.get(line.kind, ()):
            if word in _OF_ITS_TASK:
                yield word, line.task, line.checkpoint
            elif word in _OF_ITS_CHECKPOINT:
                yield word, line.checkpoint
            elif word == "job":
                yield word, line.detail.partition(">")[2]
            else:
                yield (word,)
