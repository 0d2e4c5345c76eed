"""Lists the protocol modules that are mutated. Modules with rules, closed models or wire formats are not."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from conformance import machine
from conformance.mutants.automatic.operators import Edit, edits_of
from conformance.mutants.automatic.tla_judge import read_by
from conformance.mutants.automatic.tla_operators import tla_edits_of
from conformance.rules.protocol_modules import NO_COMPONENTS

LAYERS = {"spec": "spec", "model": "model", "impl": "impl/core"}
"""By layer: the folder with its components."""
_SUFFIX = {"spec": ".tla"}
_COMPANIONS = {"__init__", "environment", "events", "from_config", "proofs", "properties", "wire"}
"""Modules without a step of the protocol: they declare records, parse, or judge."""
_RULES = re.compile(r"Model$|^Live")
"""Ends of the names of TLA+ modules that state rules.

A module that extends or instantiates one counts too.
"""
_ABSTRACT = "ConsistentCut"
"""The module that the dataflow refines. It states what is required, as a rule does, so it is not mutated."""


@cache
def edits(layer: str) -> tuple[Edit, ...]:
    """Every edit of the protocol modules of a layer, in the order of the files."""
    edited = tla_edits_of if layer == "spec" else edits_of
    return tuple(edit for module, source in modules(layer) for edit in edited(module, source))


def left_out(layers: Iterable[str]) -> Counter[str]:
    """The number of edits of these layers that do not change the protocol, by reason (`NO_PROTOCOL`)."""
    found: Counter[str] = Counter()
    for layer in layers:
        for module, source in modules(layer) if layer != "spec" else ():
            edits_of(module, source, found)
    return found


def modules(layer: str) -> Iterator[tuple[str, str]]:
    """Yields the name and the source of each protocol module of a layer."""
    home = machine.HOME
    for file in sorted((home / LAYERS[layer]).glob(f"*/*{_SUFFIX.get(layer, '.py')}")):
        if (
            file.stem not in _COMPANIONS
            and file.parent.name not in NO_COMPONENTS
            and not (layer == "spec" and _judges(file.stem))
        ):
            yield _name(file.relative_to(home)), file.read_text("utf-8")


def _judges(module: str) -> bool:
    return module.endswith((_ABSTRACT, "Environment")) or any(map(_RULES.search, read_by(module)))


def folder_of(edit: Edit) -> str:
    """The component folder of the edited module."""
    return edit.module.split(".")[-2]


def _name(file: Path) -> str:
    return ".".join(file.with_suffix("").parts)
