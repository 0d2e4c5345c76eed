"""Tests the durable data of a sink or a store with random lives, and shortens the first life that fails."""

from collections.abc import Callable, Iterator
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
from conformance.durable.lives import Lived, Move, Player, draw, draw_large
from model.components import WireError

LIVES_PER_EXAMPLE = 0.2
LARGE_LIVES = 2
"""The number of large lives for each life of normal size, if the process may be killed."""
REPEATS = 5
"""The number of repetitions of the shortest life, which show how often it fails."""


@dataclass(frozen=True)
class Durability:
    """The result of the lives of one component."""

    lives: int = 0
    kills: int = 0
    during: int = 0
    """Kills during an event."""
    observations: int = 0
    wrong: str = ""
    """The defect, with the moves that lead to it; empty: none."""
    undetermined: str = ""
    """Why the lives ended without a verdict."""
    unsupported: int = 0
    """Large lives that ended with the answer `unsupported`."""
    not_killed: str = ""
    """Why no process was killed."""

    def describe(self) -> str:
        """The bound, in one line."""
        kills = f"{self.kills} kills, {self.during} of them during an event"
        left_out = f", {self.unsupported} large lives not supported" if self.unsupported else ""
        return (
            f"durable: {self.lives} lives, {self.not_killed or kills}, "
            f"{self.observations:,} observations{left_out}"
        )


def examine_durable(
    component: str, adapter: Adapter, offer: Offer, examples: int, seed: int, may_go_on: Callable[[], bool]
) -> Durability | None:
    """Play the lives of one component; None if it offers neither `observe` nor `restart`."""
    if component not in EXPECTED or not {OBSERVE, RESTART} & set(offer.capabilities):
        return None
    if OBSERVE not in offer.capabilities:
        return Durability(
            undetermined="durable: `restart` is offered without `observe`, which it needs; offer both"
        )
    if not isinstance(adapter, Keeping):
        return Durability(
            undetermined="durable: this adapter takes no folder; start the implementation as a process"
        )
    why = "" if RESTART in offer.capabilities else "no kill, as `restart` is not offered"
    why = why or (
        "" if isinstance(adapter, Killable) else "no kill, as the implementation is in this process"
    )
    random, player = Random(f"{seed} durable {component}"), Player(component, adapter)
    lives = kills = during = observations = unsupported = 0
    for life in _drawn(component, random, max(1, round(examples * LIVES_PER_EXAMPLE)), kills=not why):
        if not may_go_on():
            break
        lived = player.play(life)
        killed = [move for move in lived.moves if move.killed]
        lives, observations, kills = lives + 1, observations + lived.observations, kills + len(killed)
        during += sum(bool(move.events) for move in killed)
        if isinstance(lived.failed, Unsupported) and any(move.size for move in life):
            unsupported += 1
        elif not lived.is_sound:
            undetermined, wrong = _judged(lived, player)
            return Durability(lives, kills, during, observations, wrong, undetermined, unsupported, why)
    return Durability(lives, kills, during, observations, unsupported=unsupported, not_killed=why)


def _drawn(component: str, random: Random, lives: int, *, kills: bool) -> Iterator[tuple[Move, ...]]:
    for life in range(lives):
        yield draw(component, random, kills=kills)
        for large in range(LARGE_LIVES if kills else 0):
            yield draw_large(component, random, life * LARGE_LIVES + large)


def _judged(lived: Lived, player: Player) -> tuple[str, str]:
    """The reason for UNDETERMINED, and what is wrong; one of them is empty."""
    if isinstance(lived.failed, Hung | Unsupported):
        return f"durable: {lived.failed.describe()}", ""
    lived, failures = _shortest_seen_again(lived, player)
    if lived.wrong is not None:
        what = f"{lived.wrong.rule}: {lived.wrong.what}"
    else:
        assert lived.failed is not None
        what = lived.failed.describe()
    moves = [f"{number}. {move.describe()}" for number, move in enumerate(lived.moves, 1)]
    return "", "\n".join([f"durable: {what} (seen in {failures} of {REPEATS} repetitions), after", *moves])


def _shortest_seen_again(lived: Lived, player: Player) -> tuple[Lived, int]:
    """The shortest life that fails again, and the number of its failures in REPEATS repetitions.

    Returns the original life if none fails again: the effect of a kill during an event depends on its moment,
    so a shorter life may have failed just once.
    """
    for shorter in reversed(_shorter_and_shorter(lived, player)):
        failures = sum(not player.play(shorter.moves).is_sound for _ in range(REPEATS))
        if failures:
            return shorter, failures
    return lived, 0


def _shorter_and_shorter(lived: Lived, player: Player) -> list[Lived]:
    """Lives that fail in the same way. Each is made from the previous one by a simplification.

    The simplifications: kill at once; leave out one move or two adjacent moves; do not kill during an event.
    """
    found = [lived]

    def try_out(moves: tuple[Move, ...]) -> None:
        with suppress(WireError):
            again = player.play(moves)
            if _kind(again) == _kind(found[-1]):
                found.append(again)

    try_out(tuple(move._replace(share=0.0) for move in lived.moves))
    for size, start in product((2, 1), reversed(range(len(lived.moves)))):
        moves = found[-1].moves
        if start < len(moves):
            try_out((*moves[:start], *moves[start + size :]))
    for start in range(len(found[-1].moves)):
        moves = found[-1].moves
        if start < len(moves) and moves[start].killed and moves[start].events:
            try_out((*moves[:start], moves[start]._replace(killed=False), *moves[start + 1 :]))
    return found


def _kind(lived: Lived) -> object:
    return lived.wrong.rule if lived.wrong is not None else type(lived.failed)
