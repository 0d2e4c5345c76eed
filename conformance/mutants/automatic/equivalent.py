"""Proves with z3 that a mutant of the model has the same transition relation as the unchanged model.

Mutant and original run on the same symbols, in every symbolic case of the component's proofs. They are
equivalent if each event has the same effects and leads to the same state, for every id. The rules that a step
names are not part of the relation. A mutant counts as equivalent only if some step has run the edited line.
This module does not judge edits outside of functions.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.mutants.automatic.judges import cases_of
from conformance.mutants.automatic.modules import folder_of
from conformance.mutants.automatic.operators import Edit

if TYPE_CHECKING:
    from model.checker.prove import Assumed, Case

Pairs = Sequence[tuple[FunctionType, FunctionType]]
"""Pairs of a function of the original and the function with the same name in the mutant."""


def same_paths(edit: Edit, text: str, cases: "Sequence[Case] | None", assumed: "Assumed") -> int:
    """The number of paths of the cases, if the mutant with this text agrees with the original on all of them.

    The number is 0 if they differ, or if no path runs the edit. `cases`: None means all cases of the folder.
    `assumed`: the known invariants by shape; the function adds missing ones. Raises UndecidedError, and all
    exceptions that the mutant raises.
    """
    from model.checker.equivalence import Pair, alike
    from model.checker.prove import assume_invariants
    from model.properties import of_component

    module = import_module(edit.module)
    mutant = Mutant(changed(module, text), edit)
    if not mutant.functions:
        return 0

    def pairs() -> Iterator[Pair]:
        for case in cases_of(folder_of(edit)) if cases is None else cases:
            shape = f"{case.component} {case.state!r}"
            if shape not in assumed:
                assumed[shape] = assume_invariants(case.state, of_component(case.component))
            yield Pair(case, case._replace(step=mutant.of(case.step)), assumed[shape])

    found = alike(pairs(), lambda effects: effects, lambda state: state)
    return found.paths if found.difference is None and mutant.has_run else 0


class Mutant:
    """The steps of a mutant. During such a step, the functions of the original have the mutant's code."""

    def __init__(self, functions: Pairs, edit: Edit) -> None:
        self.functions = functions
        self.has_run = False
        """Whether a step has run the edited lines."""
        self._lines = range(edit.line, edit.line + 1 + edit.after.count("\n"))
        self._files = {mutated.__code__.co_filename for _, mutated in functions}

    def of(self, step: Any) -> Any:  # noqa: ANN401 - of any component
        """The step function of the mutant. `step`: the step function of the original."""

        def mutated(state: object, event: object) -> object:
            with self._swapped():
                return step(state, event)

        return mutated

    @contextmanager
    def _swapped(self) -> Iterator[None]:
        self._swap()
        before = sys.gettrace()
        if not self.has_run:
            sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)
            self._swap()

    def _swap(self) -> None:
        for one, other in self.functions:
            one.__code__, other.__code__ = other.__code__, one.__code__
            one.__defaults__, other.__defaults__ = other.__defaults__, one.__defaults__

    def _enter(self, frame: FrameType, _kind: str, _value: object) -> Any:  # noqa: ANN401 - a trace function
        return self._line if frame.f_code.co_filename in self._files else None

    def _line(self, frame: FrameType, _kind: str, _value: object) -> Any:  # noqa: ANN401
        self.has_run = self.has_run or frame.f_lineno in self._lines
        return self._line


def changed(module: ModuleType, text: str) -> Pairs:
    """The functions of a module that differ from those in `text`, the mutated module, as pairs.

    Empty if no function differs, or if the original cannot take the mutant's code. This is so if only one of
    them uses `super()`, which needs a free variable.
    """
    file = str(module.__file__)
    original = ModuleType(module.__name__)
    with open(file, encoding="utf-8") as source:
        exec(compile(source.read(), file, "exec"), vars(original))
    mutated = ModuleType(module.__name__)
    exec(compile(text, file, "exec"), vars(mutated))
    ours, theirs, loaded = (functions(one, file) for one in (original, mutated, module))
    different = [name for name in ours if _differ(ours[name], theirs[name])]
    pairs = [(loaded[name], theirs[name]) for name in different]
    fit = all(one.__code__.co_freevars == other.__code__.co_freevars for one, other in pairs)
    return pairs if fit else []


def functions(module: ModuleType, file: str) -> dict[str, FunctionType]:
    """By qualified name: the functions and methods of a module whose source is in this file."""
    found: dict[str, FunctionType] = {}
    scopes: list[Any] = [module]
    for scope in scopes:
        for value in vars(scope).values():
            one = getattr(value, "__func__", getattr(value, "fget", getattr(value, "__wrapped__", value)))
            if isinstance(one, FunctionType) and one.__code__.co_filename == file:
                found[one.__qualname__] = one
            elif isinstance(value, type) and value.__module__ == module.__name__:
                scopes.append(value)
    return found


def _differ(one: FunctionType, other: FunctionType) -> bool:
    return _shape(one.__code__) != _shape(other.__code__) or one.__defaults__ != other.__defaults__


class _Code(NamedTuple):
    operations: bytes
    names: tuple[str, ...]
    constants: tuple[object, ...]


def _shape(code: CodeType) -> _Code:
    """The code of a function, without its line numbers."""
    constants = tuple(
        _shape(one) if isinstance(one, CodeType) else (type(one), one) for one in code.co_consts
    )
    return _Code(code.co_code, code.co_names + code.co_varnames + code.co_freevars, constants)
