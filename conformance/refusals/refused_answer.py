"""An answer of an implementation that differs from the model's."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from conformance.adapters.protocol import Wire


class RefusedAnswer(NamedTuple):
    """An event, the state of the model before it, and the wrong answer of the implementation."""

    component: str
    before: Any
    """The state of the model."""
    event: Wire
    effects: Sequence[Wire] | None
    """None if the answer was an error."""
    observed: Wire | None = None
    """The observable state after the event, as far as the answer contains it."""
