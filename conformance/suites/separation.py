"""Words that separate the states of a machine: few words for all pairs, and one word for each state."""

from collections import deque
from collections.abc import Hashable, Sequence

from conformance.suites.machine import END, Machine, Word

LONGEST = 4
"""Maximum number of letters of a word that separates one state from all others."""
SEARCHED = 5_000
"""Maximum number of sets of states that the search for such a word visits."""


class Separation:
    """Separating words: for each pair of different states, a shortest word with different outputs.

    The word is defined in both states. `words` is a pool of words. It has a separating word for each pair. If
    a short word separates a state from all others, the pool has this word, too. `masks[word][s]` has a bit
    for each state that the word separates from `s`.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._found = _separators(machine)
        self.separable = [0] * machine.size
        """By state: a bit for each state that some word separates from it."""
        for s, t in self._found:
            self.separable[s] |= 1 << t
            self.separable[t] |= 1 << s
        unique = (unique_word(machine, state, self._others(state)) for state in range(machine.size))
        self.words = tuple(dict.fromkeys((*self._pool(), *(word for word in unique if word))))
        self.masks = {word: _mask(machine, word) for word in self.words}

    def _others(self, state: int) -> frozenset[int]:
        return frozenset(t for t in range(self.machine.size) if t != state and self.word(state, t))

    def word(self, s: int, t: int) -> Word | None:
        """A shortest separating word of a pair; None if there is none."""
        return self._found.get((min(s, t), max(s, t)))

    def _pool(self) -> tuple[Word, ...]:
        """Few words that separate all separable pairs.

        A greedy choice takes words that separate most pairs.
        """
        left = list(self.separable)
        candidates = sorted(set(self._found.values()), key=lambda word: (len(word), word))
        masks = {word: _mask(self.machine, word) for word in candidates}
        chosen: list[Word] = []
        while any(left):
            best = max(candidates, key=lambda word: (_count(masks[word], left), -len(word)))
            chosen.append(best)
            left = [rest & ~mask for rest, mask in zip(left, masks[best], strict=True)]
        return tuple(chosen)


def unique_word(machine: Machine, state: int, others: frozenset[int]) -> Word | None:
    """A short word that separates a state from all of the others (a UIO sequence); None if none was found."""
    queue: deque[tuple[int, frozenset[int], Word]] = deque([(state, others, ())])
    seen: set[tuple[int, frozenset[int]]] = {(state, others)}
    while queue and len(seen) < SEARCHED:
        at, left, word = queue.popleft()
        for letter, step in machine.defined(at):
            after: set[int] = set()
            for other in left:
                twin = machine.rows[other][letter]
                if twin is None or (twin.output == step.output and twin.target == step.target):
                    break  # after this letter nothing separates the two
                if twin.output == step.output:
                    after.add(twin.target)
            else:
                if not after:
                    return (*word, letter)
                following = (step.target, frozenset(after))
                if END not in (step.target, *after) and len(word) + 1 < LONGEST and following not in seen:
                    seen.add(following)
                    queue.append((*following, (*word, letter)))
    return None


def _mask(machine: Machine, word: Word) -> list[int]:
    """By state: a bit for each state that the word separates from it."""
    answers = [tuple(machine.run(word, state)) for state in range(machine.size)]
    alike: dict[tuple[Hashable, ...], int] = {}
    for state, answer in enumerate(answers):
        alike[answer] = alike.get(answer, 0) | 1 << state
    apart = {
        answer: sum(states for other, states in alike.items() if _differ(answer, other)) for answer in alike
    }
    return [apart[answer] for answer in answers]


def _count(mask: Sequence[int], left: Sequence[int]) -> int:
    return sum((apart & rest).bit_count() for apart, rest in zip(mask, left, strict=True))


def _differ(one: Sequence[Hashable], other: Sequence[Hashable]) -> bool:
    """Whether two answers to the same word differ at a letter that is defined in both."""
    return any(a != b for a, b in zip(one, other, strict=False))


def _separators(machine: Machine) -> dict[tuple[int, int], Word]:
    """By separable pair (s < t): a shortest separating word, found by a breadth-first search backwards."""
    size = machine.size
    found: dict[tuple[int, int], Word] = {}
    before: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    queue: deque[tuple[int, int]] = deque()
    for s in range(size):
        for t in range(s + 1, size):
            for letter, step in machine.defined(s):
                twin = machine.rows[t][letter]
                if twin is None:
                    continue
                if step.output != twin.output:
                    found[s, t] = (letter,)
                    queue.append((s, t))
                    break
                if END in (step.target, twin.target) or step.target == twin.target:
                    continue
                after = (min(step.target, twin.target), max(step.target, twin.target))
                before.setdefault(after, []).append((s, t, letter))
    while queue:
        pair = queue.popleft()
        for s, t, letter in before.get(pair, ()):
            if (s, t) not in found:
                found[s, t] = (letter, *found[pair])
                queue.append((s, t))
    return found
