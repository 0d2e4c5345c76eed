"""Checks that a change of behaviour is declared: by a new version of the rule index and in the changelog."""

import tomllib
from pathlib import Path
from typing import NamedTuple

from spec.rules import Rule, parse_rules


class Declared(NamedTuple):
    """The declarations about the change in the files of the new side."""

    old_version: str
    new_version: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    reworded: tuple[str, ...]
    """Ids of the rules whose title, statement, source or generations differ."""
    in_changelog: bool
    """Whether the changelogs differ."""

    @property
    def is_declared(self) -> bool:
        """Whether the rule index has a new version and the changelog has changed."""
        return self.old_version != self.new_version and self.in_changelog

    def missing(self) -> list[str]:
        """The steps that are still missing."""
        todo = []
        if self.old_version == self.new_version:
            todo.append(f"spec/rules.toml: give the index another version than {self.old_version}")
        if not self.in_changelog:
            todo.append("CHANGELOG.md: describe the changed behaviour")
        return todo


def declared(old: Path, new: Path) -> Declared:
    """Compare the rule index and the changelog in the folders of the two sides."""
    before, after = _rules(old), _rules(new)
    common = [name for name in after if name in before]
    return Declared(
        _version(old),
        _version(new),
        tuple(name for name in after if name not in before),
        tuple(name for name in before if name not in after),
        tuple(name for name in common if _statement(before[name]) != _statement(after[name])),
        _text(old, "CHANGELOG.md") != _text(new, "CHANGELOG.md"),
    )


def _rules(folder: Path) -> dict[str, Rule]:
    return {rule.id: rule for rule in parse_rules(_text(folder, "spec/rules.toml"))}


def _version(folder: Path) -> str:
    return str(tomllib.loads(_text(folder, "spec/rules.toml"))["version"])


def _statement(rule: Rule) -> tuple[str, ...]:
    return (rule.title, rule.must, rule.source, rule.holds)


def _text(folder: Path, name: str) -> str:
    file = folder / name
    return file.read_text(encoding="utf-8") if file.is_file() else ""
