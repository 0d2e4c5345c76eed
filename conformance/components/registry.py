"""The suite's entry for each component of the vocabulary, by name."""

from collections.abc import Mapping
from importlib import import_module

from conformance.compare.projection import Projection, given_by
from conformance.components.any_dataflow import project_any_dataflow
from conformance.components.component import Component
from conformance.components.dataflow import project_dataflow, project_effects
from spec.manifest import Model
from spec.vocabulary import vocabulary

COMPONENTS: Mapping[str, Component] = {
    name: import_module(f"conformance.components.{name}").COMPONENT for name in vocabulary()
}
"""The components by name, in the order of reports."""

_PROJECTIONS = {
    "AnyDataflowModel": project_any_dataflow,
    "DataflowModel": project_dataflow,
    "DataflowEffects": project_effects,
    **{module: made for one in COMPONENTS.values() for module, made in one.projections.items()},
}


class ProjectionError(ValueError):
    """No projection is declared for a TLA+ model or state."""


def projection_of(model: Model) -> Projection:
    """The projection of a model of spec/manifests. Raises ProjectionError if there is none."""
    if model.module not in _PROJECTIONS:
        raise ProjectionError(f"{model.name}: no projection is declared for the module {model.module}")
    return _PROJECTIONS[model.module](given_by(model))
