"""The catalogue of mutants: broken variants of the specification, the model and the implementation.

Each entry of catalogue.toml names the rule that the mutant breaks. A mutant of the model or the
implementation is one edit of one module (`source_edit`). A mutant of the specification is a model in
spec/manifests. It overrides an operator, and TLC is expected to refute it.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from spec.modules import module_path

LAYERS = ("spec", "model", "impl")


class CatalogueError(ValueError):
    """An entry of the catalogue has an unknown, missing or wrong field, or an id occurs more than once."""


class Mutant(NamedTuple):
    """One broken variant."""

    id: str
    layer: str
    """`spec`, `model` or `impl`."""
    rule: str
    """The rule that must detect the mutant."""
    story: str
    """The defect, in one sentence."""
    component: str = ""
    """Of model and impl: the component in which the mutant is run."""
    module: str = ""
    find: str = ""
    replace: str = ""
    model: str = ""
    """Of spec: the model in spec/manifests."""
    conforms: str = ""
    """The reason why `conform --thorough` does not detect it as an implementation.

    Empty: it does (`planted`).
    """


def component_of(mutant: Mutant, modules: Mapping[str, str]) -> str:
    """The component of a mutant. For a mutant of the specification, the folder of its module.

    `modules`: by model of the manifests, its module.
    """
    return mutant.component or module_path(modules[mutant.model]).split("/")[1]


def counted(count: int, what: str) -> str:
    """A number with a noun: `1 channel`, `2 channels`."""
    return f"{count} {what}{'s' if count != 1 else ''}"


@cache
def load_catalogue() -> tuple[Mutant, ...]:
    """Every mutant, in the order of the file. Raises CatalogueError if an entry is wrong."""
    text = files("conformance.mutants").joinpath("catalogue.toml").read_text(encoding="utf-8")
    mutants = tuple(_mutant(entry) for entry in tomllib.loads(text)["mutant"])
    names = [mutant.id for mutant in mutants]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise CatalogueError(f"these ids occur more than once: {', '.join(sorted(twice))}")
    return mutants


def mutant_of(identity: str) -> Mutant:
    """The mutant with this id. Raises CatalogueError if there is none."""
    for mutant in load_catalogue():
        if mutant.id == identity:
            return mutant
    raise CatalogueError(f"{identity}: expected an id of catalogue.toml")


def _mutant(entry: dict[str, str]) -> Mutant:
    unknown = set(entry) - set(Mutant._fields)
    if unknown:
        raise CatalogueError(f"{entry.get('id')}: unknown fields {', '.join(sorted(unknown))}")
    mutant = Mutant(**entry)
    if mutant.layer not in LAYERS:
        raise CatalogueError(f"{mutant.id}: layer is one of {', '.join(LAYERS)}, got {mutant.layer!r}")
    needed = ("model",) if mutant.layer == "spec" else ("component", "module", "find")
    missing = [name for name in needed if not getattr(mutant, name)]
    if missing:
        raise CatalogueError(f"{mutant.id}: a mutant of {mutant.layer} needs {', '.join(missing)}")
    return mutant
