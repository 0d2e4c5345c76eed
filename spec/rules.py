"""The index of rules: every requirement of the protocol, with its ID, as `rules.toml` states it."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

_TEXT = (resources.files("spec") / "rules.toml").read_text("utf-8")
FAMILIES: Mapping[str, str] = tomllib.loads(_TEXT)["families"]
"""Maps the first part of an ID, such as `ALIGN`, to the title of its family of rules."""
ID = re.compile(rf"(?:{'|'.join(FAMILIES)})-\d\d")
KINDS = ("step", "invariant", "temporal")
"""The kinds of rules (see `Rule.kind`). The first one is the default."""
_REQUIRED = ("id", "title", "must", "source", "holds")


Where = Mapping[str, tuple[object, ...]]
"""Maps an option of the adapter protocol, or `capability`, to values. The option must have one of them.

The value ANY permits every value, but the configuration must have the option.
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
    """The generations of Flink for which the rule holds, in words."""
    where: tuple[Where, ...]
    """The rule can fire if the options agree with one of these. Empty: it can always fire."""
    operator: str
    """The TLA+ definition of the rule, as `Module!Definition`. Empty if there is none."""
    property: str
    """The name of the property in `model.properties` that states the rule. Empty if there is none."""
    mutants: tuple[str, ...]
    """The names of the catalogue's mutants that break the rule."""
    kind: str = "step"
    """`step`, `invariant` or `temporal`.

    `step`: the rule fires at steps of the protocol. `invariant`: the rule holds in every state or for every
    step. `temporal`: no single state or step can violate the rule, so only TLC checks it.
    """
    undecided: str = ""
    """The reason why the suite has compared the rule with no released Flink: it follows from sources only.

    Empty if the matrix of releases names releases that were compared, or if the kind is not `step`.
    """

    def definition(self) -> str:
        """The name of the rule's TLA+ definition: the ID with an underscore in place of the hyphen."""
        return self.id.replace("-", "_")


class RuleIndexError(ValueError):
    """The index of rules is malformed."""


@cache
def load_rules() -> tuple[Rule, ...]:
    """Returns all rules, in the order of the index.

    Raises RuleIndexError if an entry lacks a field, an ID has the wrong form, or an ID occurs twice.
    """
    return parse_rules(_TEXT)


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Parses the rules of an index in TOML. Raises RuleIndexError as `load_rules` does."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleIndexError(f"expected TOML, got: {error}; correct the index of rules") from error
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
        raise RuleIndexError(
            f"expected an ID like ALIGN-04, got {entry['id']!r} in rule {position}; correct it"
        )
    mutants = entry.get("mutants", [])
    if not isinstance(mutants, list) or not all(isinstance(mutant, str) for mutant in mutants):
        raise RuleIndexError(
            f"expected a list of names as mutants of {entry['id']}, got {mutants!r}; correct it"
        )
    kind = entry.get("kind", KINDS[0])
    if kind not in KINDS:
        raise RuleIndexError(f"expected {', '.join(KINDS)} as kind of {entry['id']}, got {kind!r}; fix it")
    where = entry.get("where", [])
    if not isinstance(where, list) or not all(_is_where(one) for one in where):
        raise RuleIndexError(
            f"expected tables of {', '.join(_OPTIONS)} with lists of values as where of {entry['id']}, "
            f"got {where!r}; correct it"
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
    """The reason that the table `undecided` states for the rule, or else for its family. Empty for none."""
    rule_id = str(entry.get("id", ""))
    return undecided.get(rule_id, undecided.get(rule_id.partition("-")[0], ""))


def _is_where(one: object) -> bool:
    """Whether the value is a table that maps known options to non-empty lists."""
    return isinstance(one, dict) and all(
        option in _OPTIONS and isinstance(values, list) and values for option, values in one.items()
    )
