"""Kernels as modules: text that is kept as a file, so that numba finds again what it has compiled.

A file is named after its own text, so nothing that is kept can be out of date.
"""

import hashlib
import importlib.util
import inspect
import os
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

from model.engines import searching

CACHE = "BARRIERSPEC_CACHE"
"""The environment variable that names the cache folder; left out: `~/.cache/barrierspec`."""
SEARCH = (
    searching.expand_some,
    searching.insert_some,
    searching.count_some,
    searching.rehash,
    searching.leads_to,
)
"""What is compiled beside a kernel, each to be called by itself."""

_HEAD = """\"\"\"Generated: the moves of one closed model over packed states. Not to be edited.\"\"\"

from __future__ import annotations

import numpy as np
"""
_SCALAR_HEAD = """from numba import njit, prange

U = np.uint64
I = np.int64
jit = njit(cache=True)
"""
_COLUMNS_HEAD = """from model.engines.shapes import OutsideError

U = np.uint64
I = np.int64


def chosen(mask, rows):
    return np.flatnonzero(np.broadcast_to(mask, rows))

"""


def scalar_module(expand: str, *, cores: int) -> ModuleType:
    """The search around a kernel's text, compiled for so many cores when it is first called."""
    search = "\n\n".join(
        f"@njit(cache=True, parallel={cores > 1})\n{inspect.getsource(function)}" for function in SEARCH
    )
    names = "\n".join(f"{name} = {getattr(searching, name)}" for name in ("RECENT", "AHEAD"))
    hashed = f"@jit\n{inspect.getsource(searching.hashed)}"
    place_of = (
        f"@njit(cache=True, _nrt=False)\n{inspect.getsource(searching.place_of)}"  # it allocates nothing
    )
    text = "\n\n".join((_HEAD + _SCALAR_HEAD + names, hashed, place_of, expand, search))
    return _module(text)


def columns_module(successors: str) -> ModuleType:
    """The module of a kernel over columns."""
    return _module(_HEAD + _COLUMNS_HEAD + successors)


def kept_in() -> Path:
    """The folder of the kernels."""
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
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # numba finds it there by its name
    spec.loader.exec_module(module)
    return module
