"""Tests the durable data of a sink or a store with random sequences of moves (events and kills).

It shortens a sequence that fails.
"""

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
from conformance.durable.move_sequences import Move, Player, SequenceResult, draw, draw_large
from model.components import WireError

SEQUENCES_PER_EXAMPLE = 0.2
"""The number of sequences for each example of the Hypothesis machine (`conformance.drive.plan`)."""
LARGE_SEQUENCES = 2
"""The number of large sequences for each sequence of normal size, if the process may be killed."""
REPEATS = 5
"""The number of repetitions of the shortest sequence, which show how often it fails."""


@dataclass(frozen=True)
class Durability:
    """The result of the sequences of one component."""

    sequences: int = 0
    kills: int = 0
    during: int = 0
    """Kills during an event."""
    observations: int = 0
    wrong: str = ""
    """The defect, with the moves that lead to it; empty: none."""
    undetermined: str = ""
    """The reason why the sequences ended without a verdict; empty: none."""
    unsupported: int = 0
    """Large sequences that ended with the answer `unsupported`."""
    not_killed: str = ""
    """The reason why no process was killed; empty: none."""

    def describe(self) -> str:
        """The bound, in one line."""
        kills = f"{self.kills} kills, {self.during} of them during an event"
        left_out = f", {self.unsupported} large sequences not supported" if self.unsupported else ""
        return (
            f"durable: {self.sequences} sequences, {self.not_killed or kills}, "
            f"{self.observations:,} observations{left_out}"
        )


def examine_durable(
    component: str, adapter: Adapter, offer: Offer, examples: int, seed: int, may_go_on: Callable[[], bool]
) -> Durability | None:
    """Play the sequences of one component; None if it offers neither `observe` nor `restart`."""
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
    sequences = kills = during = observations = unsupported = 0
    for sequence in _drawn(component, random, max(1, round(examples * SEQUENCES_PER_EXAMPLE)), kills=not why):
        if not may_go_on():
            break
        result = player.play(sequence)
        killed = [move for move in result.moves if move.killed]
        sequences, kills = sequences + 1, kills + len(killed)
        observations += result.observations
        during += sum(bool(move.events) for move in killed)
        if isinstance(result.failed, Unsupported) and any(move.size for move in sequence):
            unsupported += 1
        elif not result.is_sound:
            undetermined, wrong = _judged(result, player)
            return Durability(sequences, kills, during, observations, wrong, undetermined, unsupported, why)
    return Durability(sequences, kills, during, observations, unsupported=unsupported, not_killed=why)


def _drawn(component: str, random: Random, sequences: int, *, kills: bool) -> Iterator[tuple[Move, ...]]:
    for sequence in range(sequences):
        yield draw(component, random, kills=kills)
        for large in range(LARGE_SEQUENCES if kills else 0):
            yield draw_large(component, random, sequence * LARGE_SEQUENCES + large)


def _judged(result: SequenceResult, player: Player) -> tuple[str, str]:
    """The reason for UNDETERMINED, and the defect; one of the two is empty."""
    if isinstance(result.failed, Hung | Unsupported):
        return f"durable: {result.failed.describe()}", ""
    result, failures = _shortest_seen_again(result, player)
    if result.wrong is not None:
        what = f"{result.wrong.rule}: {result.wrong.what}"
    else:
        assert result.failed is not None
        what = result.failed.describe()
    moves = [f"{number}. {move.describe()}" for number, move in enumerate(result.moves, 1)]
    return "", "\n".join([f"durable: {what} (seen in {failures} of {REPEATS} repetitions), after", *moves])


def _shortest_seen_again(result: SequenceResult, player: Player) -> tuple[SequenceResult, int]:
    """The shortest sequence that fails again, and the number of its failures in REPEATS repetitions.

    Returns the original sequence and 0 if none fails again. The effect of a kill during an event depends on
    its exact time, so a shorter sequence may have failed just once.
    """
    for shorter in reversed(_shorter_and_shorter(result, player)):
        failures = sum(not player.play(shorter.moves).is_sound for _ in range(REPEATS))
        if failures:
            return shorter, failures
    return result, 0


def _shorter_and_shorter(result: SequenceResult, player: Player) -> list[SequenceResult]:
    """Sequences that fail in the same way. Each is made from the previous one by a simplification.

    The simplifications: kill at once; leave out one move or two adjacent moves; do not kill during an event.
    """
    found = [result]

    def try_out(moves: tuple[Move, ...]) -> None:
        with suppress(WireError):
            again = player.play(moves)
            if _kind(again) == _kind(found[-1]):
                found.append(again)

    try_out(tuple(move._replace(share=0.0) for move in result.moves))
    for size, start in product((2, 1), reversed(range(len(result.moves)))):
        moves = found[-1].moves
        if start < len(moves):
            try_out((*moves[:start], *moves[start + size :]))
    for start in range(len(found[-1].moves)):
        moves = found[-1].moves
        if start < len(moves) and moves[start].killed and moves[start].events:
            try_out((*moves[:start], moves[start]._replace(killed=False), *moves[start + 1 :]))
    return found


def _kind(result: SequenceResult) -> object:
    return result.wrong.rule if result.wrong is not None else type(result.failed)
