"""What a mode of the gate gives to the wire: how its state is made, stepped, observed and told apart."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from model.events import Step
from model.fields import Wire
from model.gate.profiles import Profile


class Mode(NamedTuple):
    """One mode of the gate."""

    session: type
    """The class of its states; no two modes share one."""
    new: Callable[[Wire, int, Profile, bool, bool], Any]
    """From the configuration, the number of channels, the profile, whether checkpoints go on after tasks
    have finished, and whether the gate is polled (else: the handler alone). Raises WireError."""
    step: Callable[[Any, Wire], Step[Any]]
    """One event in wire form; raises WireError, and nothing happens."""
    observe: Callable[[Any], dict[str, object]]
    """The observable state in wire form."""
    key: Callable[[Any], Hashable]
    """What tells two states apart, also where they hold values that Python takes for equal."""
