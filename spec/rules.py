"""The index of rules: every requirement of the protocol, with its one ID. Read from `rules.toml`."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

_TEXT = (resources.files("spec") / "rules.toml").read_text("utf-8")
FAMILIES: Mapping[str, str] = tomllib.loads(_TEXT)["families"]
"""Maps the first part of an ID to the title of its family."""
ID = re.compile(rf"(?:{'|'.join(FAMILIES)})-\d\d")
KINDS = ("step", "invariant", "temporal")
"""The ways in which a rule can be stated; the most common one first."""
_REQUIRED = ("id", "title", "must", "source", "holds")


Where = Mapping[str, tuple[object, ...]]
"""From an option of the adapter protocol, or `capability`, to the values of which it needs one.

ANY stands for every value: the option must be given.
"""
ANY = "any"
_OPTIONS = (
    *("mode", "level", "profile", "checkpoints_after_tasks_finish", "capability"),
    *("cleaning", "io_failures", "restored_savepoint"),
)


class Rule(NamedTuple):
    """One requirement."""

    id: str
    """For example `ALIGN-04`."""
    title: str
    must: str
    """The requirement: a sentence with MUST or MUST NOT, then its exceptions."""
    source: str
    """A fact of Apache Flink (class or ticket), or a consequence of other rules."""
    holds: str
    """The generations of Flink that it holds for."""
    where: tuple[Where, ...]
    """Under which options it can fire: one of these; empty: always."""
    operator: str
    """`Module!Definition` that states it in TLA+; empty if none is given."""
    property: str
    """The function of `model.properties` that states it; empty if none is given."""
    mutants: tuple[str, ...]
    """The catalogue's mutants that break it."""
    kind: str = "step"
    """`step`: steps of the protocol fire it. `invariant`: it holds of every state or step.
    `temporal`: no state or step decides it, and only TLC checks it."""
    undecided: str = ""
    """Why no released class decides it: it is taken from sources. Empty: the matrix of releases names those
    that decided it, or it is no step."""

    def definition(self) -> str:
        """The name of its TLA+ definition: the ID with an underscore."""
        return self.id.replace("-", "_")


class RuleIndexError(ValueError):
    """The index of rules is malformed."""


@cache
def load_rules() -> tuple[Rule, ...]:
    """All rules, in the order of the index.

    Raises:
        RuleIndexError: an entry lacks a field, has an ID of the wrong form, or an ID occurs twice.
    """
    return parse_rules(_TEXT)


def parse_rules(text: str) -> tuple[Rule, ...]:
    """The rules of an index given as TOML."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleIndexError(f"expected TOML, got: {error}; mend the index of rules") from error
    undecided = document.get("undecided", {})
    rules = tuple(
        _rule(position, {**entry, "undecided": _reason(undecided, entry)})
        for position, entry in enumerate(document.get("rule", []), 1)
    )
    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            raise RuleIndexError(f"expected each rule once, got {rule.id} twice; rename or remove one")
        seen.add(rule.id)
    return rules


def _rule(position: int, entry: dict[str, Any]) -> Rule:
    missing = [field for field in _REQUIRED if not isinstance(entry.get(field), str) or not entry[field]]
    if missing:
        raise RuleIndexError(
            f"expected text in {', '.join(_REQUIRED)} of rule {position} ({entry.get('id', 'without id')}), "
            f"got none in {', '.join(missing)}; add it"
        )
    if not ID.fullmatch(entry["id"]):
        raise RuleIndexError(f"expected an ID like ALIGN-04, got {entry['id']!r} in rule {position}; mend it")
    mutants = entry.get("mutants", [])
    if not isinstance(mutants, list) or not all(isinstance(mutant, str) for mutant in mutants):
        raise RuleIndexError(
            f"expected a list of names as mutants of {entry['id']}, got {mutants!r}; mend it"
        )
    kind = entry.get("kind", KINDS[0])
    if kind not in KINDS:
        raise RuleIndexError(f"expected {', '.join(KINDS)} as kind of {entry['id']}, got {kind!r}; mend it")
    where = entry.get("where", [])
    if not isinstance(where, list) or not all(_is_where(one) for one in where):
        raise RuleIndexError(
            f"expected tables of {', '.join(_OPTIONS)} with lists of values as where of {entry['id']}, "
            f"got {where!r}; mend it"
        )
    named = {field: entry[field] for field in _REQUIRED}
    return Rule(
        **named,
        where=tuple({option: tuple(values) for option, values in one.items()} for one in where),
        operator=entry.get("operator", ""),
        property=entry.get("property", ""),
        mutants=tuple(mutants),
        kind=kind,
        undecided=entry["undecided"],
    )


def _reason(undecided: Mapping[str, str], entry: Mapping[str, Any]) -> str:
    """The reason of a rule's own, or of its family; empty if there is none."""
    rule_id = str(entry.get("id", ""))
    return undecided.get(rule_id, undecided.get(rule_id.partition("-")[0], ""))


def _is_where(one: object) -> bool:
    """Whether it is a table from options to lists that are not empty."""
    return isinstance(one, dict) and all(
        option in _OPTIONS and isinstance(values, list) and values for option, values in one.items()
    )
