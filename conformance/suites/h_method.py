"""Complete test suites by the H-method, for implementations with up to k more states than the machine.

The theorem (Dorofeeva, El-Fakih, Yevtushenko 2005): let the machine be minimal, with n states. Let A be its
access words, one for each state. Call a word of A followed by 1 to k + 1 letters an *extension*. A suite is
complete for implementations with at most n + k states under two conditions. First, it contains A and every
defined extension. Second, take two words that lead to different states, of one of these kinds: two words of
A; a word of A and an extension; two extensions of which one is a prefix of the other. For each such pair, the
suite contains both words followed by the same separating word.

Proof: assume that an implementation passes the suite and is wrong. Take a shortest sequence of letters that
shows the error from a state reached by A. The sequence is longer than k + 1 letters, because the suite
contains all shorter ones. The n words of A and the k + 1 extensions along the sequence are n + k + 1 words,
so two of them lead the implementation to the same state. If they lead the machine to different states, their
separating word detects this, so the implementation fails the suite. If not, a part of the sequence can be
left out, so the sequence was not a shortest one.

Two states that differ only in their defined letters need no separating word: an implementation behind the
alphabet cannot be in the same state after words that the alphabet continues differently.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from conformance.suites.machine import END, Machine, Word, access_words
from conformance.suites.separation import Separation


@dataclass
class Branch:
    """A word of a suite, as a node in the tree of all its words."""

    state: int
    """The state of the machine after the word, or END."""
    children: dict[int, "Branch"] = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """A suite as a tree of words. Its sequences are the longest words, because these contain all prefixes."""

    machine: Machine
    extra: int
    """k: the suite is complete for implementations with at most k extra states."""
    root: Branch

    def words(self) -> Iterator[Word]:
        """The sequences, in the order of their letters."""
        pending: list[tuple[Word, Branch]] = [((), self.root)]
        while pending:
            word, branch = pending.pop()
            if not branch.children:
                yield word
            following = sorted(branch.children.items(), reverse=True)
            pending += (((*word, letter), child) for letter, child in following)


def suite(machine: Machine, extra: int) -> Suite:
    """The suite of a minimal machine, complete for implementations with at most `extra` more states."""
    return _Builder(machine, extra).built()


def base_size(machine: Machine, extra: int) -> int:
    """The number of extensions by exactly `extra` + 1 letters. It is nearly the size of the suite."""
    ways = [1] * machine.size
    for _ in range(extra + 1):
        ways = [sum(1 if step.target == END else ways[step.target] for _, step in machine.defined(s))
                for s in range(machine.size)]  # fmt: skip
    return sum(ways)


@cache
def _separation(machine: Machine) -> Separation:
    return Separation(machine)


class _Builder:
    def __init__(self, machine: Machine, extra: int) -> None:
        self._machine = machine
        self._extra = extra
        self._separation = _separation(machine)
        self._root = Branch(0)

    def built(self) -> Suite:
        access = [self._add(self._root, word) for word in access_words(self._machine)]
        for branch in access:
            for word in self._separation.words:
                self._add(branch, word)
        for branch in access:
            self._extend(branch, self._extra + 1)
        identified = {id(branch) for branch in access}
        for branch in access:
            for child in list(branch.children.values()):
                self._identify(child, self._extra, identified)
        for branch in access:
            for child in list(branch.children.values()):
                self._part(child, (), self._extra)
        return Suite(self._machine, self._extra, self._root)

    def _add(self, branch: Branch, word: Word) -> Branch:
        """The branch of the longest defined prefix of a word. Adds missing branches."""
        for letter in word:
            if branch.state == END:
                break
            step = self._machine.rows[branch.state][letter]
            if step is None:
                break
            following = branch.children.get(letter)
            if following is None:
                following = branch.children[letter] = Branch(step.target)
            branch = following
        return branch

    def _extend(self, branch: Branch, depth: int) -> None:
        """Add every defined word of at most `depth` letters after the branch."""
        if depth and branch.state != END:
            for letter, _ in self._machine.defined(branch.state):
                self._extend(self._add(branch, (letter,)), depth - 1)

    def _identify(self, branch: Branch, below: int, identified: set[int]) -> None:
        """Separate the state after each word below the branch from every other state, longest words first."""
        if branch.state == END:
            return
        if below:
            for letter, _ in self._machine.defined(branch.state):
                self._identify(branch.children[letter], below - 1, identified)
        if id(branch) in identified:
            return
        identified.add(id(branch))
        masks = self._separation.masks
        left = self._separation.separable[branch.state]
        for word in self._separation.words:
            if left and self._contains(branch, word):
                left &= ~masks[word][branch.state]
        while left:
            best = max(
                self._separation.words,
                key=lambda word: ((left & masks[word][branch.state]).bit_count(), -len(word)),
            )
            self._add(branch, best)
            left &= ~masks[best][branch.state]

    def _contains(self, branch: Branch, word: Word) -> bool:
        for letter in word:
            following = branch.children.get(letter)
            if following is None:
                return False
            branch = following
        return True

    def _part(self, branch: Branch, above: tuple[Branch, ...], below: int) -> None:
        """Separate the states after the prefixes of one extension from each other."""
        if branch.state == END:
            return
        for earlier in above:
            if earlier.state != branch.state and not self._parted(earlier, branch):
                word = self._separation.word(earlier.state, branch.state) or ()
                self._add(earlier, word)
                self._add(branch, word)
        if below:
            for letter, _ in self._machine.defined(branch.state):
                self._part(branch.children[letter], (*above, branch), below - 1)

    def _parted(self, one: Branch, other: Branch) -> bool:
        """Whether the suite already contains both branches followed by the same separating word."""
        for letter in one.children.keys() & other.children.keys():
            left, right = self._machine.rows[one.state][letter], self._machine.rows[other.state][letter]
            assert left is not None
            assert right is not None
            if left.output != right.output:
                return True
            after, twin = one.children[letter], other.children[letter]
            if after.state != twin.state and self._parted(after, twin):
                return True
        return False
