"""The index of rules as the suite cites it: titles for stories, sentences and sources for `explain`."""

import difflib
import tomllib
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any


class UnknownRuleError(KeyError):
    """No rule of the index has this ID; the message lists near ones."""

    def __str__(self) -> str:
        return str(self.args[0])


@cache
def rules() -> MappingProxyType[str, dict[str, Any]]:
    """Every rule of spec/rules.toml by its ID, in the order of the file; the fields as they stand there."""
    text = resources.files("spec").joinpath("rules.toml").read_text(encoding="utf-8")
    return MappingProxyType({entry["id"]: entry for entry in tomllib.loads(text)["rule"]})


def rule(rule_id: str) -> dict[str, Any]:
    """One rule; raises UnknownRuleError."""
    known = rules()
    found = known.get(rule_id.upper())
    if found is None:
        near = difflib.get_close_matches(rule_id.upper(), known, n=4, cutoff=0.5)
        hint = f"near ones: {', '.join(near)}" if near else f"all IDs: {', '.join(known)}"
        raise UnknownRuleError(f"no rule has the ID {rule_id!r}; {hint}")
    return found


def title(rule_id: str) -> str:
    """The title of a rule."""
    return str(rule(rule_id)["title"])
