"""Reads the index of rules: a rule by its ID, with its title, sentence and source."""

import difflib
from collections.abc import Mapping
from functools import cache
from itertools import groupby
from types import MappingProxyType

from conformance.errors import InputError
from spec.rules import Rule, load_rules


class UnknownRuleError(InputError):
    """No rule of the index has this ID. The message names similar IDs or the ranges of all IDs."""


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule by its ID, in the order of the index."""
    return MappingProxyType({rule.id: rule for rule in load_rules()})


def rule(rule_id: str) -> Rule:
    """One rule; raises UnknownRuleError."""
    known = rules()
    found = known.get(rule_id.upper())
    if found is None:
        near = difflib.get_close_matches(rule_id.upper(), known, n=4, cutoff=0.5)
        kinds = groupby(known, lambda one: one.partition("-")[0])
        spans = [f"{ids[0]} to {ids[-1]}" for ids in (sorted(kind) for _, kind in kinds)]
        hint = f"near ones: {', '.join(near)}" if near else f"the IDs are {', '.join(spans)}"
        raise UnknownRuleError(f"no rule has the ID {rule_id!r}; {hint}")
    return found


def title(rule_id: str) -> str:
    """The title of a rule."""
    return rule(rule_id).title
