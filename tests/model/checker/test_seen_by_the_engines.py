"""The symbolic engine runs the code of the model, and branches only at truth values of symbols.

If a step function decides in another way, the first value fixes the decision, and no proof would notice it.
Examples are `is` on values, classes of values, text made of ids, hashes, and patterns of classes. Protocol
modules may test for None, and for the class of an item, event or effect, because each case fixes both.
"""

import ast

import pytest

from conformance.mutants.automatic.modules import modules

HASHES = {"set", "frozenset", "dict", "hash", "id", "repr", "str", "isinstance", "callable", "vars"}
SOURCES = {name: text for name, text in modules("model") if not name.endswith(".profiles")}
"""The protocol modules; profiles are data."""


def unseen(source):
    """The lines inside functions where a decision could escape the engine, except those that return text."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and not (
            isinstance(function.returns, ast.Name) and function.returns.id == "str"
        ):
            for node in ast.walk(function):
                if escapes(node):
                    yield ast.unparse(node)


def escapes(node):
    """Whether the engine cannot observe the decision of this node."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=[*_, right]) if any(
            isinstance(sign, ast.Is | ast.IsNot) for sign in ops
        ):
            of_a_class = isinstance(left, ast.Call) and ast.unparse(left.func) == "type"
            return len(ops) > 1 or not (of_a_class or ast.unparse(right) == "None")
        case ast.Call(func=ast.Name(id=name)):
            return name in HASHES
        case ast.JoinedStr() | ast.Set() | ast.SetComp() | ast.Dict() | ast.DictComp():
            return True
        case ast.match_case(pattern=pattern):
            return any(isinstance(part, ast.MatchClass | ast.MatchMapping) for part in ast.walk(pattern))
    return False


@pytest.mark.parametrize("module", SOURCES)
def test_a_protocol_module_decides_only_what_the_engine_sees(module):
    assert list(unseen(SOURCES[module])) == []


@pytest.mark.parametrize(
    "line",
    [
        "return gate.current is checkpoint",
        "return isinstance(item, Barrier)",
        "return gate.last is not None is not checkpoint",
        "return f'{checkpoint}' == '1'",
        "return checkpoint in {1, 2}",
        "return {1: True}[checkpoint]",
        "return hash(gate)",
        "match item:\n        case Barrier():\n            return 1",
    ],
)
def test_what_the_engine_does_not_see_is_refused(line):
    assert len(list(unseen(f"def step(gate, checkpoint, item):\n    {line}\n"))) == 1
