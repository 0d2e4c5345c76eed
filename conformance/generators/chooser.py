"""What a source of events for walks is."""

from collections.abc import Callable

from conformance.adapters.protocol import Wire

Chooser = Callable[[Wire], Wire | None]
"""The next event, given the observable state; None when nothing telling is left to do."""

STRAY = 0.005
"""How often an event is one that must be refused."""
