"""What a packed state leads to, as tables of answers have it: the `expand` of a composed closed model.

Compiled beside the search (`model.checker.compiled.kernels`). What is read beside a state, `answers`: the
places of the parts, the four arrays of `model.checker.frames.answers`, the trees of movers and those of
state properties. The words of a mover's answer name the trees of the events that it offers; those of an
event's answer name the parts that are different after it, each with the number of its value, or, below 0,
with the part that it gets the value of.
"""

from typing import Any

from numba import prange

from model.checker.compiled.breadth_first import Bytes, I, Ints, U, Words
from model.checker.frames.answers import BREAKS, LEAF, MISSING, NUMBER_BITS, PLAIN, SPREAD_NODE, SPREAD_NUMBER

PATIENCE = 32
"""So many states of which all is known are passed over in search of the next one."""
BROKEN = 1
UNANSWERED = 2
CROWDED = 4
"""Flags: a property does not hold; the model has to be asked; a state has more moves than there is room."""


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
    """How many states a state leads to, which are written to `out`; how many moves that were; flags."""
    places, nodes, slots, spans, said, movers, _ = answers
    count = 0
    for mover in movers:
        offered = answer_to(words, mover, places, nodes, slots)
        if offered == MISSING:
            return 0, 0, UNANSWERED
        for place in range(spans[offered, 0], spans[offered, 1]):
            step = answer_to(words, said[place, 0], places, nodes, slots)
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
                part, number = said[change, 0], said[change, 1]
                if number < 0:
                    source = ~number
                    number = I((words[places[source, 0]] >> U(places[source, 1])) & U(places[source, 2]))
                word, shift = places[part, 0], U(places[part, 1])
                out[count, word] &= ~(U(places[part, 2]) << shift)
                out[count, word] |= U(number) << shift
            count += 1
    return count, count, 0


def look_over_some(orders: Words, heads: Ints, ends: Ints, flagged: Ints, answers: Any) -> None:  # noqa: ANN401
    """Ask the state properties of states from `heads` on, which it moves, until the level's end or a flag."""
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
    """Where in `order`, from `first` up to `last`, states stand of which something is not known; how many.

    Given up where none comes for a while.
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
