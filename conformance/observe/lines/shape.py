"""Finds the shape of a line: its text, with ids relative to the first id. Many lines share a shape.

Only the first line of a shape is parsed as a whole. Its shape is kept only if component, event and effects
have the format of the log. Each byte of a later line is either part of the shape, or of an id, or of the JSON
of its `state`, or of a field after the effects. The `state` and these fields are parsed in each line.
"""

import re
import sys
from collections.abc import Mapping
from itertools import count
from typing import Any

import orjson

from conformance.observe.lines.line import NO_CHECKPOINT, KnownEffect, Shape, ShapedLine

COMPONENTS = frozenset({"gate", "subtask", "sink", "coordinator"})
"""Components whose lines have shapes."""
MOST_SHAPES = 50_000
"""Maximum number of kept shapes. Lines of other shapes are parsed each time."""
_LONGEST = 1 << 14
"""Maximum length of a shape in bytes."""
_HEAD = re.compile(rb'\{"attempt": ?\d+, ?"task": ?"[^"\\]*", ?"seq": ?')
_ID = re.compile(rb'"(?:checkpoint|completed|transaction)": ?(0|[1-9]\d{0,14})(?=[,}])')
"""An id. No string contains such a text, because quotes in a string are escaped."""
_STATE = re.compile(rb'"state": ?("[^"\\]*"|\{[^{}]*\})')
MARK = b"\0"
"""Encloses a *mark*: the text that replaces an id or a state in a shape. No valid line has this byte."""
_STATE_MARK = b"\0s\0"
_MARK = re.compile(rb"\0(-?\d+|s)\0")
_PARSED_MARK = "\0"
"""A mark is parsed as an object with only this field."""
_RESERVED = frozenset({"attempt", "task", "seq", "component", "event", "effects", "kind"})
_NOTHING: Mapping[str, Any] = {}


class Shapes:
    """Reads those lines of one file that have a shape.

    Few shapes follow a given shape. So `read` first tries those that have followed the last line's shape.
    """

    __slots__ = ("_attempt", "_expected", "_followers", "_has_states", "_head", "_last")

    def __init__(self, *, has_states: bool) -> None:
        """`has_states`: an event may have a state, like the events of a coordinator."""
        self._has_states = has_states
        self._head = MARK
        """The text of a line up to its number in the file. No line begins with MARK, the initial value."""
        self._attempt = 0
        self._followers: dict[int, list[_Expected]] = {}
        """By number of a shape: the shapes of the lines after it, the most recent one first."""
        self._last = _NO_SHAPE
        """The number of the last line's shape."""
        self._expected: list[_Expected] = []
        """The shapes of lines that have followed a line with the last line's shape."""

    def follow(self, text: bytes, attempt: int, task: str) -> None:
        """Expect later lines to begin like this valid line of `attempt` and `task`, up to the line's number.

        JSON may name a field twice, and then the last value holds. If the text first gives another value of
        `attempt` or `task`, nothing is expected, so that later lines are parsed.
        """
        found = _HEAD.match(text)
        is_right = found is not None and orjson.loads(found[0] + b"0}") == {
            "attempt": attempt, "task": task, "seq": 0,
        }  # fmt: skip
        self._head, self._attempt = (found[0] if found is not None and is_right else MARK), attempt

    def read(self, number: int, text: bytes) -> ShapedLine | None:
        """Return the line if it has a shape, None if it has to be parsed."""
        head = b"%s%d" % (self._head, number - 1)
        if not text.startswith(head):
            return None
        base = transaction = 0
        handle = b""
        begin = len(head)
        likely = self._expected
        for expected in likely:
            found = expected.match(text, begin)
            if found is None:
                continue
            shape = expected.shape
            if expected.only_base:
                base = int(found[1])
            elif not expected.is_consistent(found):
                continue
            else:
                base, transaction = expected.base_in(found), expected.transaction_in(found)
                handle = found[expected.state] if expected.state else b""
            end = found.end()
            if expected is not likely[0]:  # the most recent one is tried first
                likely.remove(expected)
                likely.insert(0, expected)
            break
        else:
            searched = self._searched(text, begin)
            if searched is None:
                return None
            shape, base, transaction, handle, end = searched
        state = None
        if handle:
            try:
                state = orjson.loads(handle)
            except orjson.JSONDecodeError:
                return None
        further = _NOTHING
        if end != len(text) - 1 or not text.endswith(b"}"):
            fields = _fields_after(text, end)
            if fields is None:
                return None
            further = fields
        followers = self._followers.get(shape.number)
        if followers is None:
            followers = self._followers[shape.number] = _followers.get(shape.number, [])[:]
        self._expected, self._last = followers, shape.number
        line = _new(ShapedLine)
        line.number = number
        line.attempt = self._attempt
        line.component = shape.component
        line.kind = shape.kind
        line.shape = shape
        line.base = base
        line.transaction = transaction
        line.state = state
        line.further = further
        line.text = text
        return line

    def _searched(self, text: bytes, begin: int) -> tuple[Shape, int, int, bytes, int] | None:
        """The shape, first id, first transaction and `state` of a line, and the offset after its effects."""
        end = text.find(b"]", text.find(b'"effects"', begin)) + 1
        core, handle = text[begin:end], b""
        if self._has_states and b'"state"' in core:
            state = _STATE.search(core)
            if state is None:
                return None
            handle = state[1]
            core = core[: state.start(1)] + _STATE_MARK + core[state.end(1) :]
        core, base, transaction = _relative(core)
        shape = _shapes.get(core) or _kept(core)
        if shape is None:
            return None
        expected = _expected.get(shape.number)
        if expected is None:
            expected = _expected[shape.number] = _Expected(shape, core)
        for followers in (self._expected, _followers.setdefault(self._last, [])):
            followers[_MOST_FOLLOWERS - 1 :] = []
            followers.insert(0, expected)
        return shape, base, transaction, handle, end


class _Expected:
    """A shape as a regular expression, which a line of the shape matches."""

    __slots__ = ("_base", "_relatives", "_transaction", "match", "only_base", "shape", "state")

    def __init__(self, shape: Shape, core: bytes) -> None:
        self.shape = shape
        groups: dict[tuple[str, bytes], int] = {}
        """By meaning (`base`, `transaction`, `state`) and mark: the number of the group that matches it."""
        pattern, before = b"", b""
        for place, part in enumerate(_MARK.split(core)):
            if place % 2 == 0:
                pattern, before = pattern + re.escape(part), part
                continue
            is_transaction = before.endswith((b'"transaction":', b'"transaction": '))
            meaning = "state" if part == b"s" else "transaction" if is_transaction else "base"
            group = groups.get((meaning, part))
            if group is None:
                groups[meaning, part] = len(groups) + 1
                pattern += _STATE_VALUE if part == b"s" else _ID_VALUE
            else:
                pattern += b"(?:\\%d)" % group
        self.match = re.compile(pattern, re.DOTALL).match
        self.state = groups.pop(("state", b"s"), 0)
        self._base = groups.get(("base", b"0"), 0)
        self._transaction = groups.get(("transaction", b"0"), 0)
        self.only_base = bool(self._base) and not self.state and len(groups) == 1
        self._relatives = [
            (group, self._base if meaning == "base" else self._transaction, int(mark))
            for (meaning, mark), group in groups.items()
            if mark != b"0"
        ]

    def base_in(self, found: re.Match[bytes]) -> int:
        """The first id of a line; 0 if it has none."""
        return int(found[self._base]) if self._base else 0

    def transaction_in(self, found: re.Match[bytes]) -> int:
        """The first transaction of a line; 0 if it has none."""
        return int(found[self._transaction]) if self._transaction else 0

    def is_consistent(self, found: re.Match[bytes]) -> bool:
        """Whether the other ids and transactions are as far from the first ones as those of the shape."""
        for group, first, relative in self._relatives:
            if int(found[group]) != int(found[first]) + relative:
                return False
        return True


_MOST_FOLLOWERS = 16
"""Maximum number of shapes that a line is matched with before `_searched`, which costs about ten matches."""
_STATE_VALUE = rb'("[^"\\]*"|\{[^{}]*\})'
_ID_VALUE = rb"(0|[1-9]\d{0,14})"
_new = ShapedLine.__new__
_numbers = count()
"""Numbers of shapes. None is used twice, because it is a part of the keys of cached steps."""
_shapes: dict[bytes, Shape] = {}
_expected: dict[int, _Expected] = {}
"""By number of a shape: its pattern."""
_NO_SHAPE = -1
_followers: dict[int, list[_Expected]] = {}
"""By number of a shape: the shapes that have followed it in any file. Each file starts with a copy."""


def _fields_after(text: bytes, end: int) -> Mapping[str, Any] | None:
    """The fields after the effects; None if they are not valid, or a reserved field is among them."""
    if not text.startswith(b",", end):
        return None
    try:
        fields = orjson.loads(b"{" + text[end + 1 :])
    except orjson.JSONDecodeError:
        return None
    return fields if fields and _RESERVED.isdisjoint(fields) else None


def _relative(core: bytes) -> tuple[bytes, int, int]:
    """Replace ids and transactions by marks. Returns the text, the first id and the first transaction."""
    base = transaction = None
    while (found := _ID.search(core)) is not None:
        value = int(found[1])
        if found[0].startswith(b'"t'):
            transaction = value if transaction is None else transaction
            core = _marked(core, found[0], found[1], value - transaction)
        else:
            base = value if base is None else base
            core = _marked(core, found[0], found[1], value - base)
    return core, base or 0, transaction or 0


def _marked(core: bytes, spelled: bytes, digits: bytes, relative: int) -> bytes:
    """The text, with a mark instead of the number wherever this field has this number."""
    mark = b"%s\0%d\0" % (spelled[: -len(digits)], relative)
    return core.replace(spelled + b",", mark + b",").replace(spelled + b"}", mark + b"}")


def _kept(core: bytes) -> Shape | None:
    """Keep a shape for the text and return it; None if the text has none, or too many are kept."""
    if len(_shapes) >= MOST_SHAPES or len(core) > _LONGEST or rb"\u0000" in core:
        return None
    if not core.startswith(b","):  # the text before the comma belongs to the line's number, as in 12.5
        return None
    text = _MARK.sub(rb'{"\\u0000":"\1"}', core)
    try:
        fields = orjson.loads(b"{" + text[1:] + b"}")
    except orjson.JSONDecodeError:
        return None
    if fields.keys() != {"component", "event", "effects"}:
        return None
    shape = _shape(fields["component"], fields["event"], fields["effects"])
    if shape is None or shape.has_state != (_STATE_MARK in core):  # of two states in an event the last counts
        return None
    _shapes[core] = shape
    return shape


def _shape(component: object, event: object, effects: object) -> Shape | None:
    """The shape of an event with its effects, in which marks replace ids; None if the format is wrong."""
    if type(component) is not str or component not in COMPONENTS:
        return None
    if type(event) is not dict or type(effects) is not list:
        return None
    marks = _marks_of(event, _OF_EVENT if component == "coordinator" else _OF_EVENT - {"state"})
    if marks is None or marks.get("checkpoint", "0") != "0" or type(event.get("kind")) is not str:
        return None
    known_effects: list[KnownEffect] = []
    all_marks = [marks]
    for effect in effects:
        of_effect = _marks_of(effect, _OF_EFFECT)
        if of_effect is None or type(effect.get("kind")) is not str:
            return None
        all_marks.append(of_effect)
        relative = of_effect.get("checkpoint")
        checkpoint = effect.get("checkpoint", NO_CHECKPOINT) if relative is None else None
        known_effects.append(
            (sys.intern(effect["kind"]), None if relative is None else int(relative), checkpoint, effect)
        )
    completed = marks.get("completed")
    return Shape(
        number=next(_numbers),
        component=str(component),
        kind=sys.intern(event["kind"]),
        event={name: value for name, value in event.items() if name not in marks},
        has_checkpoint="checkpoint" in marks,
        completed=None if completed is None else int(completed),
        known_effects=tuple(known_effects),
        kinds=tuple(one[0] for one in known_effects),
        has_state="state" in marks,
        has_ids=any(one in fields for fields in all_marks for one in ("checkpoint", "completed")),
        has_transactions=any("transaction" in fields for fields in all_marks),
        has_number=any("state" in effect for effect in effects)
        or any(
            _has_number(message, _WITHOUT_IDS | ({"ms"} if component == "coordinator" else frozenset()))
            for message in (event, *effects)
        ),
    )


_OF_EVENT = frozenset({"checkpoint", "completed", "state"})
_OF_EFFECT = frozenset({"checkpoint", "transaction"})
"""The fields in which a mark may stand."""
_WITHOUT_IDS = frozenset({"channel"})


def _marks_of(message: object, allowed: frozenset[str]) -> dict[str, str] | None:
    """By field: the mark in it. None if the message is no object, or has a mark elsewhere."""
    if type(message) is not dict:
        return None
    marks: dict[str, str] = {}
    for field, value in message.items():
        if type(value) is dict and value.keys() == {_PARSED_MARK} and field in allowed:
            marks[field] = value[_PARSED_MARK]
        elif type(value) in (dict, list) and rb"\u0000" in orjson.dumps(value):
            return None
    is_right = all((mark == "s") == (field == "state") for field, mark in marks.items())
    return marks if is_right else None


def _has_number(message: Mapping[str, Any], allowed: frozenset[str]) -> bool:
    """Whether a field that is not `allowed` has a number, a list or an object that is no mark."""
    return any(
        type(value) in (int, float, list, dict)
        and field not in allowed
        and not (field == "completed" and value == -1)
        and not (type(value) is dict and _PARSED_MARK in value)
        for field, value in message.items()
    )
