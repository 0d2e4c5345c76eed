"""Makes wrong machines with hidden states at random, and tests whether suites, tours or walks detect them.

A hidden state is a copy of a state of the model's machine. Only one transition leads to it, so the copy is
like a flag that this transition sets. Several hidden states form a chain. If a letter does not change the
state of the model, it either keeps the flag or clears it, at random. In the last hidden state, one output or
one target is wrong. All other transitions are those of the model.
"""

from collections.abc import Sequence
from itertools import zip_longest
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conformance.cases.tours import tours
from conformance.suites.h_method import suite
from conformance.suites.machine import END, Machine, Transition, Word, access_words, difference

WALK = 60
"""Maximum number of letters of one random walk."""
TRIES = 1_000
"""Maximum number of machines that are drawn, until one differs from the machine of the model."""
OPEN = -1
"""Represents the output of a letter that is not defined. Any answer to such a letter is correct."""

Rows = list[list[Transition | None]]
Numbers = NDArray[np.int64]


class Survivors(NamedTuple):
    """The number of wrong machines that the suite, the tours and the walks fail to detect."""

    suite: int
    tours: int
    walks: int


class Measured(NamedTuple):
    """A suite, tours and random walks: their sizes, and how many wrong machines pass each of them."""

    suite_size: tuple[int, int]
    tours_size: tuple[int, int]
    walks_size: tuple[int, int]
    anywhere: Survivors
    """Of machines in which any transition may set the flag."""
    deepest: Survivors
    """Of machines in which only a transition from a state furthest from the initial one sets the flag."""


def with_hidden_states(machine: Machine, hidden: int, rng: Random, *, deepest: bool = False) -> Machine:
    """A machine with `hidden` copies of states that answers some word differently.

    `deepest`: whether the transition that sets the flag starts in a state furthest from the initial one.
    Raises ValueError if TRIES drawn machines all answer every word as the model's machine does.
    """
    sources = _sources(machine, deepest=deepest)
    for _ in range(TRIES):
        made = _drawn(machine, rng.choice(sources), hidden, rng)
        if difference(machine, made) is not None:
            return made
    raise ValueError(f"no machine with {hidden} hidden states differs; give a machine with more letters")


def _sources(machine: Machine, *, deepest: bool) -> list[int]:
    depths = {
        state: len(word)
        for state, word in enumerate(access_words(machine))
        if any(step.target != END for _, step in machine.defined(state))
    }
    return [state for state, depth in depths.items() if not deepest or depth == max(depths.values())]


def _drawn(machine: Machine, state: int, hidden: int, rng: Random) -> Machine:
    rows: Rows = [list(row) for row in machine.rows]
    for copy in range(machine.size, machine.size + hidden):
        ways = [letter for letter, step in enumerate(rows[state]) if step and 0 <= step.target < machine.size]
        if not ways:
            break
        letter = rng.choice(ways)
        step = rows[state][letter]
        assert step is not None
        rows[state][letter] = step._replace(target=copy)
        rows.append(
            [
                way._replace(target=copy) if way and way.target == step.target and rng.random() < 0.5 else way
                for way in machine.rows[step.target]
            ]
        )
        state = copy
    _spoil(rows, state, rng)
    return Machine(machine.letters, tuple(tuple(row) for row in rows))


def _spoil(rows: Rows, state: int, rng: Random) -> None:
    """Change one output or one target of a state."""
    letter = rng.choice([letter for letter, step in enumerate(rows[state]) if step is not None])
    step = rows[state][letter]
    assert step is not None
    if rng.random() < 0.5 or step.target == END:
        others = sorted({str(way.output) for row in rows if (way := row[letter])} - {str(step.output)})
        output = rng.choice(others) if others else f"not {step.output}"
        rows[state][letter] = step._replace(output=output)
    else:
        rows[state][letter] = step._replace(target=rng.randrange(len(rows)))


class Words:
    """Defined words of a machine, as arrays. `size`: the number of words, and the number of their letters."""

    def __init__(self, machine: Machine, words: Sequence[Word]) -> None:
        self.size = len(words), sum(map(len, words))
        self._numbers: dict[object, int] = {}
        self._answers, self._targets = self._tables(machine)
        self._width = len(machine.letters) + 1
        columns = zip_longest(*words, fillvalue=len(machine.letters))
        self._letters = np.array(list(columns), np.int64)
        here = np.zeros(len(words), np.int64)
        self._steps = np.empty_like(self._letters)
        for steps, letters in zip(self._steps, self._letters, strict=True):
            steps[:] = here * self._width + letters
            here = self._targets[steps]

    def refuse(self, other: Machine) -> bool:
        """Whether `other` answers one of the words differently. Letters that it does not define do not count.

        Runs only the words that take a transition in which the machines differ.
        """
        answers, targets = self._tables(other)
        known = len(self._answers) - self._width  # without END
        differ = (answers[:known] != self._answers[:known]) | (targets[:known] != self._targets[:known])
        chosen = np.isin(self._steps, np.flatnonzero(differ)).any(axis=0)
        here = np.zeros(np.count_nonzero(chosen), np.int64)
        for letters, steps in zip(self._letters[:, chosen], self._steps[:, chosen], strict=True):
            taken = here * self._width + letters
            if ((answers[taken] != self._answers[steps]) & (answers[taken] != OPEN)).any():
                return True
            here = targets[taken]
        return False

    def _tables(self, machine: Machine) -> tuple[Numbers, Numbers]:
        """By state and letter: the number of the output, and the target. The last state is END.

        The last letter stands for no letter, behind the end of a word.
        """
        gap = Transition(None, END)
        steps = [
            step or gap for row in (*machine.rows, (gap,) * len(machine.letters)) for step in (*row, gap)
        ]
        answers = [
            OPEN if step.output is None else self._numbers.setdefault(step.output, len(self._numbers))
            for step in steps
        ]
        return np.array(answers), np.array([step.target for step in steps])


def tour_words(machine: Machine) -> list[Word]:
    """Words that together take every transition of a machine."""
    edges = [
        (state, letter, step.target)
        for state in range(machine.size)
        for letter, step in machine.defined(state)
    ]
    return [tuple(run) for run in tours(0, edges)]


def random_words(machine: Machine, events: int, rng: Random) -> list[Word]:
    """Random walks of at most WALK letters each. Together they have `events` letters."""
    words: list[Word] = []
    left = events
    while left > 0:
        word: list[int] = []
        state = 0
        while state != END and len(word) < min(WALK, left):
            steps = list(machine.defined(state))
            if not steps:
                break
            letter, step = rng.choice(steps)
            word.append(letter)
            state = step.target
        words.append(tuple(word))
        left -= max(len(word), 1)
    return words


def measured(machine: Machine, extra: int, machines: int, seed: int) -> Measured:
    """The number of wrong machines that pass the suite, tours and random walks, by kind of machine.

    They have 1 to `extra` hidden states. The walks have as many events as the suite.
    """
    chosen = Words(machine, list(suite(machine, extra).words()))
    toured = Words(machine, tour_words(machine))
    walked = Words(machine, random_words(machine, chosen.size[1], Random(f"{seed}/walks")))
    means = (chosen, toured, walked)
    kinds = []
    for deepest in (False, True):
        rng = Random(f"{seed}/{deepest}")
        wrong = [
            with_hidden_states(machine, 1 + number % extra, rng, deepest=deepest)
            for number in range(machines)
        ]
        kinds.append(Survivors(*(_passing(one, wrong) for one in means)))
    return Measured(chosen.size, toured.size, walked.size, *kinds)


def _passing(means: Words, wrong: Sequence[Machine]) -> int:
    return sum(not means.refuse(other) for other in wrong)
