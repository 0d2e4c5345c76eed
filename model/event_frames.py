"""The frame of an event: the fields that its step may change, and the effects that it may emit, in order.

A property states what a step must do. A frame limits the step: every other change and every other effect is
an error. `Registry.frames` registers one frame for each class of event. An event of a class without a frame
must not occur.
"""

import re
from functools import cache
from typing import Any, NamedTuple

from model.events import Effects


class Frame(NamedTuple):
    """The frame of one class of event."""

    rule: str
    """The id of the rule that a step violates if it does not stay within the frame."""
    changes: str = ""
    """The fields that may change, separated by spaces. `gate.blocked` is the field `blocked` of `gate`."""
    effects: str = ""
    """A regular expression for the kinds of the effects, such as `block (trigger resume*)?`."""

    def holds(self, before: Any, effects: Effects, after: Any) -> bool:  # noqa: ANN401 - any component's state
        """Whether no other field changes, and the kinds of the effects match the expression."""
        kinds = tuple(str(getattr(effect, "kind")) for effect in effects)  # noqa: B009 - mypy: any record
        return is_permitted(self.effects, kinds) and is_unchanged(before, after, self.changes)


@cache
def is_permitted(pattern: str, kinds: tuple[str, ...]) -> bool:
    """Whether the sequence of kinds matches the expression, in which each kind is one symbol."""
    letters = re.sub(r"\w+", r"(?:\g<0>,)", pattern).replace(" ", "")
    return re.fullmatch(letters, "".join(f"{kind}," for kind in kinds)) is not None


def is_unchanged(before: Any, after: Any, changes: str) -> bool:  # noqa: ANN401 - any component's state
    """Whether all fields that `changes` does not name have the same value before and after the step."""
    whole, parts = _split(changes)
    for name, was, becomes in zip(before._fields, before, after, strict=True):
        if name in whole or was is becomes:
            continue
        if name in parts:
            if not is_unchanged(was, becomes, parts[name]):
                return False
        elif was != becomes:
            return False
    return True


@cache
def _split(changes: str) -> tuple[frozenset[str], dict[str, str]]:
    names = changes.split()
    parts: dict[str, str] = {}
    for name in names:
        field, dot, rest = name.partition(".")
        if dot:
            parts[field] = f"{parts.get(field, '')} {rest}"
    return frozenset(name for name in names if "." not in name), parts
