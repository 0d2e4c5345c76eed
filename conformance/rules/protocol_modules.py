"""The modules of `model/` that hold the protocol itself, by component.

A component is a folder of `model/`. The files of the folder are the protocol. Its companions, which check or
serve the protocol, are in the same folder under the names in `COMPANIONS`.
"""

from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path

COMPANIONS = ("environment", "proofs", "properties", "wire")
"""The companions of a protocol: a closed environment, proofs, properties, and its translation to the
wire.
"""
NO_COMPONENTS = ("any_dataflow", "checker", "history", "theorem")
"""Folders of `model/` that are no component."""


@cache
def components() -> tuple[str, ...]:
    """The components of the model in alphabetical order: one for each folder."""
    folders = (path.name for path in _root().iterdir() if (path / "__init__.py").is_file())
    return tuple(sorted(name for name in folders if name not in NO_COMPONENTS))


@cache
def protocol_files(component: str) -> tuple[Path, ...]:
    """The files that hold the protocol of `component`, sorted by name."""
    files = (_root() / component).glob("*.py")
    return tuple(sorted(path for path in files if path.stem not in (*COMPANIONS, "__init__")))


def all_protocol_files() -> Iterator[Path]:
    """The protocol files of every component, after the files that all components share."""
    yield _root() / "events.py"
    yield _root() / "steps.py"
    for component in components():
        yield from protocol_files(component)


def _root() -> Path:
    return Path(str(resources.files("model")))
