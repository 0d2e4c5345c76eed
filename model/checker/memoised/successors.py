"""Computes the successors of a packed state from tables of answers. It is the `expand` of a composition.

`model.checker.compiled.kernels` compiles it together with the search. Beside a state, it reads `answers`: the
places of the parts, the four arrays of `model.checker.memoised.answer_trees`, the trees of the movers, and
the trees of the state properties. The words of a mover's answer name the trees of its offered events. The
words of an event's answer name the changed parts. Each has the number of its new value or, if the number is
below 0, the part from which the value is copied.
"""

from typing import Any

from numba import prange

from model.checker.compiled.breadth_first import Bytes, I, Ints, U, Words
from model.checker.memoised.answer_trees import (
    BREAKS,
    LEAF,
    MISSING,
    NUMBER_BITS,
    PLAIN,
    SPREAD_NODE,
    SPREAD_NUMBER,
)

PATIENCE = 32
"""`unanswered` stops if this number of successive states has no missing answer."""
BROKEN = 1
UNANSWERED = 2
CROWDED = 4
"""Flags: a property does not hold; an answer is missing; a state has more moves than the buffer holds."""


def answer_to(words: Words, tree: int, places: Ints, nodes: Ints, slots: Ints) -> int:
    """The answer of a tree for a state, or MISSING."""
    node = tree
    part = nodes[node, 0]
    while part != LEAF:
        number = I((words[places[part, 0]] >> U(places[part, 1])) & U(places[part, 2]))
        if number == nodes[node, 1]:
            node = nodes[node, 2]
        else:
            mask = len(slots) - 1
            key = (node << NUMBER_BITS) | number
            slot = (node * SPREAD_NODE + number * SPREAD_NUMBER) & mask
            while slots[slot, 0] != key:
                if slots[slot, 0] == 0:
                    return MISSING
                slot = (slot + 1) & mask
            node = slots[slot, 1]
        part = nodes[node, 0]
    answer: int = nodes[node, 3]
    return answer


def expand(words: Words, out: Words, fired: Bytes, answers: Any) -> tuple[int, int, int]:  # noqa: ANN401
    """Writes the successors of a state to `out`. Returns their number, the number of moves, and flags."""
    places, nodes, slots, spans, contents, movers, _ = answers
    count = 0
    for mover in movers:
        offered = answer_to(words, mover, places, nodes, slots)
        if offered == MISSING:
            return 0, 0, UNANSWERED
        for place in range(spans[offered, 0], spans[offered, 1]):
            step = answer_to(words, contents[place, 0], places, nodes, slots)
            if step == MISSING:
                return 0, 0, UNANSWERED
            stands = spans[step, 2]
            if stands == BREAKS:
                return 0, 0, BROKEN
            if stands != PLAIN:
                continue
            if count == len(out):
                return 0, 0, CROWDED
            for word in range(len(words)):
                out[count, word] = words[word]
            for change in range(spans[step, 0], spans[step, 1]):
                part, number = contents[change, 0], contents[change, 1]
                if number < 0:
                    source = ~number
                    number = I((words[places[source, 0]] >> U(places[source, 1])) & U(places[source, 2]))
                word, shift = places[part, 0], U(places[part, 1])
                out[count, word] &= ~(U(places[part, 2]) << shift)
                out[count, word] |= U(number) << shift
            count += 1
    return count, count, 0


def look_over_some(orders: Words, heads: Ints, ends: Ints, flagged: Ints, answers: Any) -> None:  # noqa: ANN401
    """Checks the state properties of the states of a level, until the level ends or a flag is raised.

    It begins at `heads`, and advances `heads`.
    """
    places, nodes, slots, spans, _, _, properties = answers
    for own in prange(len(heads)):
        head = heads[own]
        while head < ends[own] and flagged[own, 0] == 0:
            for known in properties:
                answer = answer_to(orders[own, head], known, places, nodes, slots)
                if answer == MISSING:
                    flagged[own, 0] = UNANSWERED
                elif spans[answer, 2] == BREAKS:
                    flagged[own, 0] = BROKEN
                if flagged[own, 0] != 0:
                    flagged[own, 1] = head
                    break
            if flagged[own, 0] == 0:
                head += 1
        heads[own] = head


def unanswered(
    order: Words,
    first: int,
    last: int,
    found: Ints,
    buffer: Words,
    fired: Bytes,
    answers: Any,  # noqa: ANN401 - the kernel's
) -> int:
    """Writes the positions in `order`, from `first` up to `last`, of states with missing answers to `found`.

    Returns the number of these states. Stops early if many successive states have no missing answer.
    """
    count, newest = 0, first
    for position in range(first, last):
        if position - newest > PATIENCE:
            break
        _, _, flags = expand(order[position], buffer, fired, answers)
        if flags == UNANSWERED:
            found[count] = newest = position
            count += 1
            if count == len(found):
                break
    return count
