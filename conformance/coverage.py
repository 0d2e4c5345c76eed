"""Rule coverage: which rules of a component did a run exercise?

The rules that can fire are read off the model's own source: every rule ID that stands there as a value.
Rules of the index that never fire are properties over many steps, and are checked elsewhere.
"""

import ast
import re
from collections.abc import Collection, Mapping
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from conformance.protocol_modules import protocol_files

RULE_ID = re.compile(r"[A-Z]+-\d\d")

_RUNS: Mapping[str, tuple[str, ...]] = {"coordinator": ("coordinator", "store")}
"""The components whose rules a component can fire, where they are not its own alone."""


_FAMILIES: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "ALIGN": {"mode": ("exactly-once",)},
    "TRACK": {"mode": ("at-least-once",)},
    "UNAL": {
        "mode": ("unaligned", "alternating"),
        "profile": ("flink-1.11", "flink-1.12", "flink-1.13", "flink-1.14"),
    },
}
"""Options that all rules of a family need to fire, where they are given."""

UNSENT = frozenset({"ALIGN-24", "UNAL-22"})
"""Rules about a gate whose task is triggered itself: walks send that only where `inject` is offered."""

_ANNOUNCING = ("flink-1.13", "flink-1.14")
_ORDERED = ("1.11", "1.12", "1.13", "1.14", "1.15", "1.17", "1.18", "1.19", "1.20", "2.3")
_FROM_1_12 = _ORDERED[1:]
_CHANNELS = ("flink-1.12", "flink-1.13", "flink-1.16", "flink-2.3")
_NEEDS: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "COORD-13": {"profile": _ORDERED},
    "COORD-17": {"profile": _FROM_1_12},
    "COORD-18": {"profile": ("1.9", "1.11")},
    "COORD-19": {"profile": ("1.9",)},
    "COORD-23": {"profile": _ORDERED},
    "COORD-27": {"profile": ("1.9", "1.11", "1.12", *_ORDERED[3:])},  # 1.13 minds finished tasks
    "COORD-29": {"profile": _ORDERED},
    "COORD-30": {"profile": _ORDERED},
    "COORD-31": {"profile": _ORDERED[5:]},
    "SUB-07": {"profile": _FROM_1_12},
    "SUB-08": {"profile": _FROM_1_12},
    "SUB-10": {"profile": ("1.9", "1.11")},
    "SUB-05": {"profile": _ORDERED[4:]},
    "SUB-11": {"profile": ("1.9", *_ORDERED[:4])},
    "ALIGN-07": {"profile": ("flink-1.7", "flink-1.9", "flink-1.11")},
    "ALIGN-14": {"checkpoints_after_tasks_finish": (False,)},
    "ALIGN-15": {"checkpoints_after_tasks_finish": (True,), "profile": ("flink-1.14",)},
    "ALIGN-16": {"level": ("handler",), "profile": ("flink-1.14",)},
    "ALIGN-17": {"level": ("polled",)},
    "ALIGN-20": {"level": ("handler",), "profile": ("flink-1.7", "flink-1.9", "flink-1.11", "flink-1.12")},
    "ALIGN-21": {"level": ("handler",), "profile": ("flink-1.13",)},
    "ALIGN-22": {"level": ("polled",), "profile": ("flink-1.9",)},  # the only one with a limit
    "ALIGN-24": {"profile": ("flink-1.14",)},
    "ALIGN-23": {"level": ("polled",), "profile": ("flink-1.7", "flink-1.9")},
    "SUB-01": {"mode": ("exactly-once",)},
    "TRACK-01": {"level": ("polled",)},
    "TRACK-13": {
        "checkpoints_after_tasks_finish": (False,),
        "profile": ("flink-1.9", "flink-1.11", "flink-1.12", "flink-1.13", "flink-1.14"),
    },
    "TRACK-14": {"checkpoints_after_tasks_finish": (True,), "profile": ("flink-1.14",)},
    "TRACK-17": {"profile": ("flink-1.14",)},  # the only one with a lone channel
    "TRACK-18": {"level": ("handler",), "profile": ("flink-1.7",)},
    "SINK-07": {"profile": ("1.14",)},
    "TASK-02": {"profile": _ORDERED},
    "TASK-03": {"profile": _ORDERED},
    "TASK-05": {"profile": _ORDERED},
    "TASK-06": {"profile": _ORDERED[3:]},
    "TASK-09": {"profile": _ORDERED[5:]},  # up to 1.16 the memory is too long for a walk
    "TASK-11": {"profile": ("1.9",)},
    "TASK-12": {"profile": ("1.9",)},
    "TASK-13": {"profile": _ORDERED},
    "TASK-14": {"profile": ("1.9",)},
    "TASK-16": {"profile": _ORDERED},
    "TASK-17": {"profile": ("1.9", "1.11", "1.12", "1.13")},
    "TASK-19": {"profile": _ORDERED[5:]},
    "UNAL-08": {"checkpoints_after_tasks_finish": (False,)},
    "UNAL-11": {"mode": ("alternating",)},
    "UNAL-12": {"mode": ("alternating",), "profile": _ANNOUNCING},
    "UNAL-13": {"mode": ("alternating",), "profile": _ANNOUNCING},
    "UNAL-14": {"profile": _ANNOUNCING},
    "UNAL-15": {"mode": ("alternating",), "profile": _ANNOUNCING},
    "UNAL-16": {"mode": ("alternating",), "profile": _ANNOUNCING},
    "UNAL-17": {"mode": ("alternating",), "profile": _ANNOUNCING},
    "UNAL-18": {"mode": ("alternating",), "profile": _ANNOUNCING},
    "UNAL-19": {
        "mode": ("alternating",),
        "profile": ("flink-1.14",),
        "checkpoints_after_tasks_finish": (True,),
    },
    "UNAL-22": {"profile": ("flink-1.14",)},
    "UNAL-23": {"level": ("polled",)},
    "UNAL-24": {"level": ("polled",)},
    "UNAL-27": {"mode": ("alternating",), "profile": ("flink-1.12",)},
    "UNAL-28": {"mode": ("alternating",), "profile": ("flink-1.11",)},
    "UNAL-29": {"profile": ("flink-1.11",)},
    "UNAL-30": {"mode": ("unaligned",), "profile": ("flink-1.11",)},
    "UNAL-31": {"mode": ("unaligned",), "profile": ("flink-1.11",)},
    "UNAL-32": {"profile": _CHANNELS},
    "UNAL-33": {"profile": _CHANNELS[2:]},
    "UNAL-34": {"profile": _CHANNELS},
    "UNAL-35": {"profile": _CHANNELS},
    "UNAL-36": {"profile": _CHANNELS},
}
"""Options that a rule needs beside those of its family."""

_ALTERNATING: Mapping[str, tuple[object, ...]] = {"mode": ("alternating",)}
_NEWER: Mapping[str, tuple[object, ...]] = {"profile": _ANNOUNCING}
_ALTERNATIVES: Mapping[str, tuple[Mapping[str, tuple[object, ...]], ...]] = {
    "UNAL-10": (_NEWER, _ALTERNATING),
    "UNAL-21": (
        _NEWER,
        {**_ALTERNATING, "profile": ("flink-1.12",)},
        {**_ALTERNATING, "level": ("handler",)},
    ),
    "UNAL-24": (_NEWER, _ALTERNATING),
}
"""Needs of which a rule has to have one; up to 1.12 a gate of mode unaligned blocks no channel."""


class Coverage(NamedTuple):
    """Of the rules that can fire, those that did and those that did not; both sorted."""

    fired: tuple[str, ...]
    missing: tuple[str, ...]
    not_asked: tuple[str, ...] = ()
    """Those that were left out on purpose."""

    @property
    def is_full(self) -> bool:
        """Every rule that can fire has fired."""
        return not self.missing

    def describe(self) -> str:
        """`16 of 18 rules, not ALIGN-14, ALIGN-15`."""
        count = f"{len(self.fired)} of {len(self.fired) + len(self.missing)} rules"
        told = f"{count}, not {', '.join(self.missing)}" if self.missing else count
        return f"{told}; not asked: {len(self.not_asked)} others" if self.not_asked else told


def coverage(
    component: str,
    fired: Collection[str],
    pinned: Mapping[str, object] = MappingProxyType({}),
    asked: Collection[str] = (),
    *,
    injects: bool = False,
) -> Coverage:
    """What a run of a component covered; rules that the `pinned` options rule out do not count.

    `asked`: only these rules were asked for; empty: all. Without `injects` those of UNSENT do not count.
    """
    able = [rule for rule in rules_that_fire(component) if injects or rule not in UNSENT]
    possible = [rule for rule in able if _possible(rule, pinned)]
    known = [rule for rule in possible if not asked or rule in asked]
    return Coverage(
        tuple(rule for rule in known if rule in fired),
        tuple(rule for rule in known if rule not in fired),
        tuple(rule for rule in possible if rule not in known),
    )


def _possible(rule: str, pinned: Mapping[str, object]) -> bool:
    needs = {**_FAMILIES.get(rule.partition("-")[0], {}), **_NEEDS.get(rule, {})}
    alternatives = _ALTERNATIVES.get(rule, ({},))
    return _met(needs, pinned) and any(_met(alternative, pinned) for alternative in alternatives)


def _met(needs: Mapping[str, tuple[object, ...]], pinned: Mapping[str, object]) -> bool:
    return all(_meets(pinned[option], values) for option, values in needs.items() if option in pinned)


def _meets(pinned: object, values: tuple[object, ...]) -> bool:
    """Some value that the option is pinned to (a tuple stands for any of its own) is among those needed."""
    return any(value in values for value in (pinned if isinstance(pinned, tuple) else (pinned,)))


def impossible(rules: Collection[str], pinned: Mapping[str, object]) -> tuple[str, ...]:
    """Those of the rules that the `pinned` options rule out, sorted."""
    return tuple(sorted(rule for rule in rules if not _possible(rule, pinned)))


@cache
def rules_that_fire(component: str) -> tuple[str, ...]:
    """The rules that the model of a component can fire, sorted."""
    found: set[str] = set()
    for path in chain.from_iterable(map(protocol_files, _RUNS.get(component, (component,)))):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and RULE_ID.fullmatch(node.value)
        }
    return tuple(sorted(found))
