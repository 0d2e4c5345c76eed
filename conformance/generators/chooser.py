"""The interface of a function that chooses the events of a walk, and the product of configuration options."""

from collections.abc import Callable, Iterator
from itertools import product

from conformance.adapters.protocol import Wire

Chooser = Callable[[Wire], Wire | None]
"""The next event, given the observable state; None when the run is over."""

STRAY = 0.005
"""The probability that an event of a walk is one that the implementation must refuse."""
LEVELS = ("handler", "polled")


def every(**options: object) -> Iterator[Wire]:
    """Every combination of these options; the last option varies fastest. A tuple lists its values."""
    values = [value if isinstance(value, tuple) else (value,) for value in options.values()]
    for chosen in product(*values):
        yield dict(zip(options, chosen, strict=True))
