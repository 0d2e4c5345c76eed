"""Rule coverage: computes which rules of a component a run has exercised.

The rules that can fire are those whose ID is a string in the source of the model's steps. The other rules of
the index are about many steps; other checks cover them.
"""

import ast
import re
from collections.abc import Collection, Mapping
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from conformance.rules.index import rules
from conformance.rules.protocol_modules import protocol_files
from spec.rules import ANY, Where

RULE_ID = re.compile(r"[A-Z]+-\d\d")

_RUNS: Mapping[str, tuple[str, ...]] = {"coordinator": ("coordinator", "store")}
"""The components whose rules a component can fire. Components without an entry fire only their own rules."""


INJECT = "inject"
"""The capability of a gate that accepts injections: the coordinator triggers its task directly."""


class Coverage(NamedTuple):
    """The rules that can fire: those that have fired, and those that have not. Both are sorted."""

    fired: tuple[str, ...]
    missing: tuple[str, ...]
    not_tested: tuple[str, ...] = ()
    """The rules that were left out on purpose."""

    @property
    def is_full(self) -> bool:
        """Whether every rule that can fire has fired."""
        return not self.missing

    def describe(self) -> str:
        """One line, such as `16 of 18 rules, not ALIGN-14, ALIGN-15`."""
        count = f"{len(self.fired)} of {len(self.fired) + len(self.missing)} rules"
        text = f"{count}, not {', '.join(self.missing)}" if self.missing else count
        return f"{text}; not tested: {len(self.not_tested)} others" if self.not_tested else text


def coverage(
    component: str,
    fired: Collection[str],
    pinned: Mapping[str, object] = MappingProxyType({}),
    selected: Collection[str] = (),
    *,
    injects: bool = False,
) -> Coverage:
    """The coverage of a run of a component, without the rules that the `pinned` options exclude.

    `selected`: only these rules count; empty: all. Rules that need an injection count only with `injects`.
    """
    able = [rule for rule in rules_that_fire(component) if injects or not needs_injections(rule)]
    possible = [rule for rule in able if _possible(rule, pinned)]
    known = [rule for rule in possible if not selected or rule in selected]
    return Coverage(
        tuple(rule for rule in known if rule in fired),
        tuple(rule for rule in known if rule not in fired),
        tuple(rule for rule in possible if rule not in known),
    )


def _possible(rule: str, pinned: Mapping[str, object]) -> bool:
    where = rules()[rule].where
    return not where or any(_met(one, pinned) for one in where)


def needs_injections(rule: str) -> bool:
    """Whether the rule can fire only at a gate that offers the capability `inject`."""
    where = rules()[rule].where
    return bool(where) and all(INJECT in one.get("capability", ()) for one in where)


def _met(needs: Where, pinned: Mapping[str, object]) -> bool:
    return all(_meets(pinned[option], values) for option, values in needs.items() if option in pinned)


def _meets(pinned: object, values: tuple[object, ...]) -> bool:
    """Whether the option's pinned value, or one of a tuple of values, is among those that a rule needs."""
    given = pinned if isinstance(pinned, tuple) else (pinned,)
    return any(value in values or (ANY in values and value is not None) for value in given)


def impossible(rules: Collection[str], pinned: Mapping[str, object]) -> tuple[str, ...]:
    """The rules that cannot fire with the `pinned` options, sorted."""
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
