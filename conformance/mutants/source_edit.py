"""Applies a mutant, which is an edit of one module's source, while the module is loaded.

The protocol packages have no switch for mutants. In a new process, an import finder in front of all others
loads the mutated module. It replaces one expression, which occurs exactly once in the source. All other
modules stay unchanged.
"""

import ast
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType


class EditError(ValueError):
    """The edit does not fit the source: its expression is missing, or occurs more than once."""


class _EditedLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, edit: Callable[[str], str | ast.Module]) -> None:
        super().__init__(name, path)
        self._edit = edit

    def get_code(self, fullname: str) -> CodeType:
        """The module's code, compiled from the edited source. It is never cached."""
        path = self.get_filename(fullname)
        return compile(self._edit(self.get_source(fullname) or ""), path, "exec")


class _Finder(MetaPathFinder):
    def __init__(self, module: str, edit: Callable[[str], str | ast.Module]) -> None:
        self._module = module
        self._edit = edit

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return spec
        spec.loader = _EditedLoader(fullname, spec.origin, self._edit)
        return spec


def edited(source: str, find: str, replace: str) -> str:
    """The source in which `replace` takes the place of `find`.

    Raises EditError if `find` does not occur exactly once.
    """
    count = source.count(find)
    if count != 1:
        raise EditError(f"expected once, found {count} times: {find!r}; correct the mutant's entry")
    return source.replace(find, replace)


def install(module: str, find: str, replace: str) -> None:
    """From now on, load `module` with the edit. Raises EditError if the module is already loaded."""
    _install(module, lambda source: edited(source, find, replace))


def install_text(module: str, text: str | ast.Module) -> None:
    """From now on, load `module` from this text or tree. Raises EditError if the module is already loaded."""
    _install(module, lambda _: text)


def _install(module: str, edit: Callable[[str], str | ast.Module]) -> None:
    if module in sys.modules:
        raise EditError(f"{module} is loaded already; a mutant needs a fresh process")
    sys.meta_path.insert(0, _Finder(module, edit))
