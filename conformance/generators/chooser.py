"""The interface of a source of events for walks, and the product of options that walks go through."""

from collections.abc import Callable, Iterator
from itertools import product

from conformance.adapters.protocol import Wire

Chooser = Callable[[Wire], Wire | None]
"""The next event, given the observable state; None when the run is over."""

STRAY = 0.005
"""The share of events that must be refused."""
LEVELS = ("handler", "polled")


def every(**options: object) -> Iterator[Wire]:
    """Every configuration of these options, the last one varying first; a tuple has several values."""
    values = [value if isinstance(value, tuple) else (value,) for value in options.values()]
    for chosen in product(*values):
        yield dict(zip(options, chosen, strict=True))
