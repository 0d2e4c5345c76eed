"""Finds the places that name a rule: in the TLA+ modules, the model, the implementation and the tests.

This module reads the installed sources. Only a checkout has the tests; without them, a sentence replaces
their places.
"""

import ast
import re
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path


def places(rule_id: str) -> dict[str, list[str]]:
    """The places that name the rule, as `file:line  what`, by `spec`, `model`, `impl` and `tests`."""
    tests = Path(str(resources.files("conformance"))).parent / "tests"
    return {
        "spec": list(_in_tla(rule_id)),
        "model": list(_in_python(rule_id, "model")),
        "impl": list(_in_python(rule_id, "impl")),
        "tests": (
            list(_in_folder(rule_id, tests, tests.parent))
            if tests.is_dir()
            else ["the tests are not installed; look in a checkout"]
        ),
    }


def _in_tla(rule_id: str) -> Iterator[str]:
    names = re.compile(rf"\b(?:{re.escape(rule_id)}|{rule_id.replace('-', '_')})\b")
    for name, text in _files(resources.files("spec"), "spec", ".tla"):
        for number, line in enumerate(text.splitlines(), start=1):
            if names.search(line):
                yield f"{name}:{number}  {line.strip()[:60]}"


def _in_python(rule_id: str, package: str) -> Iterator[str]:
    for name, text in _files(resources.files(package), package, ".py"):
        yield from _definitions(rule_id, name, text)


def _in_folder(rule_id: str, folder: Path, root: Path) -> Iterator[str]:
    for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.txt"))):
        name, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            yield from _definitions(rule_id, name, text)
        else:
            yield from _transcript(rule_id, name, text)


def _transcript(rule_id: str, name: str, text: str) -> Iterator[str]:
    """The first line of a golden transcript that names the rule."""
    for number, line in enumerate(text.splitlines(), start=1):
        if _names(line, rule_id):
            yield f"{name}:{number}  a transcript"
            return


def _definitions(rule_id: str, name: str, text: str) -> Iterator[str]:
    """The innermost definitions that name the rule, each once; the file itself if none does."""
    lines = [number for number, line in enumerate(text.splitlines(), start=1) if _names(line, rule_id)]
    if not lines:
        return
    spans = [
        (node.lineno - len(node.decorator_list), node.end_lineno or node.lineno, node.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    found: set[str] = set()
    for number in lines:
        around = [span for span in spans if span[0] <= number <= span[1]]
        what = max(around)[2] if around else "the file"
        if what not in found:
            found.add(what)
            yield f"{name}:{number}  {what}"


def _names(line: str, rule_id: str) -> bool:
    """Whether the line names the rule, or a range that includes it, such as `ALIGN-01 to ALIGN-19`."""
    if rule_id in line:
        return True
    family, number = rule_id.rsplit("-", 1)
    if f"{family}-" not in line:  # true of most lines, and faster than the search
        return False
    ranges = re.findall(rf"\b{family}-(\d\d) to {family}-(\d\d)\b", line)
    return any(int(first) <= int(number) <= int(last) for first, last in ranges)


def _files(folder: Traversable, name: str, suffix: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _files(entry, f"{name}/{entry.name}", suffix)
        elif entry.name.endswith(suffix):
            yield f"{name}/{entry.name}", entry.read_text(encoding="utf-8")
