"""Whether the kinds of effects match the expression of a frame, if some of them come any number of times.

A run of effects of one kind is matched at each number from 0 to one more than the expression names the kind.
More are alike: in each of these expressions a star belongs to a word or to a choice of words, so whatever
matches one more than it can name has used a star, which takes any further number.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from model.checker.any_number.members import Many
from model.checker.any_number.rope import Rope
from model.checker.symbolic import SymbolicBool, SymbolicUseError
from model.frames import is_permitted as plain_is_permitted

_STARRED = re.compile(r"(\w+|\((?:\w+(?:\s*\|\s*\w+)*)\))\*")


def is_permitted(pattern: str, kinds: tuple[str, ...]) -> bool:
    """`model.frames.is_permitted` over a rope; on a path, the run forks if a cell may be empty."""
    if not isinstance(kinds, Rope):
        return plain_is_permitted(pattern, kinds)
    if pattern.count("*") != len(_STARRED.findall(pattern)):
        raise SymbolicUseError(f"a star belongs to more than a word or a choice of words in {pattern!r}")
    if _matches(pattern, kinds.cells, lowest=0):
        return True
    possible = (_possible(cell) if isinstance(cell, Many) else cell for cell in kinds.cells)
    present = tuple(cell for cell in possible if not isinstance(cell, Many) or cell.behaviours)
    return _matches(pattern, present, lowest=1)


def _possible(cell: Many) -> Many:
    """The cell with those of its cases that some member has; on a path, the run forks."""
    cases = [one for one in cell.behaviours if bool(SymbolicBool(cell.exists(one.condition)))]
    return Many(cell.group, cell.variable, cases, every=cell.every)


def _matches(pattern: str, cells: tuple[Any, ...], *, lowest: int) -> bool:
    """Every sequence of the cells matches."""
    choices = [tuple(_sequences(pattern, cell, lowest)) for cell in cells]
    return all(plain_is_permitted(pattern, sum(chosen, ())) for chosen in product(*choices))


def _sequences(pattern: str, cell: Any, lowest: int) -> Iterator[tuple[str, ...]]:  # noqa: ANN401
    if not isinstance(cell, Many):
        yield (cell,)
        return
    contributions = {one.values for one in cell.behaviours}
    words = re.findall(r"\w+", pattern)
    named = max(sum(word in words_of for word in words) for words_of in contributions)
    for number in range(lowest, named + 2):
        for chosen in product(contributions, repeat=number):
            yield sum(chosen, ())
