"""Writes z3 terms over ints and booleans as Python expressions, for one state or for columns of states.

For one state the text has the operators `and`, `or` and `not`. For columns it has numpy's element-wise
functions.
"""

from collections.abc import Mapping
from typing import NamedTuple

import z3

from model.checker.decision_trees import Branch, Tree
from model.checker.symbolic import SymbolicBool, SymbolicInt

_INFIX = {
    z3.Z3_OP_EQ: "==",
    z3.Z3_OP_DISTINCT: "!=",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_MUL: "*",
    z3.Z3_OP_MOD: "%",  # only by a positive constant, where z3 and Python round alike
}


class UnknownOperatorError(RuntimeError):
    """A term uses a z3 operator for which this module has no text. Add the operator to this module."""


class Writer(NamedTuple):
    """Writes terms as text. The text of each symbol is given."""

    names: Mapping[str, str]
    columns: bool
    """Whether the text handles columns of states. If not, it handles one state."""

    def of(self, term: z3.ExprRef) -> str:
        """The text of a term."""
        if z3.is_true(term) or z3.is_false(term):
            return str(z3.is_true(term))
        if z3.is_int_value(term):
            return f"({term.as_long()})" if term.as_long() < 0 else str(term.as_long())
        kind = term.decl().kind()
        if kind == z3.Z3_OP_UNINTERPRETED:
            return self.names[term.decl().name()]
        parts = [self.of(child) for child in term.children()]
        if kind in _INFIX:
            return "(" + f" {_INFIX[kind]} ".join(parts) + ")"
        if kind == z3.Z3_OP_AND:
            return self.joined("and", parts)
        if kind == z3.Z3_OP_OR:
            return self.joined("or", parts)
        if kind == z3.Z3_OP_NOT:
            return self.negated(parts[0])
        if kind == z3.Z3_OP_UMINUS:
            return f"(-{parts[0]})"
        if kind == z3.Z3_OP_ITE:
            return self.chosen(*parts)
        raise UnknownOperatorError(f"no text is known for the z3 operator {term.decl().name()} in {term}")

    def value(self, value: object) -> str:
        """The text of a field's value: an int, a bool, or a symbol of either."""
        if isinstance(value, SymbolicBool | SymbolicInt):
            return self.of(z3.simplify(value.term))
        return str(value)

    def truth(self, tree: Tree) -> str:
        """The text of a decision tree with truth values as leaves."""
        if not isinstance(tree, Branch):
            return str(tree)
        condition, yes, no = self.of(tree.condition), self.truth(tree.yes), self.truth(tree.no)
        denied = self.negated(condition)
        if yes == "True":
            return condition if no == "False" else self.joined("or", [condition, no])
        if yes == "False":
            return denied if no == "True" else self.joined("and", [denied, no])
        if no == "True":
            return self.joined("or", [denied, yes])
        if no == "False":
            return self.joined("and", [condition, yes])
        return self.chosen(condition, yes, no)

    def joined(self, connective: str, parts: list[str]) -> str:
        """The text that joins all parts by `and` or `or`. Of no parts: `True` for `and`, `False` for `or`."""
        if not parts:
            return str(connective == "and")
        if not self.columns:
            return "(" + f" {connective} ".join(parts) + ")"
        text = parts[0]
        for part in parts[1:]:
            text = f"np.logical_{connective}({text}, {part})"
        return text

    def negated(self, part: str) -> str:
        """The negation of a part."""
        return f"np.logical_not({part})" if self.columns else f"(not {part})"

    def chosen(self, condition: str, yes: str, no: str) -> str:
        """A conditional expression."""
        return f"np.where({condition}, {yes}, {no})" if self.columns else f"({yes} if {condition} else {no})"
