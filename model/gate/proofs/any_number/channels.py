"""The channels of a gate as a rope: the channels before the event's channel, that channel, the later ones.

For an event without a channel, the rope is one group of channels. If a field of a gate has one value for each
channel, a function of the channel's index represents the field. `HELPERS` replaces loops of the model over
tuples by functions over ropes.
"""

from collections.abc import Callable, Mapping
from typing import Any

import z3

from model.checker.any_number.frames import is_permitted
from model.checker.any_number.members import Behaviour, Group, Many, Position
from model.checker.any_number.recompiled_model import Helpers
from model.checker.any_number.rope import Length, Rope
from model.checker.any_number.sequence_functions import any_, enumerate_, len_, tuple_, zip_
from model.checker.symbolic import SymbolicBool, SymbolicInt
from model.events import Effects
from model.gate.events import Resume

BEFORE, BEHIND, ALL = Group("channels before"), Group("channels behind"), Group("all channels")
OWN = Position(1)
"""The channel of the event."""
SIZES = tuple(group.size >= 0 for group in (BEFORE, BEHIND, ALL))


def by_channel(name: str, *, own: bool, is_bool: bool = True) -> Rope:
    """A rope with a symbol for each channel. `own`: the event has a channel. `is_bool`: else ints."""
    sort = z3.BoolSort() if is_bool else z3.IntSort()
    symbol: Callable[[Any], Any] = SymbolicBool if is_bool else SymbolicInt

    def many(group: Group) -> Many:
        of = z3.Function(f"{name} of {group}", z3.IntSort(), sort)
        value = symbol(of(group.variable))
        return Many(group, group.variable, [Behaviour(z3.BoolVal(True), (value,))], every=True)

    if not own:
        return Rope((many(ALL),))
    return Rope((many(BEFORE), symbol(z3.Const(f"{name} of own", sort)), many(BEHIND)))


def number_of(channels: Rope) -> Length:
    """The number of channels of a rope. `new_gate` makes ropes of this length."""
    found: Length = len_(channels)
    return found


def behind_the_last_awaited(gate: Any) -> Effects:  # noqa: ANN401 - a Gate of the module compiled again
    """`model.gate.aligned.behind_the_last_awaited` over ropes, with a condition in place of its loop."""
    awaited = tuple_(
        not (blocked or closed) for blocked, closed in zip_(gate.blocked, gate.closed, strict=True)
    )
    return tuple_(
        Resume(channel)
        for channel, blocked in enumerate_(gate.blocked)
        if blocked and not any_(awaited[channel:])
    )


HELPERS: Mapping[str, Helpers] = {
    "model.event_frames": {"is_permitted": is_permitted},
    "model.gate.aligned": {"behind_the_last_awaited": behind_the_last_awaited},
}
"""Maps a module to functions over ropes that replace functions of this module."""
