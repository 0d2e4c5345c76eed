"""The catalogue of mutants: broken variants of the specification, the model and the implementation.

Each entry of catalogue.toml names the rule that it breaks. In the model and the implementation a mutant
is one edit of one module (`source_edit`); in the specification it is a model of spec/manifests that
overrides an operator and is expected to be refuted.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from spec.modules import module_path

LAYERS = ("spec", "model", "impl")


class CatalogueError(ValueError):
    """An entry of the catalogue is not as described here."""


class Mutant(NamedTuple):
    """One broken variant."""

    id: str
    layer: str
    """`spec`, `model` or `impl`."""
    rule: str
    """The rule that must be charged for it."""
    story: str
    """The defect, in one sentence."""
    component: str = ""
    """Of model and impl: the component that is driven."""
    module: str = ""
    find: str = ""
    replace: str = ""
    model: str = ""
    """Of spec: the model in spec/manifests."""
    conforms: str = ""
    """Why `conform --thorough` accepts it as an implementation; empty: it is detected (`planted`)."""


def component_of(mutant: Mutant, modules: Mapping[str, str]) -> str:
    """The component of a mutant; for a mutant of the specification, the folder of its module.

    `modules`: the module of each model of the manifest.
    """
    return mutant.component or module_path(modules[mutant.model]).split("/")[1]


def counted(count: int, what: str) -> str:
    """`1 channel`, `2 channels`."""
    return f"{count} {what}{'s' if count != 1 else ''}"


@cache
def load_catalogue() -> tuple[Mutant, ...]:
    """Every mutant, in the order of the file. Raises CatalogueError."""
    text = files("conformance.mutants").joinpath("catalogue.toml").read_text(encoding="utf-8")
    mutants = tuple(_mutant(entry) for entry in tomllib.loads(text)["mutant"])
    names = [mutant.id for mutant in mutants]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise CatalogueError(f"these ids occur more than once: {', '.join(sorted(twice))}")
    return mutants


def mutant_of(identity: str) -> Mutant:
    """The mutant of this id. Raises CatalogueError if there is none."""
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
