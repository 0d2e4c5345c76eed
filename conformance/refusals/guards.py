"""Writes guards as text for reports.

A guard is a z3 condition over fields of the state. The text of a guard that fails has the condition, and the
values of its fields.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import z3

from model.checker.paths import satisfiable, solver_with
from model.checker.relation import evaluate, source

Values = dict[str, int | bool]

_INFIX = {
    z3.Z3_OP_EQ: "=",
    z3.Z3_OP_DISTINCT: "!=",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_AND: "and",
    z3.Z3_OP_OR: "or",
}
_DENIED = {
    z3.Z3_OP_EQ: "!=",
    z3.Z3_OP_DISTINCT: "=",
    z3.Z3_OP_LE: ">",
    z3.Z3_OP_GE: "<",
    z3.Z3_OP_LT: ">=",
    z3.Z3_OP_GT: "<=",
}
_MIRRORED = {"=": "=", "!=": "!=", "<=": ">=", ">=": "<=", "<": ">", ">": "<"}


class Guard(NamedTuple):
    """One condition that does not hold."""

    text: str
    """The condition: `current < 3`."""
    values: str
    """The values: `is 3`; of several fields `first = 3, second = 4`."""


def failing(conditions: Iterable[z3.BoolRef], values: Values) -> tuple[z3.BoolRef, ...]:
    """The conditions that do not hold for these values."""
    return tuple(one for one in conditions if not evaluate(compile(source(one), "<guard>", "eval"), values))


def guards_of(denied: Iterable[z3.BoolRef], values: Values) -> Iterator[Guard]:
    """The conditions `denied`, which do not hold, as text. Leaves out each one that the others imply."""
    for guard in _not_implied(list(denied)):
        names = sorted(names_of(guard))
        is_now = [plain(values[name]) for name in names]
        values_of = [f"{short(name)} = {value}" for name, value in zip(names, is_now, strict=True)]
        yield Guard(text(guard), f"is {is_now[0]}" if len(names) == 1 else ", ".join(values_of))


def _not_implied(conditions: list[z3.BoolRef]) -> list[z3.BoolRef]:
    left = list(conditions)
    for one in conditions:
        others = [other for other in left if other is not one]
        related = [other for other in others if names_of(other) & names_of(one)]
        if related and not satisfiable(solver_with(*related), z3.Not(one)):
            left = others
    return left


def text(term: z3.ExprRef) -> str:
    """A term in words: fields by their short names, `not pending` for a flag that must be false."""
    if z3.is_true(term) or z3.is_false(term):
        return plain(z3.is_true(term))
    if z3.is_int_value(term):
        return str(term.as_long())
    kind = term.decl().kind()
    if kind == z3.Z3_OP_UNINTERPRETED:
        return short(term.decl().name())
    if kind == z3.Z3_OP_NOT:
        inner = term.arg(0)
        if z3.is_not(inner):
            return text(inner.arg(0))
        if inner.decl().kind() in _DENIED and len(inner.children()) == 2:
            return _compared(inner, _DENIED[inner.decl().kind()])
        return f"not {_bracketed(inner)}"
    if kind in _DENIED and len(term.children()) == 2:
        return _compared(term, _INFIX[kind])
    if kind in _INFIX:
        return f" {_INFIX[kind]} ".join(_bracketed(child) for child in term.children())
    return " ".join(str(term).split())


def _compared(term: z3.BoolRef, sign: str) -> str:
    """A comparison as text. If the left side is a number, the two sides are exchanged."""
    left, right = term.children()
    if z3.is_int_value(left):
        left, right, sign = right, left, _MIRRORED[sign]
    return f"{_bracketed(left)} {sign} {_bracketed(right)}"


def short(name: str) -> str:
    """The last field of a path with its indexes: `inbox.gate.blocked.1` is `blocked[1]`.

    If an index precedes the field, its owner is named too: `tasks.0.passed` is `tasks[0].passed`.
    """
    parts = name.split(".")
    places = [part for part in parts if part.isdigit()]
    fields = [part for part in parts if not part.isdigit()]
    last = parts.index(fields[-1])
    behind = [part for part in parts[last + 1 :] if part.isdigit()]
    before = parts[last - 1] if last and parts[last - 1].isdigit() else None
    owner = f"{parts[last - 2]}[{before}]." if before is not None and places else ""
    return f"{owner}{fields[-1]}" + "".join(f"[{place}]" for place in behind)


def plain(value: int | bool) -> str:
    """A value as reports write it."""
    return str(value).lower()


def _bracketed(term: z3.ExprRef) -> str:
    words = text(term)
    return f"({words})" if " " in words and len(term.children()) > 1 else words


def names_of(term: z3.ExprRef) -> set[str]:
    """The names of the fields in a term."""
    if z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
        return {term.decl().name()}
    return {name for child in term.children() for name in names_of(child)}
