"""Compiles the source of the model again, so that its functions also take ropes.

`Reread` executes modules of the model in separate namespaces. There the functions of `sequence_functions`
replace `all`, `any`, `tuple` and others. `(*a, b)`, list comprehensions and `not` become calls of such
functions. The modules of events and profiles are not compiled again, so that both models have the same
classes of events. An edit replaces an expression of a source, as a mutant does.
"""

import __future__

import ast
import builtins
import inspect
import itertools
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from model.checker.any_number.sequence_functions import WORDS, cells_in, display, not_

SHARED = ("events", "shared_events", "profiles", "registry", "fields", "sizes")
"""The last parts of the names of modules that are not compiled again."""


Helpers = Mapping[str, Callable[..., Any]]
"""By the name of a function or `Class.method` of a module: the function over ropes that replaces it."""


class Edit(NamedTuple):
    """Replaces the text `find`, which occurs once in the module, by `replace`."""

    module: str
    find: str
    replace: str


class Reread:
    """Compiles modules of the model again, each at its first use, and keeps them by name."""

    def __init__(
        self,
        edits: tuple[Edit, ...] = (),
        helpers: Mapping[str, Helpers] | None = None,
        *,
        plain: bool = False,
    ) -> None:
        self._edits = edits
        self._helpers = helpers or {}
        self._modules: dict[str, ModuleType] = {}
        self._plain = plain
        """Whether to keep Python's functions. Then the modules differ from the model only by edits."""
        functions: dict[str, Any] = (
            {} if plain else {**WORDS, "__display__": display, "__not__": not_, "__cells__": cells_in}
        )
        self._builtins: dict[str, Any] = {**vars(builtins), **functions, "__import__": self._import}

    def module(self, name: str) -> Any:  # noqa: ANN401 - a module
        """The module of that name, compiled again. A shared module and one outside the model stay as is."""
        if not name.startswith("model.") or name.rsplit(".", 1)[-1] in SHARED or ".checker" in name:
            return import_module(name)
        found = self._modules.get(name)
        if found is None:
            original = import_module(name)
            found = self._modules[name] = ModuleType(name, original.__doc__)
            found.__file__ = original.__file__
            source = inspect.getsource(original)
            for edit in self._edits:
                if edit.module == name:
                    source = _edited(source, edit)
            tree = ast.parse(source)
            if not self._plain:
                tree = ast.fix_missing_locations(_CallsOfSequenceFunctions().visit(tree))
            vars(found)["__builtins__"] = self._builtins
            exec(
                compile(tree, str(original.__file__), "exec", __future__.annotations.compiler_flag),
                vars(found),
            )
            for path, helper in self._helpers.get(name, {}).items():
                owner, _, last = path.rpartition(".")
                setattr(getattr(found, owner) if owner else found, last, helper)
        return found

    def _import(
        self,
        name: str,
        _globals: object = None,
        _locals: object = None,
        names: tuple[str, ...] = (),
        level: int = 0,
    ) -> Any:  # noqa: ANN401 - a module
        if name == "itertools" and names and not self._plain:
            return SimpleNamespace(**{one: WORDS.get(one, getattr(itertools, one)) for one in names})
        if not name.startswith("model") or level:
            return builtins.__import__(name, None, None, names, level)
        found = self.module(name)
        if not names:
            raise ImportError(f"write `from {name} import ...`, so that the source can be compiled again")
        if found is not import_module(name) or hasattr(found, "__path__"):
            return _Members(self, name, found, names)
        return found


class _Members:
    """The values that a `from` import takes. If a name is a module, its value is the recompiled module."""

    def __init__(self, reread: Reread, name: str, module: Any, names: tuple[str, ...]) -> None:  # noqa: ANN401
        for one in names:
            found = getattr(module, one, None)
            if found is None or isinstance(found, ModuleType):
                found = reread.module(f"{name}.{one}")
            setattr(self, one, found)


def _edited(source: str, edit: Edit) -> str:
    if source.count(edit.find) != 1:
        raise ValueError(f"expected once in {edit.module}: {edit.find!r}; correct the edit's `find`")
    return source.replace(edit.find, edit.replace)


def _stored(statements: list[ast.stmt]) -> set[str]:
    names = (one for statement in statements for one in ast.walk(statement) if isinstance(one, ast.Name))
    return {one.id for one in names if isinstance(one.ctx, ast.Store)}


def _loaded(condition: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(condition) if isinstance(one, ast.Name)}


class _CallsOfSequenceFunctions(ast.NodeTransformer):
    """Replaces by calls: tuples with stars, list comprehensions, `not`, and the iterables of `for` loops."""

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not any(isinstance(one, ast.Starred) for one in node.elts):
            return node
        parts: list[ast.expr] = []
        for one in node.elts:
            is_starred = isinstance(one, ast.Starred)
            value = one.value if isinstance(one, ast.Starred) else one
            parts.append(ast.Tuple([ast.Constant(is_starred), value], ast.Load()))
        return ast.copy_location(ast.Call(ast.Name("__display__", ast.Load()), parts, []), node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        iterated = ast.GeneratorExp(node.elt, node.generators)
        return ast.copy_location(ast.Call(ast.Name("tuple", ast.Load()), [iterated], []), node)

    def visit_For(self, node: ast.For) -> ast.AST:
        """Makes `for x in xs: if c: ...` a loop over the `x` with `c`, if the body does not change `c`."""
        only = node.body[0]
        is_filter = len(node.body) == 1 and isinstance(only, ast.If) and not only.orelse
        if is_filter and isinstance(only, ast.If) and not _stored(only.body) & _loaded(only.test):
            element = ast.parse(ast.unparse(node.target), mode="eval").body
            walk = ast.comprehension(node.target, node.iter, [only.test], 0)
            chosen = ast.Call(ast.Name("tuple", ast.Load()), [ast.GeneratorExp(element, [walk])], [])
            node = ast.copy_location(ast.For(node.target, chosen, only.body, node.orelse), node)
        self.generic_visit(node)
        node.iter = ast.copy_location(ast.Call(ast.Name("__cells__", ast.Load()), [node.iter], []), node.iter)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return ast.copy_location(ast.Call(ast.Name("__not__", ast.Load()), [node.operand], []), node)
