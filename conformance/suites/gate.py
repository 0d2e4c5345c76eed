"""The alphabets of the input gate, by mode."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.adapters.protocol import Wire
from conformance.suites.alphabet import Alphabet, Letter, Newest, letter
from model.gate.profiles import NEWEST

NEAR = (Newest(-1), Newest(0), Newest(1))
"""Late, current, newer."""
LONG_PAST = Newest(-9)
"""Obsolete in every state but the first."""


@dataclass(frozen=True)
class Waiting:
    """The value of a record: if it has to wait, the number of items before it; so no two are alike."""

    channel: int
    name: str = ""

    def at(self, state: Any) -> int:  # noqa: ANN401 - the model's own state
        """The value in a state."""
        return waiting_items(state) if _gate(state).blocked[self.channel] else 0


@dataclass(frozen=True)
class Unblocked:
    """The first channel that is open and not blocked."""

    name: str = "unblocked"

    def at(self, state: Any) -> int | None:  # noqa: ANN401 - the model's own state
        """The channel in a state; None: there is none."""
        gate = _gate(state)
        pairs = zip(gate.closed, gate.blocked, strict=True)
        return next((channel for channel, flags in enumerate(pairs) if not any(flags)), None)


def gate_alphabets(config: Wire, *, injects: bool, thorough: bool) -> Iterator[Alphabet]:
    """The alphabets for one configuration."""
    mode = config.get("mode", "exactly-once")
    injects = injects and config.get("profile", NEWEST.name) == NEWEST.name
    if mode == "exactly-once":
        yield aligned(config, injects=injects)


def aligned(config: Wire, *, injects: bool = False, waiting: int = 1) -> Alphabet:
    """A gate of mode exactly-once: barriers, cancellations and ends, at level polled records as well."""
    letters: list[Letter] = []
    polled = config.get("level", "polled") == "polled"
    for channel in range(config["channels"]):
        letters += (letter("barrier", channel=channel, checkpoint=near) for near in NEAR)
        letters += (letter("cancel", channel=channel, checkpoint=near) for near in NEAR)
        letters.append(letter("end_of_partition", channel=channel))
        if polled:
            letters.append(letter("record", channel=channel, value=Waiting(channel)))
    if injects:
        letters += (letter("inject", checkpoint=near) for near in NEAR)
    if not polled:
        return Alphabet("gate", config, tuple(letters))
    letters.append(letter("cancel", channel=Unblocked(), checkpoint=LONG_PAST))
    return _bounded(Alphabet("gate", config, tuple(letters)), waiting)


def _bounded(alphabet: Alphabet, waiting: int) -> Alphabet:
    """At most so many items wait at the gate."""

    def allows(state: Any, event: Wire) -> bool:  # noqa: ANN401 - the model's own state
        channel = event.get("channel")
        return channel is None or waiting_items(state) < waiting or not _gate(state).blocked[channel]

    return alphabet._replace(bound=f"at most {waiting} waiting", allows=allows)


def _gate(state: Any) -> Any:  # noqa: ANN401 - any gate, alone or with the items that wait for it
    return getattr(state.inbox, "gate", state.inbox)


def waiting_items(state: Any) -> int:  # noqa: ANN401 - the model's own state
    """The number of items that wait at a gate."""
    at = state.inbox
    return len(getattr(at, "waiting", ()) or getattr(at, "stored", ()))
