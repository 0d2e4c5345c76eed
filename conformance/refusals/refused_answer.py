"""An answer of an implementation that the model refuses."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from conformance.adapters.protocol import Wire


class RefusedAnswer(NamedTuple):
    """An event in a state of the model, and the answer to it that the model does not give."""

    component: str
    before: Any
    """The model's own state."""
    event: Wire
    effects: Sequence[Wire] | None
    """None if the answer was an error."""
    observed: Wire | None = None
    """The observable state afterwards, as far as the answer shows it."""
