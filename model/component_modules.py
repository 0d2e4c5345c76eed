"""Finds the modules of a component, and the values in them, by names that contain the component's name.

If one module holds all steps of a component and there are no generations, the tables of `model/` need no
entry for the component. These names suffice: the step functions are in `model/<name>/<name>.py`. `properties`
has the registry `<NAME>`, and `environment` the function `closed_<name>_models`. The module `proofs` is
optional. It has the cases for z3, `all_<name>_cases`, and their `SIZE`.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from spec.vocabulary import vocabulary

WITH_ENTRIES = ("gate", "channel", "subtask", "source", "coordinator", "store", "sink")
"""Components with several modules of steps or with generations. The tables of `model/` list them."""
BY_NAME = tuple(name for name in vocabulary() if name not in WITH_ENTRIES)
"""All other components, in the order of the vocabulary. This module finds their parts by name."""
PROVED = tuple(name for name in BY_NAME if find_spec(f"model.{name}.proofs") is not None)
"""The components of `BY_NAME` that have cases for z3. The explorer alone checks the other ones."""


def module_of(component: str, module: str) -> ModuleType:
    """A module of `model/<component>/`. Raises ModuleNotFoundError if there is none."""
    return import_module(f"model.{component}.{module}")


def part_of(component: str, module: str, name: str) -> Any:  # noqa: ANN401 - what the module has
    """The value `name` of a module of `model/<component>/`. Raises AttributeError if it has none."""
    return getattr(module_of(component, module), name)
