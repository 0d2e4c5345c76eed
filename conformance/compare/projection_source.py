"""The projection of a source's task: SourceModel.tla and `model.source.source_task`."""

from collections.abc import Mapping
from typing import Any

from model.checker.closed_model import ClosedModel
from model.events import Status
from model.source.environment import closed_source
from model.source.source_task import FUNCTION, PLAIN, READER, SOURCE_PROFILES, Source


def closed_source_of(constants: Mapping[str, int | bool]) -> ClosedModel:
    """The closed model that the constants of a configuration ask for."""
    profile = SOURCE_PROFILES["1.15" if constants["Declines"] else "1.10"]
    external = READER if constants["Pairs"] else FUNCTION if constants["External"] else PLAIN
    return closed_source(int(constants["M"]), external, profile)


def source_of(state: Mapping[str, Any], start: Source) -> Source:
    """The record of the model that a TLA+ state is."""
    seen = state["source"]
    return start._replace(
        running=seen["running"], told=tuple(sorted(seen["told"])), ahead=tuple(sorted(seen["ahead"]))
    )


def said(event: Any, effects: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:  # noqa: ANN401 - any record
    """The event and its effects as TLC prints them: the kind first."""
    kind = "status" if type(event) is Status else str(event[-1])
    return ((kind, *event[:-1]), *((str(effect[-1]), *effect[:-1]) for effect in effects))
