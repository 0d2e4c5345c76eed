"""Parses the TLA+ values that TLC prints into Python values, and writes them as TLA+ text.

Integers become `int`, strings and model values `str`, TRUE and FALSE `bool`, sets `frozenset`, sequences and
tuples `tuple`. Records and functions become `Function`, a hashable dict. The parser accepts only the syntax
that TLC prints. It ignores line breaks and blanks between tokens.
"""

import re
from collections.abc import Iterator
from typing import Any

Value = Any
"""An int, bool, str, tuple, frozenset or `Function`. The last three contain further values."""

State = dict[str, Value]
"""One state: maps the name of each variable to its value."""


class Function(dict[Value, Value]):
    """A TLA+ function or record: maps an argument or field name to its value. No code changes it."""

    def __hash__(self) -> int:  # type: ignore[override]
        """Equal functions have equal hashes."""
        return hash(frozenset(self.items()))


class ValueSyntaxError(ValueError):
    """A text is not a TLA+ value in the form in which TLC prints values."""


_TOKEN = re.compile(
    r"""\s*(?:(<<|>>|\|->|:>|@@|/\\|\.\.|[{}\[\](),=])|(-?\d+)|"((?:[^"\\]|\\.)*)"|([A-Za-z_]\w*)|(\S))"""
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}

_Token = tuple[str, Value]


def parse_value(text: str) -> Value:
    """Parses one value, for example `[current |-> -1, blocked |-> {0}]`.

    Raises ValueSyntaxError if the text is not a value. The message contains the position of the wrong token.
    """
    reader = _Reader(text)
    value = reader.value()
    reader.end()
    return value


def parse_state(text: str) -> State:
    """Parses a state: lines of the form `/\\ variable = value`, or one line without the conjunction sign."""
    reader = _Reader(text)
    state: State = {}
    while not reader.at_end():
        reader.skip("/\\")
        name = reader.take("name")
        reader.take("=")
        state[name] = reader.value()
    return state


def format_value(value: Value) -> str:
    """Returns the value as TLA+ text. Members of sets and arguments of functions are in a fixed order."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        return "<<" + ", ".join(map(format_value, value)) + ">>"
    if isinstance(value, frozenset):
        return "{" + ", ".join(map(format_value, sorted(value, key=_order))) + "}"
    if isinstance(value, dict):
        if value and all(isinstance(key, str) for key in value):
            return "[" + ", ".join(f"{key} |-> {format_value(of)}" for key, of in value.items()) + "]"
        keys = sorted(value, key=_order)
        return "(" + " @@ ".join(f"{format_value(key)} :> {format_value(value[key])}" for key in keys) + ")"
    raise ValueSyntaxError(f"expected a value of TLA+, got a {type(value).__name__}")


def _order(value: Value) -> tuple[str, Value]:
    if isinstance(value, int):
        return ("", value)
    return (type(value).__name__, format_value(value))


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        sign, number, string, name, other = match.groups()
        if sign is not None:
            yield sign, sign
        elif number is not None:
            yield "number", int(number)
        elif string is not None:
            yield "string", re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), string)
        elif name is not None:
            yield "name", name
        elif other is not None:
            yield "other", other


class _Reader:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0

    def at_end(self) -> bool:
        return self._next >= len(self._tokens)

    def end(self) -> None:
        if not self.at_end():
            self._fail("the end")

    def skip(self, kind: str) -> bool:
        if not self.at_end() and self._tokens[self._next][0] == kind:
            self._next += 1
            return True
        return False

    def take(self, kind: str) -> Value:
        if self.at_end() or self._tokens[self._next][0] != kind:
            self._fail(f"'{kind}'")
        self._next += 1
        return self._tokens[self._next - 1][1]

    def value(self) -> Value:
        if self.skip("<<"):
            return tuple(self._list(">>"))
        if self.skip("{"):
            return frozenset(self._list("}"))
        if self.skip("["):
            return self._record()
        if self.skip("("):
            return self._function()
        if self.at_end() or self._tokens[self._next][0] not in ("number", "string", "name"):
            self._fail("a value")
        kind, value = self._tokens[self._next]
        self._next += 1
        if kind == "name" and value in ("TRUE", "FALSE"):
            return value == "TRUE"
        if kind == "number" and self.skip(".."):
            return frozenset(range(value, self.take("number") + 1))
        return value

    def _list(self, closing: str) -> Iterator[Value]:
        if self.skip(closing):
            return
        yield self.value()
        while self.skip(","):
            yield self.value()
        self.take(closing)

    def _record(self) -> Function:
        fields: dict[Value, Value] = {}
        while True:
            name = self.take("name")
            self.take("|->")
            fields[name] = self.value()
            if not self.skip(","):
                break
        self.take("]")
        return Function(fields)

    def _function(self) -> Function:
        pairs: dict[Value, Value] = {}
        while True:
            argument = self.value()
            self.take(":>")
            pairs[argument] = self.value()
            if not self.skip("@@"):
                break
        self.take(")")
        return Function(pairs)

    def _fail(self, expected: str) -> None:
        found = "the end" if self.at_end() else repr(self._tokens[self._next][1])
        raise ValueSyntaxError(
            f"expected {expected} at token {self._next}, got {found}, in: {self._text[:200]!r}; "
            "the parser reads only the syntax that TLC prints"
        )
