"""The interface of a mode of the gate: how its state is created, stepped, observed and compared."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from model.events import Step
from model.fields import Wire
from model.gate.profiles import Profile


class Mode(NamedTuple):
    """One mode of the gate."""

    session: type
    """The class of its states; each mode has its own."""
    new: Callable[[Wire, int, Profile, bool, bool], Any]
    """Creates the initial state.

    Arguments: the configuration, the number of channels, the profile, whether checkpoints continue after
    tasks finish, and whether the gate is polled (else: the handler alone). Raises WireError.
    """
    step: Callable[[Any, Wire], Step[Any]]
    """Takes one event in wire form. Raises WireError and then changes nothing."""
    observe: Callable[[Any], dict[str, object]]
    """Returns the observable state in wire form."""
    key: Callable[[Any], Hashable]
    """Returns a value that differs between two states, also where Python takes their record values for equal.
    """
