"""Wrong machines with hidden states, made at random: do a suite, tours or random walks refuse them?

A hidden state answers as the state that it is a copy of, but for one letter: there the output differs, or
what comes later. Such a machine takes every transition of the model's machine rightly, if it is reached in
the way that a tour happens to take.
"""

from collections.abc import Hashable, Iterable, Sequence
from random import Random
from typing import NamedTuple

from conformance.cases.tours import tours
from conformance.suites.h_method import Branch, Suite, suite
from conformance.suites.machine import END, Machine, Transition, Word, difference

WALK = 60
"""Letters of one random walk."""
TRIES = 1_000
"""Machines drawn until one differs from the model's."""

Rows = list[list[Transition | None]]


class Survivors(NamedTuple):
    """How many wrong machines pass, and how large the means are, as sequences and events."""

    machines: int
    suite: int
    tours: int
    walks: int
    suite_size: tuple[int, int]
    tours_size: tuple[int, int]
    walks_size: tuple[int, int]


def with_hidden_states(machine: Machine, hidden: int, rng: Random) -> Machine:
    """A machine with `hidden` copies of states that answers some word differently.

    Raises ValueError if TRIES machines were drawn and each answered every word as the model's does.
    """
    for _ in range(TRIES):
        made = _drawn(machine, hidden, rng)
        if difference(machine, made) is not None:
            return made
    raise ValueError(f"no machine with {hidden} hidden states differs; give a machine with more letters")


def _drawn(machine: Machine, hidden: int, rng: Random) -> Machine:
    rows: Rows = [list(row) for row in machine.rows]
    inner = [step.target for row in machine.rows for step in row if step is not None and step.target != END]
    originals = [rng.choice(inner) for _ in range(hidden)]
    for number, original in enumerate(originals):
        copy = machine.size + number
        rows.append(
            [
                step._replace(target=copy)  # the hidden memory lasts
                if step is not None and step.target == original and rng.random() < 0.5
                else step
                for step in machine.rows[original]
            ]
        )
    ways = [*range(machine.size)]
    for number, original in enumerate(originals):
        sources = [
            (state, letter)
            for state in (ways if number == 0 else [*ways, machine.size + number - 1])
            for letter, step in enumerate(rows[state])
            if step is not None and step.target == original
        ]
        if number > 0:  # one hidden state behind the other, if that can be
            sources = [source for source in sources if source[0] >= machine.size] or sources
        if sources:
            state, letter = rng.choice(sources)
            step = rows[state][letter]
            assert step is not None
            rows[state][letter] = step._replace(target=machine.size + number)
    _spoil(rows, len(rows) - 1, rng)
    return Machine(machine.letters, tuple(tuple(row) for row in rows))


def _spoil(rows: Rows, state: int, rng: Random) -> None:
    """Change one output or one target of a state."""
    letter = rng.choice([letter for letter, step in enumerate(rows[state]) if step is not None])
    step = rows[state][letter]
    assert step is not None
    others = [row[letter] for row in rows if row[letter] is not None]
    if rng.random() < 0.5 or step.target == END:
        outputs = sorted({str(other.output) for other in others if other and other.output != step.output})
        output: Hashable = rng.choice(outputs) if outputs else f"not {step.output}"
        rows[state][letter] = step._replace(output=output)
    else:
        rows[state][letter] = step._replace(target=rng.randrange(len(rows)))


def refuses_suite(chosen: Suite, other: Machine) -> bool:
    """A sequence of the suite is answered differently."""
    pending: list[tuple[Branch, int]] = [(chosen.root, 0)]
    while pending:
        branch, state = pending.pop()
        for letter, following in branch.children.items():
            right = chosen.machine.rows[branch.state][letter]
            step = other.rows[state][letter]
            assert right is not None
            if step is None:
                continue
            if step.output != right.output:
                return True
            if END not in (following.state, step.target):
                pending.append((following, step.target))
    return False


def refuses(machine: Machine, other: Machine, words: Iterable[Word]) -> bool:
    """One of the words is answered differently."""
    return any(machine.run(word) != other.run(word) for word in words)


def tour_words(machine: Machine) -> list[Word]:
    """Words that together take every transition of a machine."""
    edges = [
        (state, letter, step.target)
        for state in range(machine.size)
        for letter, step in machine.defined(state)
    ]
    return [tuple(run) for run in tours(0, edges)]


def random_words(machine: Machine, events: int, rng: Random) -> list[Word]:
    """Random walks of at most WALK letters, `events` letters in all."""
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


def survivors(machine: Machine, extra: int, machines: int, seed: int) -> Survivors:
    """How many of so many wrong machines with 1 to `extra` hidden states pass the suite, tours, random walks.

    The walks have as many events as the suite.
    """
    chosen = suite(machine, extra)
    suite_words = list(chosen.words())
    toured = tour_words(machine)
    walked = random_words(machine, sum(map(len, suite_words)), Random(f"{seed}/walks"))
    rng = Random(f"{seed}/machines")
    wrong = [with_hidden_states(machine, number % extra + 1, rng) for number in range(machines)]
    return Survivors(
        machines,
        sum(not refuses_suite(chosen, other) for other in wrong),
        sum(not refuses(machine, other, toured) for other in wrong),
        sum(not refuses(machine, other, walked) for other in wrong),
        _size(suite_words),
        _size(toured),
        _size(walked),
    )


def _size(words: Sequence[Word]) -> tuple[int, int]:
    return len(words), sum(map(len, words))
