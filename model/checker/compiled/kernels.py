"""Imports kernels as modules. The text of a kernel is stored as a file, so that numba can cache its code.

The name of the file is a hash of the text, so that no stored file can be out of date.
"""

import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from model.checker.compiled import breadth_first
from model.checker.memoised import answer_trees, successors

CACHE = "BARRIERSPEC_CACHE"
"""The environment variable that names the cache folder; default `~/.cache/barrierspec`."""
SEARCH = (
    breadth_first.expand_some,
    breadth_first.insert_some,
    breadth_first.count_some,
    breadth_first.rehash,
    breadth_first.leads_to,
)
"""The functions of a search that are compiled together with a kernel."""
ANSWERING = (successors.answer_to, successors.expand, successors.unanswered)
"""The functions that replace a kernel if the closed model is a composition."""

_HEAD = """\"\"\"Generated: the moves of one closed model over packed states. Not to be edited.\"\"\"

from __future__ import annotations

import numpy as np
"""
_SCALAR_HEAD = """from numba import njit, prange

U = np.uint64
I = np.int64
jit = njit(cache=True)
"""
_COLUMNS_HEAD = """from model.checker.shapes import OutsideError

U = np.uint64
I = np.int64


def chosen(mask, rows):
    return np.flatnonzero(np.broadcast_to(mask, rows))

"""


def scalar_module(expand: str, *, cores: int) -> ModuleType:
    """A module with the search and the kernel of this text. The first call compiles it for `cores` cores."""
    return _module(_search(expand, SEARCH, cores))


def answering_module(*, cores: int) -> ModuleType:
    """A module with the search that reads the successors of a state from tables of stored answers."""
    names = _names(successors, ("PATIENCE", "BROKEN", "UNANSWERED", "CROWDED"))
    names += "\n" + _names(
        answer_trees, ("MISSING", "LEAF", "PLAIN", "BREAKS", "SPREAD_NODE", "SPREAD_NUMBER", "NUMBER_BITS")
    )
    expand = "\n\n".join((names, *(_compiled(one) for one in ANSWERING)))
    return _module(_search(expand, (*SEARCH, successors.look_over_some), cores))


def _search(expand: str, functions: tuple[Callable[..., Any], ...], cores: int) -> str:
    """The text of a module with a kernel and the functions of the search."""
    sources = (inspect.getsource(function) for function in functions)
    each = (f"@njit(cache=True, parallel={cores > 1 and 'prange' in source})\n{source}" for source in sources)
    names = _names(breadth_first, ("RECENT", "AHEAD"))
    place_of = f"@njit(cache=True, _nrt=False)\n{inspect.getsource(breadth_first.place_of)}"  # no allocation
    head = (_HEAD + _SCALAR_HEAD + names, _compiled(breadth_first.hashed), place_of)
    return "\n\n".join((*head, expand, *each))


def _compiled(function: Callable[..., Any]) -> str:
    return f"@jit\n{inspect.getsource(function)}"


def _names(module: ModuleType, names: tuple[str, ...]) -> str:
    return "\n".join(f"{name} = {getattr(module, name)}" for name in names)


def columns_module(successors: str) -> ModuleType:
    """The module of a kernel over columns."""
    return _module(_HEAD + _COLUMNS_HEAD + successors)


def kept_in() -> Path:
    """The folder in which kernels are stored."""
    root = os.environ.get(CACHE)
    return (Path(root) if root else Path.home() / ".cache" / "barrierspec") / "kernels"


def _module(text: str) -> ModuleType:
    name = "kernel_" + hashlib.sha256((text + version("numba")).encode()).hexdigest()[:16]
    path = kept_in() / f"{name}.py"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # numba looks it up there
    spec.loader.exec_module(module)
    return module
