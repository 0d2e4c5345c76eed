"""Sequences of moves for a sink or a store: events, and random kills of the process, which then starts again.

A sequence is drawn before the implementation runs, so the seed alone determines it. A kill *during* an event
comes after a drawn share of the usual time of such an event. So the progress of the event at the kill is not
determined.

A large sequence has one step that takes milliseconds, so that a kill hits it: a sink commits many records or
many transactions, or a store gets many additions. An implementation that is not atomic has written only a
part of them during most of this time.
"""

import tempfile
import time
from bisect import insort
from collections import defaultdict
from collections.abc import Sequence
from itertools import count, islice
from random import Random
from typing import Any, NamedTuple

from conformance.adapters.protocol import Applied, Failure, Keeping, Killable, Made, Visible, Wire, canonical
from conformance.durable.expected import EXPECTED, TYPES, Expected, Wrong

MOVES = 25
"""The number of moves in one sequence."""
KILLED_BEFORE = 0.1
"""The probability that a move is a kill between two events."""
KILLED_DURING = {"snapshot": 0.15, "notify_complete": 0.6, "restore": 0.3, "add": 0.3}
"""The probability of a kill during an event; KILLED_RARELY for all events that make no data durable."""
KILLED_RARELY = 0.02
TRANSACTIONS = (24, 1)
"""The number of transactions that a large sequence commits at once; large sequences use these in turn."""
RECORDS = (8, 768)
"""The number of records in each of these transactions."""
ADDITIONS = 32
"""The number of additions to a store that are sent as one batch."""
SHOWN = ("latest",)
"""The effects that are compared. Of all other effects only the durable results are compared."""


class Move(NamedTuple):
    """A batch of events, a kill, or a kill during a batch. Most batches have one event."""

    events: tuple[Wire, ...] = ()
    killed: bool = False
    share: float = 0.0
    """The share of the median time of such a batch that passes before the kill."""
    size: int = 0
    """The size of a large sequence; batches of one size take about the same time. 0: a normal sequence."""

    @property
    def timed(self) -> object:
        """A key that is equal for batches that take about the same time."""
        return self.size or self.events[0]["kind"]

    def describe(self) -> str:
        """One line."""
        if not self.events:
            return "the process is killed, and started anew"
        sent = canonical(self.events[0]).decode()
        if len(self.events) > 1:
            sent = f"{len(self.events):,} events, {sent} to {canonical(self.events[-1]).decode()}"
        return f"{sent}, during which the process is killed, and started anew" if self.killed else sent


class SequenceResult(NamedTuple):
    """The result of one sequence. `wrong` or `failed` is at the last of `moves`, unless both are None."""

    moves: tuple[Move, ...]
    observations: int
    wrong: Wrong | None = None
    failed: Failure | None = None
    """The failure that came in place of an answer."""

    @property
    def is_sound(self) -> bool:
        """Whether no defect was found and every answer was received."""
        return self.wrong is None and self.failed is None


def draw(component: str, random: Random, *, kills: bool) -> tuple[Move, ...]:
    """One sequence of MOVES moves."""
    expected, moves = EXPECTED[component](), []
    for _ in range(MOVES):
        luck, event = random.random(), expected.draw(random)
        cut_short = KILLED_DURING.get(event["kind"], KILLED_RARELY)
        if kills and luck < KILLED_BEFORE + cut_short:
            during = event if luck < cut_short else None
            moves.append(Move((event,) if during else (), killed=True, share=random.random()))
            expected.restart(expected.visible(), during)
        else:
            moves.append(Move((event,)))
            expected.take(event)
    return tuple(moves)


def draw_large(component: str, random: Random, number: int) -> tuple[Move, ...]:
    """The large sequence of this number. The first one of each size has no kill, to measure its time."""
    drawn = {"sink": _large_commit, "store": _many_additions}[component]
    return drawn(random, number)


def _large_commit(random: Random, number: int) -> tuple[Move, ...]:
    """A kill during a commit, and the restore that must complete the commit; perhaps a kill during it too."""
    last = TRANSACTIONS[number % len(TRANSACTIONS)]
    values = count(1)
    written: list[Wire] = []
    for checkpoint in range(1, last + 1):
        records = islice(values, RECORDS[number % len(RECORDS)])
        written += [{"kind": "write", "value": value} for value in records]
        written.append({"kind": "snapshot", "checkpoint": checkpoint})
    prepared, size = Move(tuple(written), size=len(written)), last
    commit, restore = ({"kind": kind, "checkpoint": last} for kind in ("notify_complete", "restore"))
    if number < len(TRANSACTIONS):
        return prepared, Move((commit,), size=size)
    again = random.random() < 0.5
    return (
        prepared,
        Move((commit,), killed=True, share=random.random(), size=size),
        *([Move((restore,), killed=True, share=random.random(), size=size)] if again else ()),
        Move((restore,)),
    )


def _many_additions(random: Random, number: int) -> tuple[Move, ...]:
    """A kill during many additions. Later savepoints show whether the types are still known."""
    added = tuple(
        {"kind": "add", "checkpoint": one, "type": random.choice(TYPES)} for one in range(1, ADDITIONS + 3)
    )
    many = added[:ADDITIONS]
    if number == 0:
        return (Move(many, size=ADDITIONS),)
    behind = [Move(({**one, "type": "savepoint"},)) for one in added[ADDITIONS:]]
    return Move(many, killed=True, share=random.random(), size=ADDITIONS), *behind


class Player:
    """Plays sequences, and measures how long each kind of batch takes."""

    def __init__(self, component: str, adapter: Keeping) -> None:
        self._component, self._adapter = component, adapter
        self._seconds = defaultdict[object, list[float]](list)

    def play(self, sequence: tuple[Move, ...]) -> SequenceResult:
        """Play one sequence in a new folder. Raises WireError if the protocol does not permit a move."""
        with tempfile.TemporaryDirectory(prefix="barrierspec-durable-") as folder:
            expected = EXPECTED[self._component]()
            made = self._adapter.new_in(self._component, expected.config, folder)
            seen = 0
            for number, move in enumerate(sequence, 1) if isinstance(made, Made) else ():
                wrong, failed = self._move(move, expected, folder)
                seen += 1
                if wrong is not None or failed is not None:
                    return SequenceResult(sequence[:number], seen, wrong, failed)
            return SequenceResult(sequence, seen, None, None if isinstance(made, Made) else made)

    def _move(self, move: Move, expected: Expected, folder: str) -> tuple[Wrong | None, Failure | None]:
        if move.killed:
            return self._kill(move, expected, folder)
        permitted = [effect for event in move.events for effect in expected.take(event)]
        begun = time.monotonic()
        answer = self._adapter.apply(move.events)
        insort(self._seconds[move.timed], time.monotonic() - begun)
        if not isinstance(answer, Applied):
            return None, answer
        shown = [effect for effects in answer.effects for effect in effects]
        due, got = ([one for one in them if one["kind"] in SHOWN] for them in (permitted, shown))
        if canonical(due) != canonical(got):
            return Wrong("SUB-06", f"expected {due}, got {got}"), None
        seen = self._adapter.observe()
        return (expected.wrong(seen.values), None) if isinstance(seen, Visible) else (None, seen)

    def _kill(self, move: Move, expected: Expected, folder: str) -> tuple[Wrong | None, Failure | None]:
        assert isinstance(self._adapter, Killable)
        if move.events:
            self._adapter.submit(move.events)
            taken = self._seconds[move.timed] or [0.001]
            time.sleep(move.share * taken[len(taken) // 2])  # a busy wait would take the process's core
        self._adapter.kill()
        made = self._adapter.new_in(self._component, expected.config, folder)
        if not isinstance(made, Made):
            return None, made
        seen = self._adapter.observe()
        return (_cut_short(expected, move, seen.values), None) if isinstance(seen, Visible) else (None, seen)


def _cut_short(expected: Expected, move: Move, visible: Sequence[Any]) -> Wrong | None:
    """The defect after a kill during a batch; None if the visible data is permitted.

    It is permitted if some first events of the batch have their effect, and the next event has a part of its
    effect. If no number of first events explains the data, the result is the defect for the number whose
    expected data is most similar.
    """
    found: list[tuple[int, Wrong]] = []
    for event in move.events or (None,):
        wrong = expected.wrong(visible, event)
        if wrong is None:
            expected.restart(visible, event)
            return None
        found.append((len(set(map(repr, visible)) ^ set(map(repr, expected.visible()))), wrong))
        if event is not None:
            expected.take(event)
    return min(found)[1]
