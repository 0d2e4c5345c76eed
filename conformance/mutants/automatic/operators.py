"""The mutation operators for Python: every edit of one expression or statement of a module.

Each operator gets one node of the syntax tree, and yields replacements of the node's text. The text around
the node does not change. Operators do not edit messages, docstrings, annotations, decorators, and other parts
that do not belong to the protocol (`NO_PROTOCOL`).
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from typing import Any, NamedTuple


class Edit(NamedTuple):
    """One edit of one module."""

    id: str
    """Module, function, operator and a number, as in `model.gate.aligned:on_barrier:compare:2`."""
    module: str
    operator: str
    line: int
    start: int
    """Offset of the replaced text in the UTF-8 bytes of the source."""
    end: int
    before: str
    after: str

    def apply(self, source: str) -> str:
        """The source with this edit."""
        text = source.encode()
        return (text[: self.start] + self.after.encode() + text[self.end :]).decode()


Text = Callable[[ast.AST], str]
"""A function from a node to its source text."""
Replacement = tuple[str, ast.AST, str]
"""Name of the operator, the node whose text is replaced, and the new text."""

_COMPARED: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">="),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
}
_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*"}
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_NOT_DROPPED = re.compile(r"^[A-Z]\w*$|(rules|fired)$")
"""Elements of a tuple that no operator drops: names of constants and classes, and the fired rules."""
_RULE = re.compile(r"[A-Z]+-\d\d")
TEXT, PICKLING, STRICT, RENUMBERED, RULES = "text", "pickling", "strict", "renumbered", "names of rules"
EXHAUSTIVE = "exhaustive"
NO_PROTOCOL = {
    TEXT: "no rule prescribes the words in which a state is written for people",
    PICKLING: "how a state is pickled is seen by no other component",
    STRICT: "`strict=` of zip compares lengths that the code has made equal itself",
    RENUMBERED: "a constant that is only compared with its siblings may be any number that none of them is",
    RULES: "the rules that a step names explain it, and are no effect",
    EXHAUSTIVE: "`assert_never` is never called: mypy shows that every case is handled before",
}
"""By class of edits: the reason why they are left out."""
_FUNCTIONS = {"describe": TEXT, "__repr__": TEXT, "__reduce__": PICKLING}
_NOT_SWAPPED = {"Step", "isinstance", "enumerate", "map", "cast", "max", "min"}
"""Functions whose arguments no operator swaps: the call would raise an exception, or return the same."""


def edits_of(module: str, source: str, left_out: Counter[str] | None = None) -> tuple[Edit, ...]:
    """Every edit of a module, in the order of its text.

    `left_out`: the function adds to it the number of edits that are left out, by reason.
    """
    encoded = source.encode()
    starts = [0]
    for begun in encoded.splitlines(keepends=True):
        starts.append(starts[-1] + len(begun))

    def span(part: Any) -> tuple[int, int]:  # noqa: ANN401 - every node here has a place
        return starts[part.lineno - 1] + part.col_offset, starts[part.end_lineno - 1] + part.end_col_offset

    def text(part: ast.AST) -> str:
        start, end = span(part)
        return encoded[start:end].decode()

    numbers: dict[str, Iterator[int]] = {}
    found: list[Edit] = []
    tree = ast.parse(source)
    siblings = _siblings(tree)
    for function, node, reason in _nodes(tree):
        for operator, target, after in _replacements(node, text):
            start, end = span(target)
            before = text(target)
            if before == after:
                continue
            is_free = operator == "constant" and after not in siblings.get(id(target), {after})
            if why := reason or (RENUMBERED if is_free else ""):
                if left_out is not None:
                    left_out[why] += 1
                continue
            key = f"{module}:{function}:{operator}"
            number = next(numbers.setdefault(key, count(1)))
            line = encoded.count(b"\n", 0, start) + 1
            found.append(Edit(f"{key}:{number}", module, operator, line, start, end, before, after))
    return tuple(sorted(found, key=lambda edit: (edit.start, edit.end, edit.id)))


def _siblings(tree: ast.Module) -> dict[int, frozenset[str]]:
    """By the `id` of a number's node in a group of constants 0, 1, 2, ...: all numbers of the group."""
    groups: list[list[ast.Constant]] = [[]]
    for one in tree.body:
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
            continue  # the docstring of a constant
        match one:
            case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=int()) as number):
                groups[-1].append(number)
            case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=parts)):
                groups += [[part for part in parts if isinstance(part, ast.Constant)], []]
            case _:
                groups.append([])
    found: dict[int, frozenset[str]] = {}
    for group in groups:
        values = frozenset(str(number.value) for number in group)
        if len(group) > 1 and values == {*map(str, range(len(group)))}:
            found |= {id(number): values for number in group}
    return found


def _nodes(tree: ast.Module) -> Iterator[tuple[str, ast.AST, str]]:
    """Yields each node with the name of its function or class, and the reason to leave it out (or "")."""
    pending: list[tuple[str, ast.AST, str]] = [("module", tree, "")]
    while pending:
        function, node, reason = pending.pop()
        if isinstance(node, ast.FunctionDef):
            reason = reason or _FUNCTIONS.get(node.name, "")
        reason = reason or (RULES if _names_rules(node) else "")
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            reason = EXHAUSTIVE if isinstance(called, ast.Name) and called.id == "assert_never" else reason
        yield function, node, reason
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = node.name if function == "module" else f"{function}.{node.name}"
            parts: list[ast.AST] = [*node.body]
            if isinstance(node, ast.FunctionDef):
                parts += [
                    default
                    for default in (*node.args.defaults, *node.args.kw_defaults)
                    if default is not None
                ]
            pending += [(inner, part, reason) for part in reversed(parts)]
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                pending.append((function, node.value, reason))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Step":
            pending += [(function, part, reason or RULES) for part in reversed(node.args[2:])]
            pending += [(function, part, reason) for part in reversed(node.args[:2])]
        elif isinstance(node, ast.keyword) and node.arg == "strict":
            pending.append((function, node.value, reason or STRICT))
        elif not isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Raise | ast.Assert):
            pending += [(function, part, reason) for part in reversed(list(ast.iter_child_nodes(node)))]


def _names_rules(node: ast.AST) -> bool:
    """Whether this tuple or assignment names rules. They explain a step and are not a part of it."""
    if isinstance(node, ast.Tuple):
        return any(isinstance(part, ast.Constant) and _RULE.fullmatch(str(part.value)) for part in node.elts)
    return isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and any(
        isinstance(target, ast.Name) and target.id in {"rule", "rules"}
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    )


def _replacements(node: ast.AST, text: Text) -> Iterator[Replacement]:
    yield from _of_statement(node) if isinstance(node, ast.stmt) else _of_expression(node, text)
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield "negate-guard", test, f"not ({text(test)})"
        case ast.comprehension(ifs=ifs):
            for test in ifs:
                yield "negate-guard", test, f"not ({text(test)})"
        case ast.Tuple(elts=parts, ctx=ast.Load()) | ast.List(elts=parts, ctx=ast.Load()):
            yield from _without_an_element(node, parts, text)
        case ast.Call():
            yield from _of_call(node, text)
        case _:
            pass


def _of_expression(node: ast.AST, text: Text) -> Iterator[Replacement]:
    """Yields expressions with another operator, constant or operand."""
    match node:
        case ast.Compare(left=left, ops=[only], comparators=[right]):
            for sign in _COMPARED.get(type(only), ()):
                yield "compare", node, f"{text(left)} {sign} {text(right)}"
        case ast.BoolOp(op=op, values=values):
            same, other = (" and ", " or ") if isinstance(op, ast.And) else (" or ", " and ")
            yield "and-or", node, "(" + other.join(f"({text(value)})" for value in values) + ")"
            for left_out in range(len(values)):
                kept = [text(value) for number, value in enumerate(values) if number != left_out]
                yield "drop-operand", node, f"({same.join(kept)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "drop-not", node, f"({text(operand)})"
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _ARITHMETIC:
            yield "arithmetic", node, f"({text(left)} {_ARITHMETIC[type(op)]} {text(right)})"
        case ast.Constant(value=bool() as value):
            yield "constant", node, str(not value)
        case ast.Constant(value=int() as value):
            yield "constant", node, str(value + 1)
            yield "constant", node, str(value - 1) if value else "-1"
        case _:
            pass


def _of_statement(node: ast.stmt) -> Iterator[Replacement]:
    """Statements that can be left out, because the variables that they assign already have a value."""
    match node:
        case ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield "drop-statement", node, "pass"
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _reads(value, name):
            yield "drop-statement", node, "pass"
        case _:
            pass


def _without_an_element(node: ast.AST, parts: list[ast.expr], text: Text) -> Iterator[Replacement]:
    """The tuple without one of its elements. A tuple without parentheses does not change."""
    if text(node)[:1] not in "([":
        return
    for left_out, part in enumerate(parts):
        if isinstance(part, ast.Constant | ast.Slice) or _NOT_DROPPED.search(text(part)):
            continue
        kept = [text(other) for number, other in enumerate(parts) if number != left_out]
        yield "drop-element", node, f"({', '.join(kept)}{',' if len(kept) == 1 else ''})"


def _of_call(node: ast.Call, text: Text) -> Iterator[Replacement]:
    """Yields calls of another function, with arguments in another order, or without a change."""
    called, args = node.func, node.args
    if isinstance(called, ast.Name) and called.id in _SWAPPED:
        yield "swap-function", called, _SWAPPED[called.id]
    given = [text(part) for part in (*args, *node.keywords)]
    if isinstance(called, ast.Name) and called.id in _NOT_SWAPPED:
        return
    for number, (left, right) in enumerate(pairwise(args)):
        if not any(isinstance(part, ast.Starred | ast.Tuple | ast.Lambda) for part in (left, right)):
            swapped = [*given[:number], given[number + 1], given[number], *given[number + 2 :]]
            yield "swap-arguments", node, f"{text(called)}({', '.join(swapped)})"
    if isinstance(called, ast.Attribute) and called.attr == "_replace":
        for number in range(len(args), len(given)):
            kept = given[:number] + given[number + 1 :]
            yield "drop-change", node, f"{text(called)}({', '.join(kept)})"


def _reads(value: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value))
