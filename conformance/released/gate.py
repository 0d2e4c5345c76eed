"""Tests the gate of a release, in every mode and at both levels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from conformance.adapters.protocol import Wire
from conformance.components.gate.unaligned_walks import MODES as OVERTAKING
from conformance.components.gate.unaligned_walks import is_savepoint
from conformance.drive.oracle import Edge
from conformance.drive.signatures import expected_of, expects
from conformance.generators import generate
from conformance.generators.chooser import Chooser
from conformance.released.comparison import Search
from conformance.released.results import Target
from model.gate.profiles import PROFILES

INJECTED = 0.02
"""Probability that `inject` replaces an event in mode exactly-once, if the generation has it.

At level polled its id is always new, as from a coordinator. After an old id Flink resumes all channels, even
those that it still counts as blocked, and reads their waiting items.
"""
CHANNELS = (2, 3, 1, 4)
EXTRAS: Mapping[tuple[str, ...], tuple[Wire, ...]] = {
    ("alternating",): ({"alignment_timeout_ms": 10}, {"alignment_timeout_ms": 0}),
    ("unaligned",): ({"alignment_timeout_ms": 10},),
    ("exactly-once", "flink-1.9", "polled"): (
        {"alignment_limit_bytes": -1},
        {"alignment_limit_bytes": 32_768},
        {"alignment_limit_bytes": 98_304},
    ),
}
"""Further options, by mode, or by mode, profile and level. Each of them makes a configuration."""


@dataclass(frozen=True)
class GateTarget(Target):
    """The gate of one release in one mode at one level."""

    def configs(self) -> list[Wire]:
        """The configurations of random sequences, which take turns."""
        base = {"mode": self.mode, "profile": self.profile, "level": self.level}
        finishes = (True, False) if self.after_finish else (False,)
        extras = EXTRAS.get((self.mode, self.profile, self.level)) or EXTRAS.get((self.mode,), ({},))
        return [
            {**base, "channels": channels, "checkpoints_after_tasks_finish": finish, **extra}
            for channels, finish, extra in product(CHANNELS, finishes, extras)
        ]


class GateSearch(Search):
    """Tours of small models of up to three channels, cases for the paths of the step functions, and walks."""

    def small(self) -> list[Wire]:
        """The configurations with at most three channels."""
        return [config for config in self._target.configs() if config["channels"] <= 3]

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """The events of the small models, as in the function `alphabet`."""
        return alphabet(config, observed)

    def is_suspect(self, event: Wire, edge: Edge) -> bool:
        """Whether a known divergence may be at this answer. Then no further event may follow."""
        return any(
            expects(form) == expected_of(self._target.mode, event, edge) for form in self._signatures.names
        )

    def fitting(self, script: Sequence[Wire]) -> list[Wire]:
        """Every small configuration with enough channels for the sequence."""
        named = [event["channel"] for event in script if "channel" in event]
        return [config for config in self.small() if max(named, default=0) < config["channels"]]

    def chooser(self, config: Wire, rng: Random) -> Chooser:
        """As in `Search`. In mode exactly-once, `inject` replaces an event with probability INJECTED."""
        if config["mode"] != "exactly-once":
            return generate.chooser("gate", config, rng, injects=True)
        choose = generate.chooser("gate", config, rng)

        def injecting(observed: Wire) -> Wire | None:
            event = choose(observed)
            if event is not None and rng.random() < INJECTED:
                near = observed["current"] + rng.randrange(3) - 1
                if near > observed["current"] or config["level"] == "handler":
                    return {"kind": "inject", "checkpoint": max(0, near)}
            return event

        return injecting


def alphabet(config: Wire, observed: Wire) -> Iterator[Wire]:
    """The events of the small models: ids 1 to 3 (to 2 for three channels), and a record at level polled."""
    channels = config["channels"]
    ids = range(1, 4 if channels < 3 else 3)
    polled = config["level"] == "polled"
    if config["mode"] == "exactly-once":
        known = observed.get("current", -1) if polled else -1
        yield from ({"kind": "inject", "checkpoint": checkpoint} for checkpoint in ids if checkpoint > known)
    alignments: tuple[Wire, ...] = ({},)
    if config["mode"] == "unaligned":
        alignments = ({"alignment": "unaligned"},)
    if config["mode"] == "alternating":
        alignments = ({}, {"alignment": "unaligned"}, {"alignment": "timeout"})
        yield {"kind": "advance", "ms": config["alignment_timeout_ms"] + 1}
    threaded = config["mode"] == "unaligned" and PROFILES[config["profile"]].network_starts
    if threaded:
        yield {"kind": "mail"}
    typed = config["mode"] in OVERTAKING and PROFILES[config["profile"]].type_decides
    for channel in range(channels):
        if polled and channel in observed.get("blocked", ()):
            continue  # no event on a blocked channel: the number of waiting items has no bound
        for checkpoint in ids:
            for alignment in ({"savepoint": True},) if typed and is_savepoint(checkpoint) else alignments:
                yield {"kind": "barrier", "channel": channel, "checkpoint": checkpoint, **alignment}
            yield {"kind": "cancel", "channel": channel, "checkpoint": checkpoint}
            if threaded:
                received = {"channel": channel, "checkpoint": checkpoint, "alignment": "unaligned"}
                yield {"kind": "receive_barrier", **received}
            if config["mode"] == "alternating" and not typed:
                announced = {"channel": channel, "checkpoint": checkpoint, "alignment": "timeout"}
                yield {"kind": "announce", **announced}
        if polled:
            yield {"kind": "record", "channel": channel, "value": 1}
        yield {"kind": "end_of_partition", "channel": channel}
