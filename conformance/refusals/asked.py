"""An event in a state of the model, and what was said to it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from conformance.adapters.protocol import Wire


class Asked(NamedTuple):
    """What was refused."""

    component: str
    before: Any
    """The model's own state."""
    event: Wire
    said: Sequence[Wire] | None
    """The effects; None if it was answered with an error."""
    seen: Wire | None = None
    """The observable state afterwards, as far as it was told."""
