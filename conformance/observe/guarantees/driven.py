"""Drives a gate or a sink through jobs with failures and restores, and finds the guarantee that it keeps.

Everything around the component is correct: sources restart from the offsets of the restored checkpoint, and
the state is restored with it. So only the component can lose or duplicate a record, and `classify` names the
anomaly. A seed draws each schedule: the order of events, and the failures.
"""

from collections.abc import Hashable, Iterator, Mapping
from random import Random
from tempfile import TemporaryDirectory

from conformance.adapters.protocol import Adapter, Applied, Failure, Killable, Made, Visible, Wire
from conformance.observe.guarantees.guarantee import (
    Account,
    Classification,
    Cut,
    Row,
    Seen,
    Sent,
    Totals,
    classify,
)

SCHEDULES = 20
_RECORDS = 12
_CHANNELS = 2
_KEY = 0
_CHECKPOINTS = 8
_FAILS_BEFORE_COMPLETION, _FAILS_BEFORE_NOTIFICATION = 0.4, 0.6
"""Probability of a failure before a checkpoint is complete, and of one before the sink is notified of the
completion. The second includes the first."""


class UndrivenError(Exception):
    """The component could not be driven to the end of a schedule. The message has the reason."""


def worst_of_gate(adapter: Adapter, config: Wire, seed: int) -> Classification:
    """The result of the schedule in which a polled gate has most guarantees refuted. Raises UndrivenError."""
    return _worst(
        _Gate(adapter, config, Random(f"{seed} gate {number}")).run() for number in range(SCHEDULES)
    )


def worst_of_sink(adapter: Adapter, config: Wire, seed: int) -> Classification:
    """The same result for a transactional sink as `worst_of_gate` for a gate. Raises UndrivenError."""
    return _worst(
        _Sink(adapter, config, Random(f"{seed} sink {number}")).run() for number in range(SCHEDULES)
    )


def worst_of_durable_sink(adapter: Killable, config: Wire, seed: int) -> Classification:
    """As `worst_of_sink`, but each failure kills the process, and the output is the answer to `observe`.

    Raises UndrivenError.
    """
    accounts = []
    for number in range(SCHEDULES):
        with TemporaryDirectory(prefix="barrierspec-classify-") as folder:
            accounts.append(_DurableSink(adapter, config, Random(f"{seed} sink {number}"), folder).run())
    return _worst(iter(accounts))


def unexpected(component: str, event: Wire, effect: Wire) -> UndrivenError:
    """The error for an effect that the driven job does not expect."""
    return UndrivenError(f"{component}, {dict(event)}: expected an effect of a sound run, got {effect}")


def _worst(accounts: Iterator[Account]) -> Classification:
    found = [classify(account) for account in accounts]
    return max(
        found, key=lambda one: len({each for finding in one.findings for each in finding.anomaly.refutes})
    )


_GATE_ONLY = frozenset(
    {"trigger", "block", "resume", "abort", "start_persisting", "stop_persisting", "prioritise", "persist"}
)
"""Effects of a gate that are ignored, because they pass no record on."""
_SINK_ONLY = frozenset({"commit", "begin", "abort_transaction"})
"""Effects of a sink that are ignored, because they show no new row."""


class _Driven:
    """A component in a job, driven through an adapter."""

    component: str

    def __init__(self, adapter: Adapter, config: Wire, draw: Random) -> None:
        self.adapter, self.config, self.draw = adapter, config, draw

    def new(self) -> None:
        made = self.adapter.new(self.component, self.config)
        if not isinstance(made, Made):
            raise UndrivenError(f"{self.component}: {_described(made)}")

    def effects(self, event: Wire) -> Iterator[Wire]:
        answer = self.adapter.apply([event])
        if not isinstance(answer, Applied):
            raise UndrivenError(f"{self.component}, {dict(event)}: {_described(answer)}")
        yield from answer.effects[0]


def _described(failure: Failure | Made | Applied | Visible) -> str:
    if isinstance(failure, Made | Applied | Visible):
        return "expected an answer of another kind"
    return failure.describe()


# ---------------------------------------------------------------- a gate


class _Gate(_Driven):
    """A gate in a job: two sources before it, a count by source after it, output with two-phase commit."""

    component = "gate"

    def __init__(self, adapter: Adapter, config: Wire, draw: Random) -> None:
        super().__init__(adapter, config, draw)
        self.state: dict[Hashable, Totals] = {}
        self.rows: list[Row] = []
        self.cut: tuple[dict[Hashable, Totals], int] | None = None
        """The state in the checkpoint, and the number of rows that it commits; None before the trigger."""

    def run(self) -> Account:
        lanes = range(_CHANNELS)
        barrier = [self.draw.randrange(2, _RECORDS - 4) for _ in lanes]
        sent: dict[Hashable, Sent] = {
            f"{lane}:{at}": Sent(lane, f"in-{lane}", at, at + 1) for lane in lanes for at in range(_RECORDS)
        }
        self._attempt([[*range(_RECORDS)] for _ in lanes], barrier)
        if self.cut is None:
            raise UndrivenError("gate: no checkpoint was triggered although its barrier came on each channel")
        state, committed = self.cut
        self.state, self.rows = dict(state), self.rows[:committed]  # the failure drops uncommitted rows
        self._attempt([[*range(start, _RECORDS)] for start in barrier], None)
        offsets: dict[Hashable, int] = {f"in-{lane}": at for lane, at in enumerate(barrier)}
        return Account(sent, self.rows, dict(self.state), [Cut(1, offsets, state)])

    def _attempt(self, records: list[list[int]], barriers: list[int] | None) -> None:
        """Deliver the records in a random order.

        `barriers`: by lane, the position of the barrier. The attempt then ends when the gate triggers.
        """
        self.new()
        waiting: list[list[Wire]] = []
        for lane, numbers in enumerate(records):
            items: list[Wire] = [{"kind": "record", "channel": lane, "value": at} for at in numbers]
            if barriers is not None:
                items.insert(barriers[lane], {"kind": "barrier", "channel": lane, "checkpoint": 1})
            waiting.append(items)
        while any(waiting):
            lane = self.draw.choice([lane for lane, items in enumerate(waiting) if items])
            for _ in range(self.draw.randrange(1, 5)):
                if waiting[lane]:
                    self._take(waiting[lane].pop(0))
            if barriers is not None and self.cut is not None:
                return

    def _take(self, event: Wire) -> None:
        for effect in self.effects(event):
            if effect["kind"] == "process":
                lane, at = effect["channel"], effect["value"]
                before = self.state.get(lane, Totals(0, 0))
                after = Totals(before.records + 1, before.total + at + 1)
                self.state[lane] = after
                self.rows.append(Row(lane, f"{lane}:{at}", after.records, after.total))
            elif effect["kind"] == "trigger" and self.cut is None:
                self.cut = (dict(self.state), len(self.rows))
            elif effect["kind"] not in _GATE_ONLY:
                raise unexpected(self.component, event, effect)


# ---------------------------------------------------------------- a sink


class _Sink(_Driven):
    """A sink with one source; the job may fail at any time, and restores the last completed checkpoint."""

    component = "sink"

    def __init__(self, adapter: Adapter, config: Wire, draw: Random) -> None:
        super().__init__(adapter, config, draw)
        self.written: dict[int, list[int]] = {}
        """By transaction: the records that were written into it."""
        self.committed: dict[int, list[Seen]] = {}
        """By committed transaction: its rows."""
        self.pre_committed: dict[int, int] = {}
        """By transaction: the checkpoint for which it was pre-committed."""
        self.checkpoint = self.completed = 0

    def run(self) -> Account:
        offsets: Mapping[int, int] = {0: 0}
        at = 0
        self.new()
        for _ in range(_CHECKPOINTS):
            for _ in range(self.draw.randrange(1, 3)):
                if at < _RECORDS:
                    self._take({"kind": "write", "value": at})
                    at += 1
            offsets = {**offsets, self.checkpoint + 1: at}
            if not self._checkpoint(self.draw.random()):
                at = self._fail(offsets)
        for last in range(at, _RECORDS):
            self._take({"kind": "write", "value": last})
        self._checkpoint(1.0)
        sent: dict[Hashable, Sent] = {at: Sent(_KEY, "in-0", at, 1) for at in range(_RECORDS)}
        return self._account(sent)

    def _account(self, sent: dict[Hashable, Sent]) -> Account:
        seen = [one for rows in self.committed.values() for one in rows]
        return Account(sent, [one.row for one in seen], seen=seen)

    def _checkpoint(self, chance: float) -> bool:
        """Take a checkpoint. Returns False if the job fails before its completion or its notification.

        `chance`: a number from 0 to 1 that decides whether and where the job fails.
        """
        self.checkpoint += 1
        self._take({"kind": "snapshot", "checkpoint": self.checkpoint})
        if chance < _FAILS_BEFORE_COMPLETION:
            return False
        self.completed = self.checkpoint
        if chance < _FAILS_BEFORE_NOTIFICATION:
            return False
        self._take({"kind": "notify_complete", "checkpoint": self.completed})
        return True

    def _fail(self, offsets: Mapping[int, int]) -> int:
        """Fail the job and restore it. Returns the offset from which its source continues."""
        self._take({"kind": "crash"})
        self._take({"kind": "restore", "checkpoint": self.completed or None})
        return offsets[self.completed]

    def _take(self, event: Wire) -> None:
        for effect in self.effects(event):
            if effect["kind"] == "write":
                self.written.setdefault(effect["transaction"], []).append(effect["value"])
            elif effect["kind"] == "pre_commit":
                self.pre_committed[effect["transaction"]] = self.checkpoint
            elif effect["kind"] == "commit" and effect["transaction"] not in self.committed:
                self._commit(effect["transaction"])
            elif effect["kind"] not in _SINK_ONLY:
                raise unexpected(self.component, event, effect)

    def _commit(self, transaction: int) -> None:
        checkpoint = self.pre_committed.get(transaction, self.checkpoint + 1)
        rows = [Row(_KEY, at, at + 1, at + 1) for at in self.written.get(transaction, ())]
        self.committed[transaction] = [Seen(row, checkpoint, checkpoint <= self.completed) for row in rows]


class _DurableSink(_Sink):
    """A sink whose process is killed at each failure. Its rows are those that a reader of its output sees."""

    adapter: Killable

    def __init__(self, adapter: Killable, config: Wire, draw: Random, folder: str) -> None:
        super().__init__(adapter, config, draw)
        self._folder = folder

    def new(self) -> None:
        made = self.adapter.new_in(self.component, self.config, self._folder)
        if not isinstance(made, Made):
            raise UndrivenError(f"{self.component}: {_described(made)}")

    def _fail(self, offsets: Mapping[int, int]) -> int:
        self.adapter.kill()
        self.new()
        self._take({"kind": "restore", "checkpoint": self.completed or None})
        return offsets[self.completed]

    def _account(self, sent: dict[Hashable, Sent]) -> Account:
        answer = self.adapter.observe()
        if not isinstance(answer, Visible):
            raise UndrivenError(f"{self.component}, observe: {_described(answer)}")
        return Account(sent, [Row(_KEY, at, at + 1, at + 1) for at in answer.values])
