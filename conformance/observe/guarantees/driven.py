"""What guarantee does a component keep in a job? A gate or a sink is driven through failures and restores.

Everything around it is right: sources that go back to where the restored checkpoint stands, a state that is
restored with it, a coordinator that completes what is triggered. So what is lost or counted twice is the
component's own doing, and `classify` names it. Each schedule is drawn from a seed.
"""

from collections.abc import Hashable, Iterator, Mapping
from random import Random

from conformance.adapters.protocol import Adapter, Applied, Failure, Made, Wire
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
_FAILS_BEFORE, _FAILS_BEHIND = 0.4, 0.6
"""How likely a job with a sink fails before a checkpoint is complete, or else before the sink hears of it."""


class UndrivenError(Exception):
    """The component could not be driven to the end, or showed nothing; the message says why."""


def worst_of_gate(adapter: Adapter, config: Wire, seed: int) -> Classification:
    """The weakest of all schedules through a gate that is polled. Raises UndrivenError."""
    return _worst(
        _Gate(adapter, config, Random(f"{seed} gate {number}")).run() for number in range(SCHEDULES)
    )


def worst_of_sink(adapter: Adapter, config: Wire, seed: int) -> Classification:
    """The weakest of all schedules through a transactional sink. Raises UndrivenError."""
    return _worst(
        _Sink(adapter, config, Random(f"{seed} sink {number}")).run() for number in range(SCHEDULES)
    )


def _worst(accounts: Iterator[Account]) -> Classification:
    found = [classify(account) for account in accounts]
    return max(
        found, key=lambda one: len({each for finding in one.findings for each in finding.anomaly.refutes})
    )


_GATE_ONLY = frozenset(
    {"trigger", "block", "resume", "abort", "start_persisting", "stop_persisting", "prioritise", "persist"}
)
"""Effects that move no record here: the events come in an order in which no channel has to wait."""
_SINK_ONLY = frozenset({"commit", "begin", "abort_transaction"})
"""Effects that show no new row."""


class _Driven:
    """One instance after the other; an attempt begins with a new one."""

    component: str

    def __init__(self, adapter: Adapter, config: Wire, draw: Random) -> None:
        self.adapter, self.config, self.draw = adapter, config, draw

    def new(self) -> None:
        made = self.adapter.new(self.component, self.config)
        if not isinstance(made, Made):
            raise UndrivenError(f"{self.component}: {_said(made)}")

    def effects(self, event: Wire) -> Iterator[Wire]:
        answer = self.adapter.apply([event])
        if not isinstance(answer, Applied):
            raise UndrivenError(f"{self.component}, {dict(event)}: {_said(answer)}")
        yield from answer.effects[0]


def _said(failure: Failure | Made | Applied) -> str:
    return failure.describe() if not isinstance(failure, Made | Applied) else "answered something else"


# ---------------------------------------------------------------- a gate


class _Gate(_Driven):
    """Two sources before a gate, behind it a count by source, and an output that commits in two phases."""

    component = "gate"

    def __init__(self, adapter: Adapter, config: Wire, draw: Random) -> None:
        super().__init__(adapter, config, draw)
        self.state: dict[Hashable, Totals] = {}
        self.rows: list[Row] = []
        self.cut: tuple[dict[Hashable, Totals], int] | None = None
        """What the checkpoint holds: the state, and how many rows it commits."""

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
        self.state, self.rows = (
            dict(state),
            self.rows[:committed],
        )  # the failure; the rest was never committed
        self._attempt([[*range(start, _RECORDS)] for start in barrier], None)
        offsets: dict[Hashable, int] = {f"in-{lane}": at for lane, at in enumerate(barrier)}
        return Account(sent, self.rows, dict(self.state), [Cut(1, offsets, state)])

    def _attempt(self, records: list[list[int]], barriers: list[int] | None) -> None:
        """Deliver what the sources send, in an order that is drawn; the first attempt ends at the trigger."""
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
                raise UndrivenError(f"{self.component}, {dict(event)}: came {effect}, which ends this run")


# ---------------------------------------------------------------- a sink


class _Sink(_Driven):
    """One source before a sink; the job fails at any time, and goes on from what was completed last."""

    component = "sink"

    def __init__(self, adapter: Adapter, config: Wire, draw: Random) -> None:
        super().__init__(adapter, config, draw)
        self.written: dict[int, list[int]] = {}
        """By transaction, the records written into it."""
        self.shown: dict[int, list[Seen]] = {}
        """By transaction that was committed, its rows."""
        self.filed: dict[int, int] = {}
        """By transaction, the checkpoint that it was pre-committed for."""
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
        seen = [one for shown in self.shown.values() for one in shown]
        sent: dict[Hashable, Sent] = {at: Sent(_KEY, "in-0", at, 1) for at in range(_RECORDS)}
        return Account(sent, [one.row for one in seen], seen=seen)

    def _checkpoint(self, luck: float) -> bool:
        """One checkpoint; whether the job lives on: it may fail before it is complete, or is heard of."""
        self.checkpoint += 1
        self._take({"kind": "snapshot", "checkpoint": self.checkpoint})
        if luck < _FAILS_BEFORE:
            return False
        self.completed = self.checkpoint
        if luck < _FAILS_BEHIND:
            return False
        self._take({"kind": "notify_complete", "checkpoint": self.completed})
        return True

    def _fail(self, offsets: Mapping[int, int]) -> int:
        """The job fails and is restored; where its source goes on."""
        self._take({"kind": "crash"})
        self._take({"kind": "restore", "checkpoint": self.completed or None})
        return offsets[self.completed]

    def _take(self, event: Wire) -> None:
        for effect in self.effects(event):
            if effect["kind"] == "write":
                self.written.setdefault(effect["transaction"], []).append(effect["value"])
            elif effect["kind"] == "pre_commit":
                self.filed[effect["transaction"]] = self.checkpoint
            elif effect["kind"] == "commit" and effect["transaction"] not in self.shown:
                self._show(effect["transaction"])
            elif effect["kind"] not in _SINK_ONLY:
                raise UndrivenError(f"{self.component}, {dict(event)}: came {effect}, which ends this run")

    def _show(self, transaction: int) -> None:
        filed = self.filed.get(transaction, self.checkpoint + 1)
        rows = [Row(_KEY, at, at + 1, at + 1) for at in self.written.get(transaction, ())]
        self.shown[transaction] = [Seen(row, filed, filed <= self.completed) for row in rows]
