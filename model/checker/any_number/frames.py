"""Decides whether the effects in a rope match the frame of an event.

A frame is a regular expression over kinds of effects (`model.event_frames`). This module uses the expression
as an automaton: a state is the expression of the kinds that may still follow (Brzozowski's derivatives). A
group of any size leads from a state to each state that some sequence of its kinds reaches. There are finitely
many states, so the answer is exact.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal

from model.checker.any_number.members import Many
from model.checker.any_number.rope import Rope
from model.checker.symbolic import SymbolicBool
from model.event_frames import is_permitted as plain_is_permitted

Expression = tuple[Literal["word", "then", "or", "star"], Any, Any]
"""word: one kind. then: two expressions in sequence. or: one expression of a set. star: any number of one."""
NEVER: Expression = ("or", frozenset(), None)
NOTHING: Expression = ("star", NEVER, None)


def is_permitted(pattern: str, kinds: tuple[str, ...]) -> bool:
    """Whether the kinds match the pattern, as in `model.event_frames.is_permitted`, also for a rope.

    If some sequence that the cells may hold does not match, the function decides on the current path which
    cases of each cell occur, and tests only these. Each case forks the path.
    """
    if not isinstance(kinds, Rope):
        return plain_is_permitted(pattern, kinds)
    if _is_matched(pattern, kinds.cells, may_be_empty=True):
        return True
    possible = (_possible(cell) if isinstance(cell, Many) else cell for cell in kinds.cells)
    present = tuple(cell for cell in possible if not isinstance(cell, Many) or cell.behaviours)
    return _is_matched(pattern, present, may_be_empty=False)


def _possible(cell: Many) -> Many:
    """The cell with only the cases that some member has. Each case forks the current path."""
    cases = [one for one in cell.behaviours if bool(SymbolicBool(cell.exists(one.condition)))]
    return Many(cell.group, cell.variable, cases, every=cell.every)


def _is_matched(pattern: str, cells: tuple[Any, ...], *, may_be_empty: bool) -> bool:
    """Whether the expression matches every sequence of kinds that the cells may hold.

    `may_be_empty`: whether a group may contribute no kind.
    """
    states = {_read(tuple(re.findall(r"\w+|[()|*+?]", pattern)))}
    for cell in cells:
        if not isinstance(cell, Many):
            states = {_after(state, (cell,)) for state in states}
            continue
        reached: set[Expression] = set()
        waiting = states
        while waiting:
            waiting = {_after(state, one.values) for state in waiting for one in cell.behaviours} - reached
            reached |= waiting
        states = states | reached if may_be_empty else reached
    return all(_may_end(state) for state in states)


# ---------------------------------------------------------------- expressions


def _either(choices: Iterable[Expression]) -> Expression:
    every = frozenset(inner for one in choices for inner in (one[1] if one[0] == "or" else (one,)))
    return next(iter(every)) if len(every) == 1 else ("or", every, None)


def _then(first: Expression, second: Expression) -> Expression:
    if NEVER in (first, second):
        return NEVER
    if first == NOTHING:
        return second
    if second == NOTHING:
        return first
    if first[0] == "then":
        return ("then", first[1], _then(first[2], second))
    return ("then", first, second)


@cache
def _read(words: tuple[str, ...]) -> Expression:
    """Parses a pattern. `|` separates choices; `*`, `+` and `?` repeat a word or a parenthesis.

    Raises ValueError if a parenthesis closes that was not opened.
    """
    found, end = _choice(words, 0)
    if end != len(words):
        raise ValueError(f"expected a frame's expression, got {' '.join(words)!r}")
    return found


def _choice(words: tuple[str, ...], place: int) -> tuple[Expression, int]:
    choices = []
    sequence = NOTHING
    while place < len(words) and words[place] != ")":
        if words[place] == "|":
            choices.append(sequence)
            sequence, place = NOTHING, place + 1
            continue
        if words[place] == "(":
            one, place = _choice(words, place + 1)
        else:
            one = ("word", words[place], None)
        place += 1
        while place < len(words) and words[place] in "*+?":
            mark, place = words[place], place + 1
            many: Expression = ("star", one, None)
            one = {"*": many, "+": _then(one, many), "?": _either((one, NOTHING))}[mark]
        sequence = _then(sequence, one)
    return _either((*choices, sequence)), place


@cache
def _may_end(state: Expression) -> bool:
    kind, first, second = state
    if kind == "then":
        return _may_end(first) and _may_end(second)
    return kind == "star" or (kind == "or" and any(_may_end(one) for one in first))


def _after(state: Expression, kinds: tuple[str, ...]) -> Expression:
    """The expression of the kinds that may follow after `kinds` have matched."""
    for kind in kinds:
        state = _derivative(state, kind)
    return state


@cache
def _derivative(state: Expression, word: str) -> Expression:
    kind, first, second = state
    if kind == "word":
        return NOTHING if first == word else NEVER
    if kind == "or":
        return _either(_derivative(one, word) for one in first)
    if kind == "star":
        return _then(_derivative(first, word), state)
    further = _then(_derivative(first, word), second)
    return _either((further, _derivative(second, word))) if _may_end(first) else further
