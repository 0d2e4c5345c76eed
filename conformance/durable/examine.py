"""Examine what a sink or a store keeps: lives by seed; the first that goes wrong is made shorter."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from random import Random

from conformance.adapters.protocol import (
    OBSERVE,
    RESTART,
    Adapter,
    Hung,
    Keeping,
    Killable,
    Offer,
    Unsupported,
)
from conformance.durable.expected import EXPECTED
from conformance.durable.lives import Lived, Player, draw
from model.components import WireError

LIVES_PER_EXAMPLE = 0.2
REPEATS = 5
"""How often the shortest life is played to see how often it fails."""


@dataclass(frozen=True)
class Durability:
    """What came of the lives of one component."""

    lives: int = 0
    kills: int = 0
    during: int = 0
    """Kills during an event."""
    observations: int = 0
    wrong: str = ""
    """What is wrong, with the moves that lead there; empty: nothing."""
    doubt: str = ""
    """Why the lives ended without a verdict."""
    not_killed: str = ""
    """Why no process was killed."""

    def describe(self) -> str:
        """The bound, in one line."""
        kills = f"{self.kills} kills, {self.during} of them during an event"
        return f"durable: {self.lives} lives, {self.not_killed or kills}, {self.observations:,} observations"


def examine_durable(
    component: str, adapter: Adapter, offer: Offer, examples: int, seed: int, may_go_on: Callable[[], bool]
) -> Durability | None:
    """Play the lives of one component; None if it offers neither `observe` nor `restart`."""
    if component not in EXPECTED or not {OBSERVE, RESTART} & set(offer.capabilities):
        return None
    if OBSERVE not in offer.capabilities:
        return Durability(doubt="durable: `restart` is offered without `observe`, which it needs; offer both")
    if not isinstance(adapter, Keeping):
        return Durability(
            doubt="durable: this adapter takes no folder; start the implementation as a process"
        )
    why = "" if RESTART in offer.capabilities else "no kill, as `restart` is not offered"
    why = why or (
        "" if isinstance(adapter, Killable) else "no kill, as the implementation is in this process"
    )
    random, player = Random(f"{seed} durable {component}"), Player(component, adapter)
    lives = kills = during = observations = 0
    while lives < max(1, round(examples * LIVES_PER_EXAMPLE)) and may_go_on():
        lived = player.play(draw(component, random, kills=not why))
        killed = [move for move in lived.moves if move.killed]
        lives, observations, kills = lives + 1, observations + lived.observations, kills + len(killed)
        during += sum(move.event is not None for move in killed)
        if not lived.is_sound:
            doubt, wrong = _judged(lived, player)
            return Durability(lives, kills, during, observations, wrong, doubt, why)
    return Durability(lives, kills, during, observations, not_killed=why)


def _judged(lived: Lived, player: Player) -> tuple[str, str]:
    """The doubt and what is wrong; one of them is empty."""
    if isinstance(lived.failed, Hung | Unsupported):
        return f"durable: {lived.failed.describe()}", ""
    lived = _shortest(lived, player)
    failures = sum(not player.play(lived.moves).is_sound for _ in range(REPEATS))
    if lived.wrong is not None:
        what = f"{lived.wrong.rule}: {lived.wrong.what}"
    else:
        assert lived.failed is not None
        what = lived.failed.describe()
    moves = [f"{number}. {move.describe()}" for number, move in enumerate(lived.moves, 1)]
    return "", "\n".join([f"durable: {what} (seen in {failures} of {REPEATS} repetitions), after", *moves])


def _shortest(lived: Lived, player: Player) -> Lived:
    """Leave out one move or two neighbours, while a life still goes wrong in the same way."""
    for size, start in product((2, 1), reversed(range(len(lived.moves)))):
        moves = (*lived.moves[:start], *lived.moves[start + size :])
        with suppress(WireError):
            again = player.play(moves)
            if _kind(again) == _kind(lived) and len(again.moves) < len(lived.moves):
                lived = again
    return lived


def _kind(lived: Lived) -> object:
    return lived.wrong.rule if lived.wrong is not None else type(lived.failed)
