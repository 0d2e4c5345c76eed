"""Mealy machines over a finite alphabet: minimal form, shortest access words, separating words.

States and letters are numbers from 0 on. The initial state is 0. A machine may be partial: if a letter is not
defined in a state, it is never sent there. An output is any hashable value. A transition may end the run,
because the component has failed or is shut down. Then its target is END, and no letter follows.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

END = -1
"""The target of a transition after which no letter is sent."""

Word = tuple[int, ...]


class Transition(NamedTuple):
    """The answer of a machine to one letter in one state: the output and the next state."""

    output: Hashable
    target: int


class Machine(NamedTuple):
    """A deterministic Mealy machine.

    `rows[state][letter]` is None if the letter is not defined in the state.
    """

    letters: tuple[str, ...]
    """The names of the letters."""
    rows: tuple[tuple[Transition | None, ...], ...]

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.rows)

    def defined(self, state: int) -> Iterator[tuple[int, Transition]]:
        """The letters that are defined in a state, with their transitions."""
        return ((letter, step) for letter, step in enumerate(self.rows[state]) if step is not None)

    def run(self, word: Iterable[int], state: int = 0) -> list[Hashable]:
        """The outputs of a word, up to the first letter that is not defined."""
        outputs: list[Hashable] = []
        for letter in word:
            step = self.rows[state][letter] if state != END else None
            if step is None:
                break
            outputs.append(step.output)
            state = step.target
        return outputs

    def after(self, word: Iterable[int], state: int = 0) -> int:
        """The state after a defined word, or END. Raises ValueError if the word is not defined."""
        for letter in word:
            step = self.rows[state][letter] if state != END else None
            if step is None:
                raise ValueError(f"letter {self.letters[letter]} is not defined; give a defined word")
            state = step.target
        return state


def minimal(machine: Machine) -> Machine:
    """The smallest machine with the same outputs and the same defined words, numbered breadth first."""
    blocks = _partition(machine)
    order: dict[int, int] = {blocks[0]: 0}
    representatives = [0]
    for state in representatives:
        for _, step in machine.defined(state):
            if step.target != END and blocks[step.target] not in order:
                order[blocks[step.target]] = len(representatives)
                representatives.append(step.target)

    def renamed(step: Transition | None) -> Transition | None:
        if step is None or step.target == END:
            return step
        return Transition(step.output, order[blocks[step.target]])

    rows = tuple(tuple(renamed(step) for step in machine.rows[state]) for state in representatives)
    return Machine(machine.letters, rows)


def _partition(machine: Machine) -> list[int]:
    """For each state, the number of its class of equivalent states (Moore's partition refinement)."""
    blocks = [0] * machine.size
    count = 1
    while True:
        signatures: dict[Hashable, int] = {}
        refined = []
        for state, row in enumerate(machine.rows):
            signature = (
                blocks[state],
                tuple(
                    step and (step.output, END if step.target == END else blocks[step.target]) for step in row
                ),
            )
            refined.append(signatures.setdefault(signature, len(signatures)))
        if len(signatures) == count:
            return refined
        blocks, count = refined, len(signatures)


def access_words(machine: Machine) -> list[Word]:
    """For each state, a shortest word that leads to it. The set of these words is closed under prefixes.

    Raises ValueError if a state cannot be reached.
    """
    words: list[Word | None] = [None] * machine.size
    words[0] = ()
    queue = deque([0])
    while queue:
        state = queue.popleft()
        word = words[state]
        assert word is not None
        for letter, step in machine.defined(state):
            if step.target != END and words[step.target] is None:
                words[step.target] = (*word, letter)
                queue.append(step.target)
    found = [word for word in words if word is not None]
    if len(found) < machine.size:
        raise ValueError(f"{machine.size - len(found)} states cannot be reached; give a minimal machine")
    return found


def difference(left: Machine, right: Machine) -> Word | None:
    """A shortest word to which two machines over the same letters answer differently; None if there is none.

    If in a pair of states only one machine defines a letter, the letter is not compared.
    """
    return next(differences(left, right), None)


def differences(left: Machine, right: Machine) -> Iterator[Word]:
    """Yields a shortest word for each pair of states and letter with different outputs, shortest first.

    Words that continue behind a difference are not compared. Raises ValueError if the alphabets differ.
    """
    if left.letters != right.letters:
        raise ValueError("the machines have different alphabets; give machines over the same letters")
    queue: deque[tuple[int, int, Word]] = deque([(0, 0, ())])
    seen = {(0, 0)}
    while queue:
        one, other, word = queue.popleft()
        for letter, step in left.defined(one):
            twin = right.rows[other][letter]
            if twin is None:
                continue
            after = (step.target, twin.target)
            if step.output != twin.output or (END in after and after != (END, END)):
                yield (*word, letter)
            elif after not in seen and END not in after:
                seen.add(after)
                queue.append((*after, (*word, letter)))
