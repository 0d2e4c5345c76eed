"""Finds the modules of a component, and the values in them, by names that contain the component's name.

A component that is one module of steps, without generations, needs no entry in the tables of `model/`. Its
steps are functions of `model/<name>/<name>.py`, its rules `<NAME>` in `properties`, its closed models
`closed_<name>_models` in `environment`. The module `proofs`, if there is one, has its cases for z3,
`all_<name>_cases`, and their `SIZE`.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from spec.vocabulary import vocabulary

WITH_ENTRIES = ("gate", "channel", "subtask", "source", "coordinator", "store", "sink")
"""Components with several modules or generations, which the tables of `model/` list."""
BY_NAME = tuple(name for name in vocabulary() if name not in WITH_ENTRIES)
"""All other components, in the order of the vocabulary."""
PROVED = tuple(name for name in BY_NAME if find_spec(f"model.{name}.proofs") is not None)
"""The components that have cases for z3. The others are only explored."""


def module_of(component: str, module: str) -> ModuleType:
    """A module of `model/<component>/`. Raises ModuleNotFoundError if there is none."""
    return import_module(f"model.{component}.{module}")


def part_of(component: str, module: str, name: str) -> Any:  # noqa: ANN401 - what the module has
    """The value `name` of a module of `model/<component>/`. Raises AttributeError if it has none."""
    return getattr(module_of(component, module), name)
