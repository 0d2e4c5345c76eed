"""Lives of a sink or a store: events, and at random moments the process is killed and started anew.

A life is drawn with the model alone, so a seed decides it. When a process is killed *during* an event, the
share of such an event's time that passes before is part of the life; how far the event came is not.
"""

import tempfile
import time
from bisect import insort
from collections import defaultdict
from random import Random
from typing import NamedTuple

from conformance.adapters.protocol import Applied, Failure, Keeping, Killable, Made, Visible, Wire, canonical
from conformance.durable.expected import EXPECTED, Expected, Wrong

MOVES = 25
"""Moves of one life."""
KILLED_BEFORE = 0.1
"""How likely a move is a kill with no event under way."""
KILLED_DURING = {"snapshot": 0.15, "notify_complete": 0.6, "restore": 0.3, "add": 0.3}
"""How likely an event is cut short by a kill; others, which make nothing durable, as KILLED_RARELY."""
KILLED_RARELY = 0.02
SHOWN = ("latest",)
"""Effects that are compared; of all others only what they leave behind counts."""


class Move(NamedTuple):
    """An event, a kill, or a kill during an event."""

    event: Wire | None
    killed: bool = False
    share: float = 0.0
    """Of the median time of such an event, how much passes before the kill."""

    def describe(self) -> str:
        """One line."""
        if self.event is None:
            return "the process is killed, and started anew"
        sent = canonical(self.event).decode()
        return f"{sent}, during which the process is killed, and started anew" if self.killed else sent


class Lived(NamedTuple):
    """What came of one life. `wrong` or `failed` is at the last of `moves`, unless both are None."""

    moves: tuple[Move, ...]
    observations: int
    wrong: Wrong | None = None
    failed: Failure | None = None
    """In place of an answer."""

    @property
    def is_sound(self) -> bool:
        """Nothing was wrong, and every answer came."""
        return self.wrong is None and self.failed is None


def draw(component: str, random: Random, *, kills: bool) -> tuple[Move, ...]:
    """One life of MOVES moves."""
    expected, moves = EXPECTED[component](), []
    for _ in range(MOVES):
        luck, event = random.random(), expected.draw(random)
        cut_short = KILLED_DURING.get(event["kind"], KILLED_RARELY)
        if kills and luck < KILLED_BEFORE + cut_short:
            during = event if luck < cut_short else None
            moves.append(Move(during, killed=True, share=random.random()))
            expected.restart(expected.visible(), during)
        else:
            moves.append(Move(event))
            expected.take(event)
    return tuple(moves)


class Player:
    """Plays lives; it learns how long each kind of event takes."""

    def __init__(self, component: str, adapter: Keeping) -> None:
        self._component, self._adapter = component, adapter
        self._seconds = defaultdict[str, list[float]](list)

    def play(self, life: tuple[Move, ...]) -> Lived:
        """Play one life in a folder of its own. Raises WireError if the protocol does not permit it."""
        with tempfile.TemporaryDirectory(prefix="barrierspec-durable-") as folder:
            expected = EXPECTED[self._component]()
            made = self._adapter.new_in(self._component, expected.config, folder)
            seen = 0
            for number, move in enumerate(life, 1) if isinstance(made, Made) else ():
                wrong, failed = self._move(move, expected, folder)
                seen += 1
                if wrong is not None or failed is not None:
                    return Lived(life[:number], seen, wrong, failed)
            return Lived(life, seen, None, None if isinstance(made, Made) else made)

    def _move(self, move: Move, expected: Expected, folder: str) -> tuple[Wrong | None, Failure | None]:
        if move.killed:
            return self._kill(move, expected, folder)
        assert move.event is not None
        permitted = expected.take(move.event)
        begun = time.monotonic()
        answer = self._adapter.apply([move.event])
        insort(self._seconds[move.event["kind"]], time.monotonic() - begun)
        if not isinstance(answer, Applied):
            return None, answer
        due, got = ([one for one in them if one["kind"] in SHOWN] for them in (permitted, answer.effects[0]))
        if canonical(due) != canonical(got):
            return Wrong("SUB-06", f"expected {due}, got {got}"), None
        return self._judge(expected, None)

    def _kill(self, move: Move, expected: Expected, folder: str) -> tuple[Wrong | None, Failure | None]:
        assert isinstance(self._adapter, Killable)
        if move.event is not None:
            self._adapter.submit([move.event])
            taken = self._seconds[move.event["kind"]] or [0.001]
            time.sleep(move.share * taken[len(taken) // 2])  # a busy wait would keep the other off the core
        self._adapter.kill()
        made = self._adapter.new_in(self._component, expected.config, folder)
        return self._judge(expected, move) if isinstance(made, Made) else (None, made)

    def _judge(self, expected: Expected, kill: Move | None) -> tuple[Wrong | None, Failure | None]:
        seen = self._adapter.observe()
        if not isinstance(seen, Visible):
            return None, seen
        wrong = expected.wrong(seen.values, None if kill is None else kill.event)
        if wrong is None and kill is not None:
            expected.restart(seen.values, kill.event)
        return wrong, None
