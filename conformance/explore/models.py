"""The closed models that `barrierspec explore` knows by name, and their sizes."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from model.checker.bounds import (
    FieldBounds,
    Symmetry,
    bounded_coordinator,
    bounded_gate,
    channels_of_gate,
    tasks_of_coordinator,
)
from model.checker.closed_model import ClosedModel
from model.dataflow import environment as dataflow_environment
from model.gate.profiles import PROFILES

KERNEL_IDS = 2
"""With more ids a coordinator has too many paths for a kernel, so the search looks its moves up in tables."""


class Size(NamedTuple):
    """The size of a model. Each model uses only the options that concern it."""

    channels: int = 2
    tasks: int = 2
    ids: int = 3
    at_once: int = 1
    retain: int = 1
    polled: bool = True
    ends_count: bool = True
    injects: bool = False
    profile: str = "flink-1.14"


class Chosen(NamedTuple):
    """A closed model, with the bounds that a kernel needs; None: the model has no kernel."""

    closed: ClosedModel
    bounds: FieldBounds | None
    symmetry: Symmetry | None = None
    """The channels or tasks that may be permuted, if a proof shows that they are symmetric."""
    ids: tuple[str, ...] = ()
    """Fields with ids that count only by their order, if a proof shows that this is allowed."""


def _gate(size: Size) -> Chosen:
    bounded = bounded_gate(
        size.channels,
        size.ids,
        counts_as_aligned=size.ends_count,
        polled=size.polled,
        profile=PROFILES[size.profile],
        injects=size.injects,
    )
    return Chosen(*bounded, channels_of_gate(size.channels), ("current", "environment", "checkpoint"))


def _coordinator(size: Size) -> Chosen:
    bounded = bounded_coordinator(size.tasks, size.ids, max_concurrent=size.at_once, retain=size.retain)
    if size.ids > KERNEL_IDS:
        return Chosen(bounded.closed, None)
    return Chosen(*bounded, tasks_of_coordinator(size.tasks))


def _dataflow(scope: dataflow_environment.Scope) -> Callable[[Size], Chosen]:
    return lambda _: Chosen(dataflow_environment.closed_dataflow(scope), None)


MODELS: Mapping[str, Callable[[Size], Chosen]] = {
    "gate": _gate,
    "coordinator": _coordinator,
    "dataflow-twice": _dataflow(dataflow_environment.TWICE),
    "dataflow-zombies": _dataflow(dataflow_environment.ZOMBIES),
    "dataflow-expiry": _dataflow(dataflow_environment.EXPIRY),
    "dataflow-replaced": _dataflow(dataflow_environment.REPLACED),
    "dataflow-replay": _dataflow(dataflow_environment.REPLAY),
    "dataflow-overtaking": _dataflow(dataflow_environment.OVERTAKING),
    "dataflow-beside": _dataflow(dataflow_environment.BESIDE),
}
"""By name. The models of the composition have the sizes that `model.dataflow.environment` gives them."""
